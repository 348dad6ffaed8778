"""FLWR text in, a plan out; or an error with the place, what was expected and what was found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from weft.languages.xpath.names import Names
from weft.languages.xpath.predicates import Operand
from weft.languages.xquery.constructor import Constructor
from weft.languages.xquery.where import split_where
from weft.plans.flwr import RETURNS, Copy, Element, Enclosed, Flwr, Number, Order, Slot, Variable, holds_attributes
from weft.plans.flwr import Value as Item
from weft.plans.plan import Link, On, Test

_LANGUAGE = "XQuery"
_SOURCES = ("document", "doc", "stream")


def parse(query: str, namespaces: Mapping[str, str] | None = None, ignore_namespaces: bool = False) -> Flwr:
    """The plan of a FLWR query.

    >>> parse("<r>{ for $b in /bib/book return $b/title }</r>").variables[0].name
    'b'
    """
    parser = FlwrParser(query, Names(namespaces or {}, ignore_namespaces), _LANGUAGE)
    return parser.query_plan()


class FlwrParser(Constructor):
    """One enclosing element, one FLWR expression in it."""

    orders_text = True

    def __init__(self, query: str, names: Names, language: str) -> None:
        super().__init__(query, names, language)
        self._variables: list[Variable] = []
        self._slots: dict[str, Slot] = {}  # what each name stands for: a variable, or a path from one
        self._stream = ""
        self._where: Test | None = None
        self._order: list[Order] = []
        self._returned: Enclosed | None = None
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

    # -- values

    def _return(self) -> Enclosed:
        """One value, or several in parentheses: a comma without them would end the FLWR expression."""
        inner = Enclosed(tuple(self._items()))
        if self.text == ",":
            self.refuse("a sequence behind the FLWR expression", self.at, "put what is returned in parentheses")
        return inner

    def _sequence(self) -> Enclosed:
        items = self._items()
        while self.accept(","):
            items += self._items()
        return Enclosed(tuple(items))

    def _items(self) -> list[Item | Element | str]:
        """One item, or what stands in parentheses."""
        if not self.accept("("):
            return [self._item()]
        self.enter()
        inner = () if self.text == ")" else self._sequence().items
        self.leave()
        self.expect(")")
        return list(inner)

    def _item(self) -> Item | Element | str:
        if self.kind == "sign" and self.text == "<":
            return self.element()
        if self.kind == "string":
            return self.string()
        if self.kind == "name" and self.text == "count" and self.following == "(":
            self.advance()
            self.expect("(")
            number = Number(self._slot())
            self.expect(")")
            return number
        if self.text == "$":
            return Copy(self._slot())
        if self.kind == "name" and self.following == "(":
            self.refuse(f"the function {self.text}() in a return", self.at, "there is count")
        if self.kind == "name" and self.text in ("for", "let", "if", "some", "every"):
            self.refuse(f"{self.text} in a return", self.at)
        return self.unexpected("a variable, count(), a string or an element")

    def _variable_name(self) -> str:
        self.expect("$")
        if self.kind != "name" or ":" in self.text:
            self.unexpected("a variable's name")
        return self.advance()

    def _slot(self) -> Slot:
        """A variable and the path from it."""
        at, name = self.at, self._variable_name()
        known = self._slots.get(name)
        if known is None:
            self.fail(f"expected a variable that is bound, found ${name}", at)
        if self.text == "[":
            self.refuse("a predicate on a variable", self.at, "put it in the variable's path, or in where")
        if self.text not in ("/", "//"):
            return known
        if holds_attributes(known, self._variables) or (known.links and known.links[-1].path[-1].kind):
            self.fail("expected the end of the path: no nodes lie below", self.at)
        steps = self.steps(self.advance() == "//")
        if not steps or not steps[0].path:
            self.refuse("a step that stays at the variable", at)
        return Slot(known.variable, _join(known.links, steps))

    def _path_operand(self) -> Operand:
        if self.text != "$":
            if self._where_is_open():
                self.refuse("a path that does not start at a variable", self.at)
            return super()._path_operand()
        if self._nested_in_predicate:
            self.refuse("a variable in a predicate", self.at, "put the condition in where")
        slot = self._slot()
        return Operand("path", paths=(slot.links,), scope=slot.variable)

    def string(self) -> str:
        """The string literal that is next; references in it are read."""
        start, raw = self.at, self.advance()
        text, at = [], 1
        while at < len(raw) - 1:
            if raw[at] == "&":
                character, end = self.reference(start + at)
                text.append(character)
                at = end - start
            else:
                text.append(raw[at])
                at += 2 if raw[at] == raw[0] else 1  # a quote is doubled
        return "".join(text)

    # -- attributes

    def check(self, element: Element, at: int) -> None:
        """Attributes come first in an element, and each once."""
        names = [attribute.name for attribute in element.attributes]
        is_start = True
        for part in element.parts:
            for item in part.items if isinstance(part, Enclosed) else (part,):
                if not self._is_attribute(item):
                    is_start = False
                    continue
                if not is_start:
                    self.refuse("an attribute behind other content", at)
                assert isinstance(item, Copy)
                names.append(self._attribute_name(item.slot))
        if len(set(names)) < len(names) or ("*" in names and len(names) > 1):
            self.refuse("an element that may have an attribute twice", at)

    def _is_attribute(self, item: object) -> bool:
        return isinstance(item, Copy) and holds_attributes(item.slot, self._variables)

    def _attribute_name(self, slot: Slot) -> str:
        label = (slot.links or self._variables[slot.variable].links)[-1].path[-1].label
        return label if isinstance(label, str) and "*" not in label else "*"

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


def _join(links: tuple[Link, ...], more: tuple[Link, ...]) -> tuple[Link, ...]:
    """One path behind the other; a stretch without a test goes on in the next."""
    if links and more and links[-1].test is None:
        return (*links[:-1], replace(more[0], path=links[-1].path + more[0].path), *more[1:])
    return links + more
