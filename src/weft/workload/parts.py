"""A DTD in, its content models out as parts that know how often they may stand and what they need."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from weft.documents.dtd import Child, ContentGroup, ContentModel, Dtd, Leaf, Occurs
from weft.errors import ConfigurationError

Repeats: TypeAlias = int | Mapping[str, int]
_Pick: TypeAlias = Callable[[Iterable[int]], int]
_NEVER = 1 << 62


@dataclass(frozen=True, slots=True)
class ContentPart:
    """A part of a content model.

    It stands from `least` to `most` times in a row, and an element up to `cap` times in its parent;
    `height` in levels and `size` in elements are what one occurrence needs at least.
    """

    kind: Literal["text", "empty", "child", "sequence", "choice", "mixed"]
    least: int = 1
    most: int = 1
    cap: int = 0
    height: int = 0
    size: int = 0
    name: str = ""
    parts: tuple[ContentPart, ...] = ()

    @property
    def need_height(self) -> int:
        """The levels that it needs where it stands as seldom as it may."""
        return self.least * self.height

    @property
    def need_size(self) -> int:
        """The elements that it needs where it stands as seldom as it may."""
        return self.least * self.size


def compile_parts(dtd: Dtd, repeats: Repeats) -> dict[str, ContentPart]:
    """Each element as the part that stands for it once, with its content as the only part inside."""
    heights, sizes = _least(dtd, max), _least(dtd, sum)
    if heights[dtd.root] == _NEVER:
        endless = ", ".join(name for name in dtd.names if heights[name] == _NEVER)
        raise ConfigurationError(f"the DTD allows no finite document with the root {dtd.root!r}: see {endless}")
    compiler = _Compiler(dtd, heights, sizes, _checked(dtd, repeats))
    return {name: compiler.element(name) for name in dtd.names}


def _checked(dtd: Dtd, repeats: Repeats) -> Mapping[str, int]:
    by_name = {"*": repeats} if isinstance(repeats, int) else repeats
    for key, most in by_name.items():
        if most < 0:
            raise ConfigurationError(f"repeats of {key!r} must be at least 0, found {most}")
        unknown = set(key.split("/")) - {"*", *dtd.names}
        if unknown:
            raise ConfigurationError(f"repeats of {key!r}: the DTD declares no element {unknown.pop()!r}")
    return by_name


def _least(dtd: Dtd, join: _Pick) -> dict[str, int]:
    """The least height (joined by max) or size (joined by sum) of each element: a fixed point, from above."""
    least = dict.fromkeys(dtd.names, _NEVER)
    while True:
        found = {name: min(_NEVER, 1 + _need(dtd.content(name), least, join)) for name in dtd.names}
        if found == least:
            return least
        least = found


def _need(content: ContentModel, least: Mapping[str, int], join: _Pick) -> int:
    if isinstance(content, Leaf) or content.occurs in ("opt", "mult"):
        return 0
    return _need_once(content, least, join)


def _need_once(content: ContentModel, least: Mapping[str, int], join: _Pick) -> int:
    match content:
        case Leaf():
            return 0
        case Child(name):
            return least.get(name, _NEVER)
        case ContentGroup(kind, parts):
            needs = [_need(part, least, join) for part in parts]
            return join(needs) if kind == "sequence" else min(needs)


@dataclass(frozen=True, slots=True)
class _Compiler:
    dtd: Dtd
    heights: Mapping[str, int]
    sizes: Mapping[str, int]
    repeats: Mapping[str, int]

    def element(self, name: str) -> ContentPart:
        content = self._part(name, self.dtd.content(name))
        return ContentPart("child", height=self.heights[name], size=self.sizes[name], name=name, parts=(content,))

    def _part(self, parent: str, content: ContentModel) -> ContentPart:
        match content:
            case Leaf.TEXT:
                return ContentPart("text")
            case Leaf.EMPTY:
                return ContentPart("empty")
            case Leaf.ANY:
                every = tuple(Child(name) for name in self.dtd.names)
                return self._part(parent, ContentGroup("choice", (Leaf.TEXT, *every), "mult"))
            case Child(name):
                return self._repeated("child", parent, content, name=name)
            case ContentGroup(kind, members):
                parts = tuple(self._part(parent, member) for member in members if member is not Leaf.TEXT)
                return self._repeated("mixed" if Leaf.TEXT in members else kind, parent, content, parts=parts)

    def _repeated(
        self,
        kind: Literal["child", "sequence", "choice", "mixed"],
        parent: str,
        content: Child | ContentGroup,
        name: str = "",
        parts: tuple[ContentPart, ...] = (),
    ) -> ContentPart:
        cap = self._cap(parent, content)
        least, most = _bounds(content.occurs, cap)
        height = _need_once(content, self.heights, max)
        size = _need_once(content, self.sizes, sum)
        return ContentPart(kind, least, most, cap, height, size, name, parts)

    def _cap(self, parent: str, content: ContentModel) -> int:
        match content:
            case Child(name):
                keys = (f"{parent}/{name}", name, "*")
                return next((self.repeats[key] for key in keys if key in self.repeats), 3)
            case ContentGroup(kind, members):
                caps = [self._cap(parent, member) for member in members if not isinstance(member, Leaf)]
                return min(caps) if kind == "sequence" else max(caps)
            case Leaf():
                return 1


def _bounds(occurs: Occurs, cap: int) -> tuple[int, int]:
    match occurs:
        case "once":
            return 1, 1
        case "opt":
            return 0, min(1, cap)
        case "mult":
            return 0, cap
        case "plus":
            return 1, max(1, cap)
