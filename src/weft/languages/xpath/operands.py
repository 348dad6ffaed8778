"""The tokens of one side of a comparison in, what stands there out: paths, constants, and what functions make."""

from __future__ import annotations

from weft.languages.expressions import expression_name
from weft.languages.reader import Reader
from weft.languages.xpath.calculating import calculated
from weft.languages.xpath.operand import Operand, exists
from weft.languages.xpath.trails import NOWHERE, Trail, Trails
from weft.plans.plan import Always, Or, Test, conjunction, negation

_SUMS = ("+", "-")
_PRODUCTS = ("*", "div", "idiv", "mod")
#: What may stand behind an operand and is neither a comparison nor a condition.
BEYOND = frozenset({*_SUMS, *_PRODUCTS, "to", "is"})


class Operands(Reader):
    """Reads operands. How a path and a condition are read is for those who build on this."""

    is_xquery = False  # whether < and its like compare texts with a text, and what a number is
    #: The variable of some or every whose condition is being read, and whether nodes may lie below what it holds.
    _quantified: tuple[str, bool] | None = None

    def trails(self, absolute: bool = False) -> Trails:
        """A path as the ways that it may go; in a predicate it may start at the document."""
        raise NotImplementedError

    def trails_from(self, start: Trail, deep: bool) -> Trails:
        """Steps as the ways that they may go from a start."""
        raise NotImplementedError

    def tested_all(self, trails: Trails, tests: list[Test], at: int) -> Trails:
        """What passes tests at the end of each way."""
        raise NotImplementedError

    def condition(self) -> Test:
        """A whole condition, with `and` and `or`."""
        raise NotImplementedError

    def disjunction(self) -> Operand:
        """Conditions with `or` between them, or an operand alone."""
        raise NotImplementedError

    def scoped(self, test: Test, operand: Operand) -> Test:  # noqa: ARG002 - for those who build on this
        """A test on what an operand's paths lead to, told where they start."""
        return test

    def string(self) -> str:
        """The string literal that is next."""
        text = self.advance()
        return text[1:-1].replace(text[0] * 2, text[0])

    def starts_step(self) -> bool:
        """Whether a step can start here."""
        return self.kind == "name" or self.text in ("@", ".", "*", "..")

    def operand(self) -> Operand:
        """One side of a comparison, before what may be reckoned with it."""
        if self.kind == "name":
            following = self.following
            if following == "(" and self.text not in ("text", "if", "node"):
                return self.function()
            if following in ("$", "(") and (name := expression_name(self.text, following)) is not None:
                return self._expression(name)
            return self.path_operand()
        if self.kind == "string":
            return Operand("string", constant=self.string())
        if self.kind == "number":
            return Operand("number", constant=float(self.advance()))
        if self.text in _SUMS and self.kind == "sign":
            return self._signed()
        if self.accept("("):
            self.enter()
            inner = self._listed(self.disjunction())
            self.leave()
            self.expect(")")
            return inner
        return self.path_operand()

    def function(self) -> Operand:
        """A function with its arguments."""
        raise NotImplementedError

    def path_operand(self) -> Operand:
        """Paths with `|` between them."""
        if self.text == "$":
            return self.variable_operand()
        if not self.starts_step() and self.text not in ("/", "//"):
            if self.text == "(":
                self.refuse("parentheses here", self.at)
            self.unexpected("a path, a constant or a function")
        if self._quantified is not None:
            self.refuse(f"a path that does not start at ${self._quantified[0]}", self.at)
        found = self.trails()
        while self.accept("|") or self.accept_word("union"):
            found += self.trails()
        if self.kind == "name" and self.text in ("intersect", "except"):
            self.refuse(f"{self.text} in a predicate", self.at)
        return Operand("path", paths=found or NOWHERE)

    #: Whether some path of the query goes up or several ways: only then conditions are looked through for it.
    went_up = False

    # -- constants

    def beyond(self, left: Operand) -> Operand:
        """What stands behind an operand reckoned with it, and the range that `to` makes."""
        low = self._sum(left)
        at = self.at
        if not self.accept_word("to"):
            if self.kind == "name" and self.text == "is":
                self.refuse("the operator is", at)
            return low
        high = self._sum(self.operand())
        ends = [end.constant for end in (low, high) if end.kind == "number" and isinstance(end.constant, float)]
        if len(ends) < 2 or not all(end.is_integer() for end in ends):
            self.refuse("a range that is not between whole numbers", at)
        return Operand("range", parts=(low, high))

    def _sum(self, left: Operand) -> Operand:
        left = self._product(left)
        while self.text in _SUMS and self.kind == "sign":
            at, operator = self.at, self.advance()
            left = self._calculated(left, operator, self._product(self.operand()), at)
        return left

    def _product(self, left: Operand) -> Operand:
        while self.text in _PRODUCTS and self.kind in ("sign", "name"):
            at, operator = self.at, self.advance()
            left = self._calculated(left, operator, self.operand(), at)
        return left

    def _calculated(self, left: Operand, operator: str, right: Operand, at: int) -> Operand:
        if left.kind != "number" or right.kind != "number":
            self.refuse("arithmetic", at)
        result = calculated(left.constant, operator, right.constant, self.is_xquery)
        if result is None:
            self.refuse(f"{operator} that does not come out even", at, is_final=True)
        return Operand("number", constant=result)

    def _signed(self) -> Operand:
        at, sign = self.at, self.advance()
        self.enter()
        operand = self.operand()
        self.leave()
        if operand.kind != "number" or not isinstance(operand.constant, float):
            self.refuse("arithmetic", at)
        return Operand("number", constant=-operand.constant if sign == "-" else operand.constant)

    def _listed(self, first: Operand) -> Operand:
        """What stands in parentheses: one operand, or constants with commas between them."""
        if self.text != ",":
            return first
        parts = [first]
        at = self.at
        while self.accept(","):
            parts.append(self.disjunction())
        if not all(part.is_constant for part in parts):
            self.refuse("a list of anything but constants", at)
        return Operand("list", parts=tuple(parts))

    # -- expressions with words

    def _expression(self, name: str) -> Operand:
        at = self.at
        if self.text == "if":
            return self._chosen()
        if self.text in ("some", "every"):
            return self._satisfied(is_every=self.advance() == "every")
        return self.refuse(name, at)

    def _chosen(self) -> Operand:
        """`if (c) then t else u` as a condition: `c and t or not(c) and u`."""
        self.advance()
        self.expect("(")
        self.enter()
        condition = self.condition()
        self.leave()
        self.expect(")")
        if not self.accept_word("then"):
            self.unexpected("then")
        self.enter()
        then = conjunction([condition, self.condition()])
        if not self.accept_word("else"):
            self.unexpected("else")
        otherwise = conjunction([negation(condition), self.condition()])
        self.leave()
        return Operand("test", test=Or((then or Always(True), otherwise or Always(True))))

    def _satisfied(self, is_every: bool) -> Operand:
        """`some $x in p satisfies t`: a node of the path passes the test, which is of this variable alone."""
        self.expect("$")
        if self.kind != "name" or ":" in self.text:
            self.unexpected("a variable's name")
        name = self.advance()
        if not self.accept_word("in"):
            self.unexpected("in")
        at, source = self.at, self.path_operand()
        if self.text == ",":
            self.refuse("some or every with several variables", self.at, "nest one in the condition of the other")
        if not self.accept_word("satisfies"):
            self.unexpected("satisfies")
        if not source.paths:
            self.refuse("some or every over anything but a path", at)
        outer, self._quantified = self._quantified, (name, not any(trail.leaf for trail in source.paths))
        self.enter()
        test = self.quantified_condition()
        self.leave()
        self._quantified = outer
        found = self.tested_all(source.paths, [negation(test) if is_every else test], at)
        test = self.scoped(exists(found) if found else Always(False), source)
        return Operand("test", test=negation(test) if is_every else test)

    def quantified_condition(self) -> Test:
        """The condition of some or every; it is of another node, so positions make no sense there."""
        raise NotImplementedError

    def formula_variable(self) -> Operand:
        """A variable that a formula asks for, without the path behind it: the one of some or every."""
        at = self.at
        self.expect("$")
        if self._quantified is None or self.text != self._quantified[0]:
            self.refuse("a variable in XPath", at, "name what it holds")
        self.advance()
        return Operand("path", paths=(Trail(),))

    def check_formula_start(self, in_brackets: bool) -> None:
        """Whether a path of a formula may start at the node that a condition is asked of."""
        if self._quantified is not None and not in_brackets:
            self.refuse(f"a path that does not start at ${self._quantified[0]}", self.at)

    def variable_operand(self) -> Operand:
        """A path from the variable of some or every."""
        at = self.at
        if self._quantified is None:
            self.refuse("a variable in XPath", at, "name what it holds")
        self.expect("$")
        name, has_below = self._quantified
        if self.text != name:
            self.refuse(f"a variable other than ${name} in satisfies", at)
        self.advance()
        if self.text == "[":
            self.refuse("a predicate on a variable", self.at, "put it in the variable's path")
        if self.text not in ("/", "//"):
            return Operand("path", paths=(Trail(),))
        if not has_below:
            self.fail("expected the end of the path: no nodes lie below", self.at, True)
        found = self.trails_from(Trail(), self.advance() == "//")
        return Operand("path", paths=found or NOWHERE)
