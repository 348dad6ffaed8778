"""FLWR text in, a plan out; or an error with the place, what was expected and what was found."""

from __future__ import annotations

import re
from typing import NoReturn

from weft.languages.expressions import expression_name, starts_xquery
from weft.languages.reader import NAME
from weft.languages.xpath.above import goes_up
from weft.languages.xpath.names import Names
from weft.languages.xpath.operand import Operand
from weft.languages.xpath.operands import BEYOND
from weft.languages.xpath.trails import Trail
from weft.languages.xquery.formula_starts import FormulaStarts
from weft.languages.xquery.sequence import selected
from weft.languages.xquery.values import DOCUMENT
from weft.languages.xquery.where import split_where
from weft.plans.flwr import RETURNS, Enclosed, Flwr, Order, Slot, Variable
from weft.plans.plan import On, Selection, Test

_LANGUAGE = "XQuery"
_VARIABLE = re.compile(rf"\$\s*({NAME})")
_SOURCES = ("document", "doc", "stream")


class FlwrParser(FormulaStarts):
    """One enclosing element, one FLWR expression in it."""

    is_xquery = True

    def __init__(self, query: str, names: Names, language: str) -> None:
        super().__init__(query, names, language)
        self._stream = ""
        self._where: Test | None = None
        self._order: list[Order] = []
        self._returned: Enclosed | None = None
        self._depths: list[int] = []  # of the variables: each nests in the one that it starts from
        self._is_open = False  # between for and the end of the return

    def query_plan(self) -> Flwr | Selection:
        """The whole query; without an enclosing element it is the nodes that it returns."""
        if self.text != "<":
            return self._selection_plan()
        at = self.at
        enclosing = self.element()
        if self.kind != "end":
            self.unexpected("the end of the query")
        if self._returned is None:
            self.fail("expected { for … return … } in the enclosing element", at)
        variables, where = split_where(tuple(self._variables), self._where)
        return Flwr(self._stream, variables, where, tuple(self._order), self._returned, enclosing)

    def _selection_plan(self) -> Selection:
        """`for $a in //a where … return $a`: each node once, in document order."""
        if self.kind != "name" or self.text not in ("for", "let") or self.following != "$":
            self._refuse_start()
        at, self._is_open = self.at, True
        self._flwr()
        if self.kind != "end":
            self.unexpected("the end of the query")
        variables, where = split_where(tuple(self._variables), self._where)
        items = self._returned.items if self._returned is not None else ()
        if self._order or where is not None or self._stream or len(items) != 1:
            self._refuse_sequence(at)
        selection = selected(variables, items[0])
        return selection if selection is not None else self._refuse_sequence(at)

    def _refuse_sequence(self, at: int) -> NoReturn:
        self.refuse("a FLWR expression like this without an enclosing element", at, "write <r>{ for … return … }</r>")

    def _refuse_start(self) -> NoReturn:
        """Tell by its name what a query starts with instead of its enclosing element."""
        name = expression_name(self.text, self.following)
        if name is not None:
            self.refuse(f"{name} at the start of a query", self.at)
        if self.kind == "name" and starts_xquery(self.query, self.at):
            self.refuse(f"{self.text} {self.following}", self.at)
        self.unexpected("an element that encloses the FLWR expression")

    def enclosed(self) -> Enclosed:
        """What stands in braces: the FLWR expression, or values in its return."""
        if self.kind == "name" and self.text in ("for", "let") and self.following == "$":
            if self._returned is not None or self._variables:
                self.refuse("a second FLWR expression", self.at)
            self._is_open = True
            self._flwr()
            self._is_open = False
            return RETURNS
        if not self._is_open:
            self.refuse("anything but a FLWR expression in the braces of the enclosing element", self.at)
        if self.text == "}":
            self.unexpected("something in the braces")
        return self._sequence()

    # -- clauses

    def _flwr(self) -> None:
        while True:
            if self.accept_word("for"):
                self._bindings("for")
            elif self.accept_word("let"):
                self._bindings("let")
            elif self._variables or self.following not in ("for", "let") or not self.accept_word("return"):
                break  # `let … return for …` is one expression
        if not self._variables:
            self.refuse("a FLWR expression without for", self.at)
        if self.accept_word("where"):
            self._where = self.condition()
        if self.accept_word("stable") or (self.text == "order" and self.kind == "name"):
            self._order_by()
        if not self.accept_word("return"):
            self.unexpected("for, let, where, order by or return")
        at = self.at
        self._returned = self._return()
        if any(self._is_attribute(item) for item in self._returned.items):
            self.refuse("an attribute outside an element of the return", at)

    def _bindings(self, clause: str) -> None:
        while True:
            name_at, name = self.at, self._variable_name()
            if self.kind == "name" and self.text in ("at", "as"):
                self.refuse(f"{self.text} in a {clause} clause", self.at)
            if clause == "let":
                self.expect(":=")
            elif not self.accept_word("in"):
                self.unexpected("in")
            if name in self._slots or name in self._constants:
                self.fail(f"expected a new name, found ${name} again", name_at)
            if clause != "let" or not self._is_constant(name):
                self._bind(name, clause)
            if not self.accept(","):
                return

    def _is_constant(self, name: str) -> bool:
        """Whether `let` gives a constant a name; it stands for the constant then."""
        if self.kind not in ("string", "number") and self.text not in ("+", "-", "("):
            return False
        if self.text == "(" and self.following == "/":
            return False
        at, operand = self.at, self.operand()
        if self.text in BEYOND:
            operand = self.beyond(operand)
        if not operand.is_constant:
            self.refuse("let of anything but a path or a constant", at)
        self._constants[name] = operand
        return True

    def _bind(self, name: str, clause: str) -> None:
        at = self.at
        slot = self._source(is_let=clause == "let")
        if clause == "let":
            self._slots[name] = slot
            return
        if not slot.links:
            self.refuse("for over a variable itself", at)
        if slot.variable < 0 and self._variables:
            self.refuse("a second variable from the document", at, "start it from an earlier variable")
        depth = len(slot.links) + (self._depths[slot.variable] if slot.variable >= 0 else 0)
        self.check_nesting(depth, at)
        self._depths.append(depth)
        self._slots[name] = Slot(len(self._variables), ())
        self._variables.append(Variable(name, slot.variable if slot.variable >= 0 else None, slot.links))

    def _source(self, is_let: bool) -> Slot:
        """A path from the document, a stream or a variable; variable -1 is the document."""
        if self.text == "$":
            return self._slot()
        if self.kind == "name" and self.text in _SOURCES and self.following == "(":
            self.advance()
            self.expect("(")
            if self.kind != "string":
                self.unexpected("the name of a stream in quotes")
            self._stream = self.string()
            self.expect(")")
            if self.text not in ("/", "//"):
                if is_let:
                    return Slot(DOCUMENT, ())
                self.unexpected("a path")
        at = self.at
        if is_let and self.accept("("):  # `(/)`: behind a `/` alone a name would be a step
            self.expect("/")
            self.expect(")")
            return Slot(DOCUMENT, ())
        links = self.path(absolute=True)
        if not links or not links[0].path:
            self.refuse("the document itself as a binding", at)
        return Slot(DOCUMENT, links)

    def _order_by(self) -> None:
        if not self.accept_word("order") or not self.accept_word("by"):
            self.unexpected("order by")
        while True:
            slot = self._slot()
            descending = self.accept_word("descending")
            if not descending:
                self.accept_word("ascending")
            if self.kind == "name" and self.text in ("empty", "collation"):
                self.refuse(f"{self.text} in order by", self.at)
            self._order.append(Order(slot, descending))
            if not self.accept(","):
                return

    def _return(self) -> Enclosed:
        """One value, or several in parentheses: a comma without them would end the FLWR expression."""
        inner = Enclosed(tuple(self._items()))
        if self.text == ",":
            self.refuse("a sequence behind the FLWR expression", self.at, "put what is returned in parentheses")
        return inner

    def path_operand(self) -> Operand:
        """A path; in where it starts at a variable."""
        if self.text != "$" and self._quantified is None and not self._nested_in_predicate:
            self.refuse("a path that does not start at a variable", self.at)
        return super().path_operand()

    def variable_operand(self) -> Operand:
        """A path from a variable."""
        if self._quantified is not None:
            return super().variable_operand()
        found = _VARIABLE.match(self.query, self.at) if self._constants else None
        if found is not None and found[1] in self._constants:
            self.advance()
            self.advance()
            return self._constants[found[1]]
        if self._nested_in_predicate:
            self.refuse("a variable in a predicate", self.at, "put the condition in where")
        at, slot = self.at, self._slot()
        if slot.variable == DOCUMENT:
            self.refuse("a path that does not start at a variable", at)
        return Operand("path", paths=(Trail(slot.links),), scope=slot.variable)

    def context_operand(self, at: int) -> Operand:
        """The context node, which there is in predicates only."""
        if not self._nested_in_predicate:
            self.refuse("a function without an argument", at, "name the variable")
        return super().context_operand(at)

    def scoped(self, test: Test, operand: Operand) -> Test:
        """In where, a test belongs to a variable; in a predicate, to the step."""
        if operand.scope is not None and self.went_up and goes_up(test):
            self.refuse("a condition on what is above a variable", self.at, "put it in the variable's path")
        return test if operand.scope is None else On(operand.scope, test)

    def predicates(self, rankable: bool) -> list[Test]:
        outer, self._nested_in_predicate = self._nested_in_predicate, True
        tests = super().predicates(rankable)
        self._nested_in_predicate = outer
        return tests
