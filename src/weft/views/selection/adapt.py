"""The views that are stored and a workload that has changed in, the views to have now out: what changes must pay.

A part is fetched only if what it saves over a horizon pays for building it and for what must go to make room, by a
margin. So views are not dropped and rebuilt in turn: a workload that goes back and forth stays below the margin, one
that has changed for good is followed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from weft.errors import ConfigurationError
from weft.views.selection.minimal import Parts
from weft.views.selection.ours import choose
from weft.views.selection.problem import SpaceChoice, SpaceProblem

#: What a change must save beyond what it costs, as a share. With frequencies that fade by a half-life, workloads that
#: take turns within a third of it differ by less than this (2 ** (1 / 3) = 1.26).
MARGIN = 0.25


def adapt(
    current: Iterable[int], problem: SpaceProblem, budget: float, horizon: float, margin: float = MARGIN
) -> SpaceChoice:
    """The candidates to have from now on, given those that are stored; the horizon is in the frequencies' unit."""
    if not horizon > 0 or not margin >= 0:
        raise ConfigurationError(f"expected a horizon above 0 and a margin from 0 on, found {horizon} and {margin}")
    held = frozenset(current)
    spread = _with_building(problem, held, horizon)
    stored = _within(spread, held, budget)
    target = frozenset(choose(spread, budget, stored).numbers)
    droppable = stored - target
    for group in _groups(spread, target - stored):
        dropped = _room_for(spread, stored, group, droppable, budget)
        if dropped is None:
            continue
        without = spread.cost(stored - dropped)
        lost, gained = without - spread.cost(stored), without - spread.cost((stored - dropped) | group)
        building = sum(
            spread.candidates[number].maintenance - problem.candidates[number].maintenance for number in group
        )
        if gained + building > (1 + margin) * (max(lost, 0.0) + building) and gained > 0:
            stored = (stored - dropped) | group
    return problem.chosen(_worth_keeping(problem, stored, droppable, margin))


def _with_building(problem: SpaceProblem, held: frozenset[int], horizon: float) -> SpaceProblem:
    """The same problem, in which what is not there costs its building, spread over the horizon."""
    candidates = (
        each if number in held else replace(each, maintenance=each.maintenance + each.building / horizon)
        for number, each in enumerate(problem.candidates)
    )
    return replace(problem, candidates=tuple(candidates))


def _by_loss(problem: SpaceProblem, stored: frozenset[int], among: Iterable[int]) -> list[int]:
    """Stored candidates, those first that cost least for a byte if they go."""
    cost = problem.cost(stored)
    loss = {each: (problem.cost(stored - {each}) - cost) / problem.candidates[each].size for each in among}
    return sorted(loss, key=lambda each: (loss[each], each))


def _within(problem: SpaceProblem, stored: frozenset[int], budget: float) -> frozenset[int]:
    """What is stored, less what a smaller budget has no room for."""
    while problem.size(stored) > budget:
        stored -= {_by_loss(problem, stored, stored)[0]}
    return stored


def _groups(problem: SpaceProblem, new: frozenset[int]) -> list[frozenset[int]]:
    """New candidates that some query needs together are one change; those that save most for a byte come first."""
    groups = {number: frozenset({number}) for number in new}
    for query in problem.queries:
        asked = {piece for request in query.requests for piece in request.pieces}
        together = [number for number in new if asked.intersection(problem.candidates[number].pieces)]
        merged = frozenset().union(*(groups[number] for number in together))
        groups.update(dict.fromkeys(merged, merged))
    nothing = problem.cost(())
    ratios = {group: (nothing - problem.cost(group)) / problem.size(group) for group in set(groups.values())}
    return sorted(ratios, key=lambda group: (-ratios[group], sorted(group)))


def _room_for(
    problem: SpaceProblem, stored: frozenset[int], group: frozenset[int], droppable: frozenset[int], budget: float
) -> frozenset[int] | None:
    """What must go so that a group fits; nothing if it does not fit whatever goes."""
    over = problem.size(stored | group) - budget
    dropped: set[int] = set()
    for number in _by_loss(problem, stored, droppable & stored) if over > 0 else ():
        dropped.add(number)
        over -= problem.candidates[number].size
        if over <= 0:
            break
    return frozenset(dropped) if over <= 0 else None


def _worth_keeping(
    problem: SpaceProblem, stored: frozenset[int], droppable: frozenset[int], margin: float
) -> frozenset[int]:
    """What is stored, less what costs more to maintain than it saves, by the margin."""
    for number in _by_loss(problem, stored, droppable & stored):
        maintenance = problem.candidates[number].maintenance
        saved = problem.cost(stored - {number}) - problem.cost(stored) + maintenance
        if maintenance > (1 + margin) * saved:
            stored -= {number}
    return stored


def carried(old: Parts, stored: Collection[str], new: Parts, names: Collection[str]) -> frozenset[str]:
    """The parts of a new workload all of whose content is in stored parts of an old one, over the same documents.

    `names` are the queries that both workloads have, by which nodes are told apart in both. A new part's nodes were in
    all the old pieces that these queries do not tell from it, wherever those were.
    """
    common = frozenset(names)
    homes: dict[tuple[str, frozenset[str]], set[str]] = {}
    for piece in old.pieces:
        homes.setdefault((piece.source, piece.signature & common), set()).add(piece.part)
    found = set()
    for piece in new.pieces:
        seen = piece.home & common
        before = homes.get((piece.source, seen), set())
        if seen and before and before.issubset(stored):
            found.add(piece.part)
    return frozenset(found)
