"""A selection with set operations in, its results and the operations on them out."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from weft.engine.messages.outcome import Compound
from weft.plans.plan import Pattern, Selection


def compound_of(selection: Selection, result_of: Callable[[Pattern], int]) -> Compound:
    """A selection with results in the place of its patterns."""
    if isinstance(selection, Pattern):
        return result_of(selection)
    return selection.operator, tuple(compound_of(part, result_of) for part in selection.parts)


def results_in(compound: Compound) -> Iterator[int]:
    """The results that an operation is on."""
    if isinstance(compound, int):
        yield compound
    else:
        for part in compound[1]:
            yield from results_in(part)
