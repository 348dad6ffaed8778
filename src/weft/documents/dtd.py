"""A DTD's text in, its element graph, content models and attributes out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum, auto
from pathlib import Path
from typing import Any, Literal, TypeAlias

from lxml import etree

from weft.errors import ConfigurationError

Occurs: TypeAlias = Literal["once", "opt", "mult", "plus"]


class Leaf(Enum):
    """Content without elements of its own: `#PCDATA`, `EMPTY`, and `ANY`, which is text and every element."""

    TEXT = auto()
    EMPTY = auto()
    ANY = auto()


@dataclass(frozen=True, slots=True)
class Child:
    """An element of that name."""

    name: str
    occurs: Occurs = "once"


@dataclass(frozen=True, slots=True)
class ContentGroup:
    """All parts in this order, `(a, b?)`, or one of them, `(a | b)`; mixed content is a choice."""

    kind: Literal["sequence", "choice"]
    parts: tuple[ContentModel, ...]
    occurs: Occurs = "once"


ContentModel: TypeAlias = Leaf | Child | ContentGroup


@dataclass(frozen=True, slots=True)
class DeclaredAttribute:
    """A declared attribute; `type` (cdata, id, …) and `default` (required, implied, …) as lxml says."""

    name: str
    type: str
    default: str
    value: str | None = None
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Declaration:
    """An element with its content model and its attributes."""

    name: str
    content: ContentModel
    attributes: tuple[DeclaredAttribute, ...] = ()


@dataclass(frozen=True, slots=True)
class Dtd:
    """A DTD as a graph: an edge from `a` to `b` where an element `a` may contain an element `b`.

    Names are as the DTD writes them, with their prefix. A content model may mention an element that is
    nowhere declared: no valid document has one, so the graph has none either.
    """

    root: str
    declarations: tuple[Declaration, ...]
    _declared: dict[str, Declaration] = field(init=False, repr=False, compare=False)
    _children: dict[str, tuple[str, ...]] = field(init=False, repr=False, compare=False)
    _loops: dict[str, int] = field(init=False, repr=False, compare=False)
    _paths: dict[tuple[str, str], tuple[str, ...] | None] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        declared = {declaration.name: declaration for declaration in self.declarations}
        children = {name: _children(declared[name].content, declared) for name in declared}
        object.__setattr__(self, "_declared", declared)
        object.__setattr__(self, "_children", children)
        object.__setattr__(self, "_loops", _loops(children))
        object.__setattr__(self, "_paths", {})

    @classmethod
    def load(cls, path: str | Path, root: str | None = None) -> Dtd:
        """Read a DTD file, and no other: what it refers to outside itself is refused, not fetched."""
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            raise ConfigurationError(f"{path}: the DTD cannot be read: {error.strerror}") from error
        return _build(data, str(path), root)

    @classmethod
    def parse(cls, text: str, root: str | None = None) -> Dtd:
        """Read a DTD from its text, in which a declared encoding no longer means anything."""
        return _build(re.sub(r"\A\s*<\?xml\s[^>]*\?>", "", text).encode(), "<DTD>", root)

    @property
    def names(self) -> tuple[str, ...]:
        """The declared elements, in their order."""
        return tuple(self._declared)

    def __contains__(self, name: object) -> bool:
        """Whether an element is declared."""
        return name in self._declared

    def declaration(self, name: str) -> Declaration:
        """The declaration of an element; KeyError if there is none."""
        try:
            return self._declared[name]
        except KeyError:
            raise KeyError(f"the DTD with root {self.root!r} declares no element {name!r}") from None

    def content(self, name: str) -> ContentModel:
        """The content model of an element."""
        return self.declaration(name).content

    def children(self, name: str) -> tuple[str, ...]:
        """The elements that may stand directly in it, in the order of their first mention."""
        return self._children[self.declaration(name).name]

    def attributes(self, name: str) -> tuple[str, ...]:
        """The names of its attributes as XPath sees them: namespace declarations are none."""
        found = (each.name for each in self.declaration(name).attributes)
        return tuple(each for each in found if not re.match(r"xmlns(:|$)", each))

    def has_text(self, name: str) -> bool:
        """Whether text may stand directly in it."""
        return any(leaf in (Leaf.TEXT, Leaf.ANY) for leaf in _leaves(self.content(name)))

    def on_loop(self, name: str) -> bool:
        """Whether it may, at some depth, contain an element of its own name."""
        return self.declaration(name).name in self._loops

    def same_loop(self, a: str, b: str) -> bool:
        """Whether each of the two may, at some depth, contain the other."""
        return self.on_loop(a) and self.on_loop(b) and self._loops[a] == self._loops[b]

    def single_path(self, a: str, b: str) -> tuple[str, ...] | None:
        """The names after `a` up to `b` if exactly one path leads there, None if none or many do."""
        if (a, b) not in self._paths:
            self._paths[a, b] = self._single_path(a, b)
        return self._paths[a, b]

    def _single_path(self, a: str, b: str) -> tuple[str, ...] | None:
        import networkx as nx  # noqa: PLC0415

        ahead = {b, *nx.ancestors(nx.DiGraph(self._children), self.declaration(b).name)}
        path: list[str] = []
        here = a
        while not self.on_loop(here):
            if path and here == b:
                return tuple(path)
            onward = [child for child in self.children(here) if child in ahead]
            if len(onward) != 1:
                return None
            here = onward[0]
            path.append(here)
        return None


def _leaves(content: ContentModel) -> Iterator[Leaf | Child]:
    if isinstance(content, ContentGroup):
        for part in content.parts:
            yield from _leaves(part)
    else:
        yield content


def _children(content: ContentModel, declared: dict[str, Declaration]) -> tuple[str, ...]:
    if content is Leaf.ANY:
        return tuple(declared)
    mentioned = (leaf.name for leaf in _leaves(content) if isinstance(leaf, Child))
    return tuple(dict.fromkeys(name for name in mentioned if name in declared))


def _loops(children: dict[str, tuple[str, ...]]) -> dict[str, int]:
    """The number of its loop for each element on one."""
    import networkx as nx  # noqa: PLC0415

    components = enumerate(nx.strongly_connected_components(nx.DiGraph(children)))
    numbers = {name: (number, len(component)) for number, component in components for name in component}
    return {name: number for name, (number, size) in numbers.items() if size > 1 or name in children[name]}


def _build(data: bytes, source: str, root: str | None) -> Dtd:
    elements = [element for element in _read(data, source) if element.type != "undefined"]
    full = {element.name: _name(element) for element in elements}
    if not elements:
        raise ConfigurationError(f"{source}:1: the DTD declares no element")
    if len(full) < len(elements):
        raise ConfigurationError(f"{source}: two elements have names that differ in their prefix only")
    dtd = Dtd(_name(elements[0]), tuple(_declaration(element, full) for element in elements))
    if root is not None and root not in dtd.names:
        raise ConfigurationError(f"{source}: the DTD declares no element {root!r} that could be the root")
    contained = {child for name in dtd.names for child in dtd.children(name) if child != name}
    free = (name for name in dtd.names if name not in contained)
    return Dtd(root or next(free, dtd.root), dtd.declarations)


class _OneText(etree.Resolver):  # type: ignore[misc, unused-ignore]
    """Serves the DTD itself, once, and refuses whatever else the parser wants to open."""

    def __init__(self, data: bytes, source: str) -> None:
        self._left, self._source = [data], source

    def resolve(self, system_url: str, _public_id: str, context: Any = None) -> Any:
        if self._left:
            return self.resolve_string(self._left.pop(), context, base_url=system_url)
        raise ConfigurationError(f"{self._source}: the external entity {system_url!r} is not fetched")


def _read(data: bytes, source: str) -> list[Any]:
    """lxml's element declarations; through a parser, as `etree.DTD(file)` would fetch external entities."""
    parser = etree.XMLParser(load_dtd=True, no_network=True, resolve_entities=False)
    parser.resolvers.add(_OneText(data, source))
    try:
        document: Any = etree.fromstring(b'<!DOCTYPE weft SYSTEM "weft.dtd"><weft/>', parser)
    except etree.XMLSyntaxError as error:
        raise ConfigurationError(f"{source}:{error.lineno}: not a DTD: {error.msg}") from error
    return list(document.getroottree().docinfo.externalDTD.elements())


def _name(declared: Any) -> str:
    return f"{declared.prefix}:{declared.name}" if declared.prefix else str(declared.name)


def _declaration(element: Any, full: dict[str, str]) -> Declaration:
    content: ContentModel = Leaf.ANY if element.type == "any" else Leaf.EMPTY
    if element.content is not None:
        content = _content(element.content, full)
    return Declaration(_name(element), content, tuple(map(_attribute, element.iterattributes())))


def _attribute(each: Any) -> DeclaredAttribute:
    value = each.default_value and each.default_value.replace("&#38;", "&")  # so libxml2 keeps `&amp;`
    return DeclaredAttribute(_name(each), each.type, each.default, value, tuple(each.values()))


def _content(node: Any, full: dict[str, str]) -> ContentModel:
    """A content model; `full` gives the names with their prefixes, which lxml does not tell here."""
    if node.type == "pcdata":
        return Leaf.TEXT
    if node.type == "element":
        return Child(full.get(node.name, node.name), node.occur)
    parts = tuple(_content(part, full) for part in _parts(node))
    return ContentGroup("sequence" if node.type == "seq" else "choice", parts, node.occur)


def _parts(node: Any) -> Iterator[Any]:
    """libxml2 keeps `(a, b, c)` as `(a, (b, c))`: walk down the right side while it is the same group."""
    kind = node.type
    yield node.left
    while node.right.type == kind and node.right.occur == "once":
        node = node.right
        yield node.left
    yield node.right
