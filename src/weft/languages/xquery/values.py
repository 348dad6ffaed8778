"""What stands in the braces of a constructor in, values out: variables, paths from them, counts, strings, elements."""

from __future__ import annotations

from dataclasses import replace

from weft.languages.expressions import expression_name
from weft.languages.xpath.names import Names
from weft.languages.xquery.constructor import Constructor
from weft.plans.flwr import Copy, Element, Enclosed, Number, Returned, Slot, Variable, holds_attributes
from weft.plans.plan import Link

#: What stands for the document where variables have numbers.
DOCUMENT = -1


class ValueParser(Constructor):
    """Reads values. Which variables there are is for those who build on this."""

    def __init__(self, query: str, names: Names, language: str) -> None:
        super().__init__(query, names, language)
        self._variables: list[Variable] = []
        self._slots: dict[str, Slot] = {}  # what each name stands for: a variable, or a path from one

    def _sequence(self) -> Enclosed:
        items = self._items()
        while self.accept(","):
            items += self._items()
        return Enclosed(tuple(items))

    def _items(self) -> list[Returned | Element | str]:
        """One item, or what stands in parentheses."""
        if not self.accept("("):
            return [self._item()]
        self.enter()
        inner = () if self.text == ")" else self._sequence().items
        self.leave()
        self.expect(")")
        return list(inner)

    def _item(self) -> Returned | Element | str:
        if self.kind == "sign" and self.text == "<":
            return self.element()
        if self.kind == "string":
            return self.string()
        if self.kind == "name" and self.text == "count" and self.following == "(":
            self.advance()
            self.expect("(")
            at, slot = self.at, self._slot()
            if slot.variable == DOCUMENT:
                self.refuse("a path from the document in a return", at)
            number = Number(slot)
            self.expect(")")
            return number
        if self.text == "$":
            at, slot = self.at, self._slot()
            if slot.variable == DOCUMENT:
                self.refuse("a path from the document in a return", at)
            return Copy(slot)
        if self.kind == "name":
            following = self.following
            name = expression_name(self.text, following)
            if name is not None:
                self.refuse(f"{name} in a return", self.at)
            if following == "(":
                self.refuse(f"the function {self.text}() in a return", self.at, "there is count")
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
        if known.variable == DOCUMENT and not known.links:
            return Slot(DOCUMENT, self.path(absolute=True))
        if (known.links and known.links[-1].path[-1].kind) or (
            known.variable != DOCUMENT and holds_attributes(known, self._variables)
        ):
            self.fail("expected the end of the path: no nodes lie below", self.at)
        steps = self.steps(self.advance() == "//")
        if not steps or not steps[0].path:
            self.refuse("a step that stays at the variable", at)
        return Slot(known.variable, join(known.links, steps))

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


def join(links: tuple[Link, ...], more: tuple[Link, ...]) -> tuple[Link, ...]:
    """One path behind the other; a stretch without a test goes on in the next."""
    if links and more and links[-1].test is None:
        return (*links[:-1], replace(more[0], path=links[-1].path + more[0].path), *more[1:])
    return links + more
