"""Moves and links in, walks that are as short as they can be out, and what they need to lead anywhere."""

from __future__ import annotations

from dataclasses import replace

from weft.documents.kind import Kind
from weft.plans.formulas import Formula, FormulaAxis, Move, Walk, is_positional
from weft.plans.plan import Link

_KINDS: dict[Kind, FormulaAxis] = {Kind.ELEMENT: "child", Kind.TEXT: "child", Kind.ATTRIBUTE: "attribute"}


def with_moves(start: Formula, moves: list[Move]) -> Formula:
    """A walk on from nodes: `//` before a child without positions is one step to descendants, and `.` none."""
    short: list[Move] = list(start.moves) if isinstance(start, Walk) else []
    for move in moves:
        if move.axis == "self" and move.kind is None and not move.conditions:
            continue
        before = short[-1] if short else None
        is_below = before is not None and (before.axis, before.kind, before.conditions) == (
            "descendant-or-self",
            None,
            (),
        )
        if is_below and move.axis == "child" and not any(map(is_positional, move.conditions)):
            short[-1] = replace(move, axis="descendant")
        else:
            short.append(move)
    if not isinstance(start, Walk):
        return Walk(start, tuple(short)) if short else start
    return Walk(start.start, tuple(short))


def steps_of_links(links: tuple[Link, ...]) -> list[Move] | None:
    """The moves of links without tests; nothing where there are some."""
    moves: list[Move] = []
    for link in links:
        if link.test is not None:
            return None
        for step in link.path:
            if step.deep:
                moves.append(Move("descendant-or-self", None, "*"))
            label = "*" if step.kind is Kind.TEXT else step.label
            moves.append(Move(_KINDS[step.kind], step.kind, label))
    return moves
