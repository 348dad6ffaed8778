"""Selections in, the patterns that they are made of out."""

from __future__ import annotations

from collections.abc import Iterator

from weft.plans.plan import Combine, Pattern, Selection


def is_union(selection: Selection) -> bool:
    """Whether a selection is patterns put together and nothing else."""
    if isinstance(selection, Pattern):
        return True
    return selection.operator == "union" and all(map(is_union, selection.parts))


def patterns(selection: Selection) -> Iterator[Pattern]:
    """The patterns of a selection, from left to right."""
    match selection:
        case Pattern():
            yield selection
        case Combine(_, parts):
            for part in parts:
                yield from patterns(part)
