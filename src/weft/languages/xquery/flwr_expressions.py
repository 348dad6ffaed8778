"""The text of clauses in, their nodes out: FLWR, `some` and `every`, `if`, `switch`."""

from __future__ import annotations

from weft.languages.xquery.operator_expressions import OperatorParser
from weft.plans.clauses import (
    Clause,
    CountClause,
    ForClause,
    GroupClause,
    LetClause,
    OrderClause,
    OrderKey,
    WhereClause,
)
from weft.plans.expressions import (
    AxisStep,
    Call,
    ComingDocument,
    FlwrExpression,
    IfElse,
    Quantified,
    QueryExpression,
    Steps,
    Switch,
    Typed,
    VariableUse,
)

_CLAUSES = ("for", "let", "where", "order", "stable", "group", "count")


class FlwrExpressionParser(OperatorParser):
    """Reads whole expressions."""

    empty_greatest = False  # `declare default order empty greatest`

    def single(self) -> QueryExpression:
        """One expression, up to a comma."""
        if self.kind == "name":
            following = self.following
            if following == "$" and self.text in ("for", "let", "some", "every"):
                return self._compound()
            if self.text in ("if", "switch") and following == "(":
                return self._compound()
            if self.text == "for" and following in ("tumbling", "sliding"):
                self.refuse("a window", self.at)
        return self.operation()

    def _compound(self) -> QueryExpression:
        self.enter()
        variables = dict(self.variables)
        if self.text in ("for", "let"):
            found = self._flwr()
        elif self.text in ("some", "every"):
            found = self._quantified()
        else:
            found = self._choice() if self.text == "if" else self._switch()
        self.variables = variables
        self.leave()
        return found

    @staticmethod
    def _alias(value: QueryExpression) -> QueryExpression | None:
        """What may stand for a variable: a path from the document, which leads to the same nodes everywhere."""
        match value:
            case ComingDocument():
                return value
            case Steps(ComingDocument(), steps):
                is_down = all(isinstance(step, AxisStep) and not step.predicates for step in steps)
                return value if is_down else None
            case _:
                return None

    def _bound(self) -> str:
        """The name of a variable that is bound here; it is known when this is called, and not before."""
        return self.variable_name()

    # -- FLWR

    def _flwr(self) -> QueryExpression:
        clauses: list[Clause] = []
        while self.is_word(*_CLAUSES):
            match self.text:
                case "for" | "let":
                    clauses += self._bindings()
                case "where":
                    self.advance()
                    clauses.append(WhereClause(self.single()))
                case "group":
                    clauses += self._group_by()
                case "count":
                    self.advance()
                    name = self._bound()
                    self.variables[name] = None
                    clauses.append(CountClause(name))
                case _:
                    clauses.append(self._order_by())
        if not self.accept_word("return"):
            self.unexpected("return")
        return FlwrExpression(tuple(clauses), self.single())

    def _bindings(self) -> list[Clause]:
        """The variables of one `for` or `let`."""
        word, found = self.advance(), list[Clause]()
        while True:
            name = self._bound()
            type = self.sequence_type() if self.accept_word("as") else None
            place, allows_empty = None, False
            if word == "for":
                if self.accept_word("allowing"):
                    self.expect_word("empty")
                    allows_empty = True
                place = self._bound() if self.accept_word("at") else None
                if place == name:
                    self.fail(f"expected two names, found ${name} twice", self.at)
                self.expect_word("in")
            else:
                self.expect(":=")
            value = self.single()
            self.variables[name] = self._alias(value) if word == "let" and type is None else None
            if word == "let":
                found.append(LetClause(name, value if type is None else Typed(value, type, "treat")))
            else:
                if place is not None:
                    self.variables[place] = None
                found.append(ForClause(name, value, place, allows_empty))
                if type is not None:
                    found.append(LetClause(name, Typed(VariableUse(name), type, "treat")))
            if not self.accept(","):
                return found

    def _group_by(self) -> list[Clause]:
        self.advance()
        self.expect_word("by")
        found: list[Clause] = []
        keys: list[str] = []
        while True:
            at, name = self.at, self._bound()
            type = self.sequence_type() if self.accept_word("as") else None
            if self.accept(":="):
                value: QueryExpression = self.single()
                self.variables[name] = None
            elif name in self.variables:
                value = VariableUse(name)
            else:
                self.fail(f"expected a variable that is bound, found ${name}", at)
            value = Call("data", (value,))
            found.append(LetClause(name, value if type is None else Typed(value, type, "convert")))
            keys.append(name)
            if self.is_word("collation"):
                self.refuse("collation in group by", self.at)
            if not self.accept(","):
                self.variables = dict.fromkeys(self.variables)  # each now has what the group has
                return [*found, GroupClause(tuple(keys))]

    def _order_by(self) -> OrderClause:
        self.accept_word("stable")
        self.expect_word("order")
        self.expect_word("by")
        keys: list[OrderKey] = []
        while True:
            value, descending, empty_greatest = self.single(), False, self.empty_greatest
            if self.is_word("ascending", "descending"):
                descending = self.advance() == "descending"
            if self.accept_word("empty"):
                if not self.is_word("greatest", "least"):
                    self.unexpected("greatest or least")
                empty_greatest = self.advance() == "greatest"
            if self.is_word("collation"):
                self.refuse("collation in order by", self.at)
            keys.append(OrderKey(value, descending, empty_greatest))
            if not self.accept(","):
                return OrderClause(tuple(keys))

    # -- others

    def _quantified(self) -> QueryExpression:
        is_every = self.advance() == "every"
        bindings: list[tuple[str, QueryExpression]] = []
        while True:
            name = self._bound()
            if self.accept_word("as"):
                self.sequence_type()
                self.refuse("a type in some and every", self.at, "leave it out")
            self.expect_word("in")
            bindings.append((name, self.single()))
            self.variables[name] = None
            if not self.accept(","):
                break
        self.expect_word("satisfies")
        return Quantified(is_every, tuple(bindings), self.single())

    def _choice(self) -> QueryExpression:
        self.advance()
        self.expect("(")
        condition = self.expression()
        self.expect(")")
        self.expect_word("then")
        then = self.single()
        self.expect_word("else")
        return IfElse(condition, then, self.single())

    def _switch(self) -> QueryExpression:
        self.advance()
        self.expect("(")
        operand = self.expression()
        self.expect(")")
        cases: list[tuple[QueryExpression, QueryExpression]] = []
        while self.is_word("case"):
            values: list[QueryExpression] = []
            while self.accept_word("case"):
                values.append(self.single())
            self.expect_word("return")
            returned = self.single()
            cases += [(value, returned) for value in values]
        if not cases:
            self.unexpected("case")
        self.expect_word("default")
        self.expect_word("return")
        return Switch(operand, tuple(cases), self.single())
