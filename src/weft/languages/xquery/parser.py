"""FLWR text in, a plan out; or an error with the place, what was expected and what was found."""

from __future__ import annotations

from collections.abc import Mapping

from weft.languages.reader import MOST_NESTED, OnWarning
from weft.languages.xpath.names import Names
from weft.languages.xpath.predicates import Operand
from weft.languages.xquery.values import ValueParser
from weft.languages.xquery.where import split_where
from weft.plans.flwr import RETURNS, Enclosed, Flwr, Order, Slot, Variable
from weft.plans.plan import On, Test

_LANGUAGE = "XQuery"
_SOURCES = ("document", "doc", "stream")


def parse(
    query: str,
    namespaces: Mapping[str, str] | None = None,
    ignore_namespaces: bool = False,
    most_nested: int = MOST_NESTED,
    on_warning: OnWarning | None = None,
) -> Flwr:
    """The plan of a FLWR query.

    >>> parse("<r>{ for $b in /bib/book return $b/title }</r>").variables[0].name
    'b'
    """
    parser = FlwrParser(query, Names(namespaces or {}, ignore_namespaces), _LANGUAGE)
    return parser.within(most_nested, on_warning).query_plan()


class FlwrParser(ValueParser):
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

    def query_plan(self) -> Flwr:
        """The whole query."""
        if self.text != "<":
            self.unexpected("an element that encloses the FLWR expression")
        at = self.at
        enclosing = self.element()
        if self.kind != "end":
            self.unexpected("the end of the query")
        if self._returned is None:
            self.fail("expected { for … return … } in the enclosing element", at)
        variables, where = split_where(tuple(self._variables), self._where)
        return Flwr(self._stream, variables, where, tuple(self._order), self._returned, enclosing)

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
            else:
                break
        if not self._variables:
            self.refuse("a FLWR expression without for", self.at)
        if self.accept_word("where"):
            at = self.at
            self._where = self._as_condition(self.disjunction(), at)
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
            if name in self._slots:
                self.fail(f"expected a new name, found ${name} again", name_at)
            self._bind(name, clause)
            if not self.accept(","):
                return

    def _bind(self, name: str, clause: str) -> None:
        at = self.at
        slot = self._source()
        if clause == "let":
            if slot.variable < 0:
                self.refuse("let from the document", at, "use for")
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

    def _source(self) -> Slot:
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
                self.unexpected("a path")
        at = self.at
        links = self.path(absolute=True)
        if not links or not links[0].path:
            self.refuse("the document itself as a binding", at)
        return Slot(-1, links)

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

    def _path_operand(self) -> Operand:
        if self.text != "$":
            if self._where_is_open():
                self.refuse("a path that does not start at a variable", self.at)
            return super()._path_operand()
        if self._nested_in_predicate:
            self.refuse("a variable in a predicate", self.at, "put the condition in where")
        slot = self._slot()
        return Operand("path", paths=(slot.links,), scope=slot.variable)

    def _where_is_open(self) -> bool:
        return not self._nested_in_predicate

    def scoped(self, test: Test, operand: Operand) -> Test:
        """In where, a test belongs to a variable; in a predicate, to the step."""
        return test if operand.scope is None else On(operand.scope, test)

    def predicates(self, rankable: bool) -> list[Test]:
        outer, self._nested_in_predicate = self._nested_in_predicate, True
        tests = super().predicates(rankable)
        self._nested_in_predicate = outer
        return tests

    _nested_in_predicate = False
