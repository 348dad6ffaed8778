"""A document with its header: the values at its offsets, each read once."""

from __future__ import annotations

from collections.abc import Iterator

from weft.documents.document import Document
from weft.documents.kind import Kind
from weft.documents.offsets import Fragment, StartTag, element_at, root_name_at, start_tag_at, value_at
from weft.documents.source import read_source
from weft.errors import DocumentError
from weft.headers.header import PLAIN, UTF8, Header
from weft.plans.names import name_forms, passes
from weft.plans.plan import Label, Path, Step


class LookedUp:
    """Reads values at the offsets of one document, whose bytes are those that the header is for.

    What cannot be read raises ValueError: then the header was made by somebody who reads XML otherwise.
    """

    def __init__(self, document: Document, data: bytes, header: Header, kinds: bytes) -> None:
        self._document, self._data, self._header, self._kinds = document, data, header, kinds
        self.entries = header.entries
        self._source: bytes | None = data if header.flags & UTF8 else None
        self._encoding: str | None = None
        self._values: dict[int, str] | None = None
        self._elements: dict[int, Fragment] = {}
        self._inside: dict[tuple[int, Path], list[Fragment | str]] = {}
        self._inside_values: dict[tuple[int, Path], list[str]] = {}
        self._root: StartTag | None = None
        self._root_name: str | None = None

    def values(self, entries: tuple[int, ...]) -> list[str | int | None]:
        """For each entry the string-value of its node, or the reason why there is none."""
        return [self.value(entry) if self.entries[entry] >= 0 else self.entries[entry] for entry in entries]

    def value(self, entry: int) -> str:
        """The string-value of the node of an entry."""
        if self._values is None:
            self._values = {}
        known = self._values.get(entry)
        if known is None:
            known = self._values[entry] = value_at(*self._at(self.entries[entry]), Kind(self._kinds[entry]))
        return known

    def has_inside(self, entry: int, path: Path) -> bool:
        """Whether a path inside the element of an entry leads to a node."""
        return bool(self._found_inside(entry, path))

    def inside(self, entry: int, path: Path) -> list[str]:
        """The values of the nodes on a path inside the element of an entry."""
        values = self._inside_values.get((entry, path))
        if values is None:
            found = self._found_inside(entry, path)
            values = [each if isinstance(each, str) else each.value() for each in found]
            self._inside_values[entry, path] = values
        return values

    def _found_inside(self, entry: int, path: Path) -> list[Fragment | str]:
        """The nodes on a path inside the element of an entry; queries that differ in a constant ask for the same."""
        known = self._inside.get((entry, path))
        if known is not None:
            return known
        source, offset = self._at(self.entries[entry])
        around = self._root_tag().declarations
        if len(path) == 1 and path[0].kind is Kind.ATTRIBUTE and not path[0].deep:
            found: list[Fragment | str] = [*_attributes(start_tag_at(source, offset, around).attributes, path[0].label)]
        else:
            if entry not in self._elements:
                self._elements[entry] = element_at(source, offset, around)
            found = _nodes(self._elements[entry], path)
        self._inside[entry, path] = found
        return found

    @property
    def is_plain(self) -> bool:
        """Whether elements can be read alone: all namespaces are declared at the root."""
        return bool(self._header.flags & PLAIN)

    @property
    def root_name(self) -> str:
        """The root element's expanded name."""
        if self._root_name is None:
            self._root_name = root_name_at(*self._at(self._header.root))
        return self._root_name

    def root_passes(self, label: Label) -> bool:
        """Whether the root element's name passes a label test."""
        return passes(label, self.root_name)

    def _root_tag(self) -> StartTag:
        if self._root is None:
            self._root = start_tag_at(*self._at(self._header.root))
        return self._root

    def _at(self, offset: int) -> tuple[bytes, int]:
        """The document in UTF-8, and where an offset of its bytes is there."""
        if self._source is None:
            try:
                source = read_source(self._document)
            except DocumentError as error:
                raise ValueError(error.reason) from None
            self._source, self._encoding = source.data, source.encoding
        if self._encoding is None:
            return self._source, offset
        return self._source, len(self._data[:offset].decode(self._encoding).encode("utf-8"))


def _nodes(element: Fragment, path: Path) -> list[Fragment | str]:
    """The nodes that a path leads to, from an element: each once, attributes and texts as their values."""
    found = [element]
    for step in path[:-1]:
        found = _elements(_owners(found, step), step)
    last = path[-1]
    owners = _owners(found, last)
    if last.kind is Kind.ELEMENT:
        return [*_elements(owners, last)]
    if last.kind is Kind.ATTRIBUTE:
        return [value for owner in owners for value in _attributes(owner.attributes, last.label)]
    return [part for owner in owners for part in owner.parts if isinstance(part, str)]


def _elements(owners: list[Fragment], step: Step) -> list[Fragment]:
    return [
        part for owner in owners for part in owner.parts if isinstance(part, Fragment) and passes(step.label, part.name)
    ]


def _owners(elements: list[Fragment], step: Step) -> list[Fragment]:
    """The elements whose own nodes a step leads to: these, or if it is deep all in them, each once."""
    if not step.deep:
        return elements
    seen: dict[int, Fragment] = {}
    waiting = elements[::-1]
    while waiting:
        each = waiting.pop()
        if id(each) not in seen:  # else all in it was seen too
            seen[id(each)] = each
            waiting += [part for part in each.parts if isinstance(part, Fragment)]
    return list(seen.values())


def _attributes(attributes: dict[str, str], label: Label) -> Iterator[str]:
    for name, value in attributes.items():
        if label == "*" or f"@{label}" in name_forms(f"@{name}"):
            yield value
