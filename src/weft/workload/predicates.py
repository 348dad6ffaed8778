"""An element in, the text of a random predicate on its attributes, its text or its descendants out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Literal

from weft.documents.dtd import DeclaredAttribute, Dtd
from weft.workload.values import id_text, value_text

# The longest path inside a predicate: the brokering paper's D2.
PREDICATE_DEPTH = 2
# IDs are counted within a document: those that queries ask for are small enough to be there.
_IDS = 3


@dataclass(frozen=True, slots=True)
class PredicateOperand:
    """What a predicate compares: a path from its element, and what values stand there."""

    path: str
    kind: Literal["number", "word", "id", "text"]
    element: str
    words: tuple[str, ...] = ()


class PredicateWriter:
    """Random predicates with values out of the same range as those of generated documents."""

    def __init__(self, dtd: Dtd, values: int, words: int, rng: Random) -> None:
        self._dtd = dtd
        self._values = values
        self._words = words
        self._rng = rng
        self._operands: dict[str, tuple[tuple[PredicateOperand, ...], ...]] = {}

    def possible(self, element: str) -> bool:
        """Whether there is anything to compare in or below it."""
        return bool(self._sides(element))

    def draw(self, element: str) -> tuple[str, str]:
        """What is compared, the element's own as often as what lies below, and the predicate's text."""
        operand = self._rng.choice(self._rng.choice(self._sides(element)))
        return operand.path, self._text(operand)

    def _text(self, operand: PredicateOperand) -> str:
        value = self._rng.randrange(self._values)
        match operand.kind:
            case "number":
                return self._on_number(operand.path, value)
            case "word":
                operator = "=" if self._rng.random() < 0.85 else "!="
                return f'{operand.path} {operator} "{constant(operand, value, self._words, self._rng)}"'
            case "id":
                return f'{operand.path} = "{constant(operand, value, self._words, self._rng)}"'
            case "text":
                return self._on_text(operand, value)

    def _on_number(self, path: str, value: int) -> str:
        """Mostly equality; functions of strings only on the element's own attribute: there is but one."""
        draw = self._rng.random()
        if draw < 0.9 or "/" in path:
            operator = "=" if draw < 0.7 else self._rng.choice((">=", "<=", ">", "<"))
            return f'{path} = "{value}"' if operator == "=" else f"{path} {operator} {value}"
        return f'{self._rng.choice(("contains", "starts-with"))}({path}, "{value}")'

    def _on_text(self, operand: PredicateOperand, value: int) -> str:
        """Mostly equality; functions of strings only on an element with nothing but text."""
        text = constant(operand, value, self._words, self._rng)
        if operand.path != "text()" or self._dtd.children(operand.element) or self._rng.random() < 0.8:
            return f'{operand.path} = "{text}"'
        words = text.split()
        if self._rng.random() < 0.5:
            return f'contains(., "{" ".join(words[-2:])}")'
        return f'starts-with(., "{" ".join(words[: (len(words) + 1) // 2])}")'

    def _sides(self, element: str) -> tuple[tuple[PredicateOperand, ...], ...]:
        """The operands of the element itself and those below it, a side that has none left out."""
        found = self._operands.get(element)
        if found is None:
            own = tuple(operands(self._dtd, element, "", "text()"))
            below = tuple(self._below(element, "", PREDICATE_DEPTH))
            found = self._operands[element] = tuple(side for side in (own, below) if side)
        return found

    def _below(self, element: str, prefix: str, depth: int) -> Iterator[PredicateOperand]:
        for child in self._dtd.children(element) if depth else ():
            yield from operands(self._dtd, child, f"{prefix}{child}/", f"{prefix}{child}")
            yield from self._below(child, f"{prefix}{child}/", depth - 1)


def operands(dtd: Dtd, element: str, prefix: str, text: str) -> Iterator[PredicateOperand]:
    """What can be compared at an element itself: its text, whose path is `text`, and its attributes."""
    if dtd.has_text(element):
        yield PredicateOperand(text, "text", element)
    visible = dtd.attributes(element)
    for attribute in dtd.declaration(element).attributes:
        kind = _kind(attribute)
        if kind and attribute.name in visible:
            yield PredicateOperand(f"{prefix}@{attribute.name}", kind, element, attribute.values)


def constant(operand: PredicateOperand, value: int, words: int, rng: Random) -> str:
    """The text that stands for a value where the operand does."""
    match operand.kind:
        case "number":
            return str(value)
        case "word":
            return rng.choice(operand.words)
        case "id":
            return id_text(operand.element, 1 + value % _IDS)
        case "text":
            return value_text(value, words)


def _kind(attribute: DeclaredAttribute) -> Literal["number", "word", "id"] | None:
    if attribute.default == "fixed":
        return None
    match attribute.type:
        case "cdata" | "nmtoken" | "nmtokens":
            return "number"
        case "enumeration" | "notation":
            return "word"
        case "id":
            return "id"
        case _:
            return None
