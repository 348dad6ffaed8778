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
