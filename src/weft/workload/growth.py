"""Parts and a source of randomness in, the tree of one document's elements out, without any values yet."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from weft.workload.parts import ContentPart

_ENDLESS = 1 << 62
# How often to start again when a document stayed far below the number of elements that was asked for.
_TRIES = 5


class GrownNode:
    """An element while its document grows; an item None is a piece of text."""

    __slots__ = ("counts", "items", "level", "name")

    def __init__(self, name: str, level: int) -> None:
        self.name = name
        self.level = level
        self.items: list[GrownNode | None] = []
        self.counts: dict[str, int] = {}


def grow(elements: Mapping[str, ContentPart], root: str, depth: int, aim: int | None, rng: Random) -> GrownNode:
    """A random tree that conforms: optional parts stand where depth and room for `aim` elements allow."""
    best = _Growth(elements, root, depth, aim, rng)
    for _ in range(_TRIES):
        if aim is None or best.room <= 0.2 * aim:
            break
        best = min(best, _Growth(elements, root, depth, aim, rng), key=lambda growth: growth.room)
    return best.root


class _Growth:
    def __init__(
        self, elements: Mapping[str, ContentPart], root: str, depth: int, aim: int | None, rng: Random
    ) -> None:
        self._depth = depth
        self._random = rng.random
        # Elements that may still be added: what the nodes so far need at least is taken off already.
        self.room = _ENDLESS if aim is None else aim - elements[root].size
        self.root = GrownNode(root, 1)
        self._unfilled = [self.root]
        while self._unfilled:
            node = self._next(deepest=aim is None)
            self._add(node, elements[node.name].parts[0])

    def _next(self, *, deepest: bool) -> GrownNode:
        """The node to fill next; where room is short a random one, rather late, so that some grow deep."""
        place = -1 if deepest else int(self._random() ** 0.25 * len(self._unfilled))
        self._unfilled[place], self._unfilled[-1] = self._unfilled[-1], self._unfilled[place]
        return self._unfilled.pop()

    def _add(self, node: GrownNode, part: ContentPart) -> None:
        match part.kind:
            case "text":
                node.items.append(None)
            case "mixed":
                self._add_mixed(node, part)
            case "choice":
                for turn in range(self._times(node, part)):
                    self._add_choice(node, part, required=turn < part.least)
            case "sequence":
                for _ in range(self._times(node, part)):
                    for inner in part.parts:
                        self._add(node, inner)
            case "child":
                for _ in range(self._times(node, part)):
                    self._add_child(node, part.name)

    def _add_child(self, node: GrownNode, name: str) -> None:
        child = GrownNode(name, node.level + 1)
        node.items.append(child)
        node.counts[name] = node.counts.get(name, 0) + 1
        self._unfilled.append(child)

    def _add_mixed(self, node: GrownNode, part: ContentPart) -> None:
        """Text, then few elements, each perhaps followed by text: two pieces of text never touch."""
        node.items.append(None)
        for _ in range(int(self._random() ** 2 * (part.most + 1))):
            before = len(node.items)
            self._add_choice(node, part, required=False)
            if len(node.items) > before and self._random() < 0.5:
                node.items.append(None)

    def _add_choice(self, node: GrownNode, part: ContentPart, *, required: bool) -> None:
        """One of the parts that fit; where none does, the lowest if one is required."""
        levels = self._depth - node.level
        room = self.room + part.size
        fitting = [each for each in part.parts if each.need_height <= levels and each.need_size <= room]
        if fitting:
            chosen = fitting[int(self._random() * len(fitting))]
        else:
            chosen = min(part.parts, key=lambda each: (each.need_height, each.need_size))
        if not required and (not fitting or node.counts.get(chosen.name, 0) >= chosen.cap):
            self.room += part.size
            return
        self.room += part.size - chosen.need_size
        self._add(node, chosen)

    def _times(self, node: GrownNode, part: ContentPart) -> int:
        """How often a part stands here; takes what it needs beyond its least number off the room."""
        most = part.most
        if part.kind == "child":
            most -= node.counts.get(part.name, 0)
        if most <= part.least or node.level + part.height > self._depth or part.size > self.room:
            return part.least
        extra = int(self._random() * (most - part.least + 1))
        if part.size:
            extra = min(extra, self.room // part.size)
            self.room -= extra * part.size
        return part.least + extra
