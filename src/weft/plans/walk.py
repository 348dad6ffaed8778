"""A plan in, its parts out: the one walk over frozen nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass

from weft.plans.plan import Path, Step


def walk(node: object) -> Iterator[object]:
    """A node, the nodes in it, and the tuples in those, from the top down."""
    yield node
    if isinstance(node, tuple):
        for part in node:
            yield from walk(part)
    elif is_dataclass(node):
        for field in fields(node):
            yield from walk(getattr(node, field.name))


def paths_in(node: object) -> Iterator[Path]:
    """All paths in a plan."""
    for part in walk(node):
        if isinstance(part, tuple) and part and all(isinstance(step, Step) for step in part):
            yield part


def count_steps(node: object) -> tuple[int, int]:
    """The steps of all paths in a plan: a part that stands at several places counted once, and as often as it stands.

    The second number grows with the power of how deep such parts lie in each other, so it is worked out, not walked.
    """
    sizes: dict[int, int] = {}  # by identity: the steps in a part, as often as they stand
    distinct = 0
    waiting: list[tuple[object, bool]] = [(node, False)]
    while waiting:
        part, is_open = waiting.pop()
        if id(part) in sizes:
            continue
        parts = _parts(part)
        if is_open:
            sizes[id(part)] = sum(1 if isinstance(each, Step) else sizes[id(each)] for each in parts)
        else:
            waiting.append((part, True))
            waiting += [(each, False) for each in parts if not isinstance(each, Step)]
            distinct += sum(isinstance(each, Step) for each in parts)
    return distinct, sizes[id(node)]


def _parts(node: object) -> Sequence[object]:
    if isinstance(node, tuple):
        return node
    return [getattr(node, name) for name in getattr(node, "__dataclass_fields__", ())]
