"""Positional views that together stand for one expression: `a[1]/b` and `a[2]/b` for `a/b`, while there are two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from weft.headers.expressions import Expression, pattern_of, position_of, without_position
from weft.plans.plan import Pattern, Rank


@dataclass(frozen=True, slots=True)
class PositionFamily:
    """The views, in the order of their positions from 1 on, of an expression; `place` is the step with the position."""

    expression: Expression
    place: int
    members: tuple[int, ...]

    def beyond(self) -> Pattern:
        """What selects nodes that no member has: where it finds one, none of them may be trusted."""
        link = replace(self.expression[self.place], test=Rank(None, ">", float(len(self.members))))
        return pattern_of((*self.expression[: self.place], link, *self.expression[self.place + 1 :]))


def find_families(expressions: Sequence[Expression]) -> list[PositionFamily]:
    """The families among the expressions of views: positions that begin with 1 and leave none out."""
    found: dict[tuple[Expression, int], dict[int, int]] = {}
    for number, expression in enumerate(expressions):
        for place, link in enumerate(expression):
            if (position := position_of(link)) is not None:
                found.setdefault((without_position(expression, place), place), {})[position] = number
    families = []
    for (expression, place), members in found.items():
        if sorted(members) == list(range(1, len(members) + 1)):
            families.append(PositionFamily(expression, place, tuple(members[at] for at in sorted(members))))
    return families
