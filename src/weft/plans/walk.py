"""A plan in, its parts out: the one walk over frozen nodes."""

from __future__ import annotations

from collections.abc import Iterator
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


def count_steps(node: object) -> int:
    """The steps of all paths in a plan; a part that stands at several places is counted once."""
    steps = 0
    seen: set[int] = set()
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Step):
            steps += 1
            continue
        inner = part if isinstance(part, tuple) else getattr(part, "__dataclass_fields__", None)
        if inner and id(part) not in seen:
            seen.add(id(part))
            waiting += part if isinstance(part, tuple) else [getattr(part, name) for name in inner]
    return steps
