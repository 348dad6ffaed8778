"""The tree of a document's elements in, its bytes out, with random values for texts and attributes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Literal

from weft.documents.dtd import DeclaredAttribute, Dtd
from weft.documents.escaping import escape_attribute
from weft.errors import ConfigurationError
from weft.workload.growth import GrownNode
from weft.workload.values import id_text, value_text

# Stands for a reference while the document has no ID yet: no XML document can contain it.
_LATER = "\0"


@dataclass(frozen=True, slots=True)
class ValueSlot:
    """A place for an attribute in a start tag: what to write there, and how likely."""

    opening: str
    kind: Literal["number", "word", "id", "reference"]
    chance: float
    words: tuple[str, ...] = ()


def compile_slots(dtd: Dtd) -> dict[str, tuple[ValueSlot, ...]]:
    """The slots of each element's start tag."""
    return {
        name: tuple(slot for attribute in dtd.declaration(name).attributes if (slot := _slot(name, attribute)))
        for name in dtd.names
    }


def _slot(element: str, attribute: DeclaredAttribute) -> ValueSlot | None:
    opening = f' {attribute.name}="'
    chance = 1.0 if attribute.default in ("required", "fixed") else 0.5
    if attribute.default == "fixed":
        return ValueSlot(opening, "word", chance, (escape_attribute(attribute.value or ""),))
    match attribute.type:
        case "cdata" | "nmtoken" | "nmtokens":
            return ValueSlot(opening, "number", chance)
        case "enumeration" | "notation":
            return ValueSlot(opening, "word", chance, attribute.values)
        case "id":
            return ValueSlot(opening, "id", chance)
        case "idref" | "idrefs":
            return ValueSlot(opening, "reference", chance)
        case _ if chance < 1:
            return None
        case kind:
            raise ConfigurationError(f"{element}/@{attribute.name}: no value of type {kind} can be made up")


class DocumentWriter:
    """Writes one document: it holds the IDs given so far."""

    def __init__(self, slots: Mapping[str, tuple[ValueSlot, ...]], values: int, words: int, rng: Random) -> None:
        self._slots = slots
        self._values = values
        self._words = words
        self._random = rng.random
        self._ids: list[str] = []
        self._counts: dict[str, int] = {}

    def write(self, root: GrownNode) -> bytes:
        """The document's bytes, UTF-8 without a declaration."""
        out: list[str] = []
        ahead: list[GrownNode | str | None] = [root]
        while ahead:
            item = ahead.pop()
            if item is None:
                out.append(value_text(int(self._random() * self._values), self._words))
            elif isinstance(item, str):
                out.append(item)
            else:
                attributes = self._attributes(item.name) if self._slots[item.name] else ""
                out.append(f"<{item.name}{attributes}>" if item.items else f"<{item.name}{attributes}/>")
                if item.items:
                    ahead.append(f"</{item.name}>")
                    ahead.extend(reversed(item.items))
        return self._settle("".join(out), root.name).encode()

    def _attributes(self, element: str) -> str:
        out = ""
        for slot in self._slots[element]:
            if slot.chance == 1 or self._random() < slot.chance:
                value = self._value(element, slot)
                out += f'{slot.opening}{value}"' if value else ""
        return out

    def _value(self, element: str, slot: ValueSlot) -> str:
        match slot.kind:
            case "number":
                return str(int(self._random() * self._values))
            case "word":
                return slot.words[int(self._random() * len(slot.words))]
            case "id":
                number = self._counts[element] = self._counts.get(element, 0) + 1
                self._ids.append(id_text(element, number))
                return self._ids[-1]
            case "reference":
                later = _LATER if slot.chance == 1 else ""
                return self._ids[int(self._random() * len(self._ids))] if self._ids else later

    def _settle(self, text: str, root: str) -> str:
        """Let references that came before all IDs refer to the first one."""
        if _LATER not in text:
            return text
        if not self._ids:
            raise ConfigurationError(f"a document {root!r} must refer to an ID, but has none")
        return text.replace(_LATER, self._ids[0])
