"""Conjunctions of a shared plan and what their parts cost in, for each its driver, and which groups are in, out.

    in  = rows x value + facts x fact + candidates x asked
    out = candidates x (asked + worked + walked x node + values x tested)

A candidate is what the driver brought up and what cheaper checks have left. All conjunctions of so many parts are
worked out together, as matrices with a row for each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weft.columns.integers import Flags, Ints, Longs
from weft.engine.access import Access, TestGroups
from weft.engine.shared.nodes import NOTHING
from weft.engine.shared.plan import SharedPlan
from weft.engine.statistics import Amounts, GroupCounts
from weft.optimizer.group_costs import GroupUnitCosts, PartCosts, eligible, part_costs

_CLEARLY = 1.5  # times that the driver must cost what another would, before that drives
_BY_FAR = 1.25  # the same of what is out, or in
_LEAST = 0.01  # of the time that evaluating a document takes, which a group that is to be in must spare
_MOST_PARTS = 12  # of a conjunction that is looked at; one with more stays as it is
_TOGETHER = 1 << 14  # conjunctions that are worked out together: a few milliseconds
_PRIOR = 32.0  # documents that the average of a group counts for, beside what a conjunction's own driver brought up


@dataclass(frozen=True, slots=True, eq=False)
class AccessChoice:
    """What was chosen, with the seconds that a document takes as it is and as it would be, as far as parts go."""

    access: Access
    before: float
    after: float
    drives: Ints  # by group how many conjunctions it drives
    is_in: Flags  # by group
    asked: Amounts  # by group how often its parts are asked for
    can: Flags  # by group whether it can be in
    costs: PartCosts


@dataclass(frozen=True, slots=True, eq=False)
class _OfOneSize:
    """Conjunctions of so many parts, a row each; the driver is the first part."""

    rows: Longs  # of the plan's conjunctions
    part: Ints
    is_negated: NDArray[np.bool_]
    group: Ints
    came: Amounts  # how often the driver brings each up


class GroupChoice:
    """One choice, from what is known now; `steps` makes it, and can be left and gone on with between two steps."""

    def __init__(
        self,
        shared: SharedPlan,
        groups: TestGroups,
        counts: GroupCounts,
        access: Access,
        costs: GroupUnitCosts,
        can_be_in: Flags,
    ) -> None:
        self._shared, self._groups, self._counts, self._units = shared, groups, counts, costs
        ands = shared.conjunctions
        self._node, self._start = np.array(ands.node, np.int32), np.array(ands.start, np.int64)
        self._old, self._can = access, eligible(groups, can_be_in)
        has = np.flatnonzero(access.driver != NOTHING)
        self._driven = groups.of_node[access.driver[has]].astype(np.int64), self._node[has]
        self._was_in = np.zeros(len(groups), bool)
        self._was_in[groups.of_node[np.flatnonzero(access.is_in)]] = True
        self._parts = part_costs(groups, counts, costs, self._driven)

    def steps(self) -> Iterator[AccessChoice | None]:
        """None for each step that is not the last, and the choice."""
        parts, size = self._parts, len(self._groups)
        asking = np.where(self._was_in, self._units.asked, parts.looked_at)
        found: list[tuple[_OfOneSize, Longs, Amounts, Amounts]] = []
        for some in self._by_size():
            costs = self._costs(some, asking)
            best = np.argmin(costs, axis=1)
            rows = np.arange(best.size)
            gain = costs[:, 0] - costs[rows, best]
            best[costs[:, 0] < _CLEARLY * costs[rows, best] + 1e-12] = 0
            found.append((some, best, costs, gain))
            yield None
        worth = np.zeros(size)  # by group what it spares to let it drive
        for some, best, _, gain in found:
            moved = best > 0
            worth += np.bincount(some.group[moved, best[moved]], gain[moved], size)
        is_on = (np.bincount(self._driven[0], minlength=size) > 0) | self._was_in
        pays = is_on | (worth > _CLEARLY * parts.retrieved)
        before = after = 0.0
        asked, drives = np.zeros(size), np.zeros(size, np.int32)
        chosen = []
        for some, cheapest, costs, _ in found:
            rows = np.arange(cheapest.size)
            best = np.where(pays[some.group[rows, cheapest]], cheapest, 0)
            before, after = before + float(costs[:, 0].sum()), after + float(costs[rows, best].sum())
            asked += self._asked(some, best, asking)
            drives += np.bincount(some.group[rows, best], minlength=size).astype(np.int32)
            chosen.append((some, best))
            yield None
        is_in, saved = self._ins(asked)
        after += float(parts.retrieved[(drives > 0) & ~is_on].sum()) - saved
        access = self._old.of(self._shared)
        key = self._key(np.where(is_in, self._units.asked, parts.looked_at))
        for some, best in chosen:
            self._put(access, some, best, key)
            yield None
        access.is_in[:] = is_in[self._groups.of_node]
        yield AccessChoice(access, before, after, drives, is_in, asked, self._can, parts)

    def _by_size(self) -> Iterator[_OfOneSize]:
        """Conjunctions with a driver and checks, those with as many parts together."""
        sizes = np.diff(self._start)
        has = (self._old.driver != NOTHING) & (sizes > 0) & (sizes < _MOST_PARTS)
        came = np.bincount(self._driven[0], self._counts.came[self._driven[1]], len(self._groups))
        average: Amounts = came / np.maximum(np.bincount(self._driven[0], minlength=len(self._groups)), 1)
        for size in np.unique(sizes[has]).tolist():
            every = np.flatnonzero(has & (sizes == size))
            for begin in range(0, every.size, _TOGETHER):
                rows = every[begin : begin + _TOGETHER]
                places = self._start[rows][:, None] + np.arange(size)
                part = np.concatenate([self._old.driver[rows][:, None], self._old.check[places]], axis=1)
                negated = np.pad(self._old.is_negated[places] != 0, ((0, 0), (1, 0)))
                group = self._groups.of_node[part]
                weight = self._counts.documents / (self._counts.documents + _PRIOR)
                own = weight * self._counts.came[self._node[rows]] + (1 - weight) * average[group[:, 0]]
                yield _OfOneSize(rows, part, negated, group, own.astype(np.float64))

    def _key(self, asking: Amounts) -> Amounts:
        """By group, and behind that by group where it is negated: what is to be asked first has the least."""
        passing = np.where(np.isnan(self._parts.passing), 0.5, self._parts.passing)
        both = np.concatenate([passing, 1 - passing])
        return np.asarray(np.concatenate([asking, asking]) / np.maximum(1 - both, 1e-6))

    def _costs(self, some: _OfOneSize, asking: Amounts) -> Amounts:
        """By part what a conjunction costs if that drives; infinite where it cannot, or nothing is known of it."""
        parts, units = self._parts, self._units
        passing = parts.passing[some.group]
        known = np.where(np.isnan(passing), 0.5, passing)
        passed = np.where(some.is_negated, 1 - known, known)
        cost, key = asking[some.group], self._key(asking)[some.group + len(self._groups) * some.is_negated]
        order = np.argsort(key, axis=1, kind="stable")
        costs = np.empty(some.part.shape)
        for driver in range(some.part.shape[1]):
            left, rest = np.ones(len(costs)), np.zeros(len(costs))
            for place in range(order.shape[1]):
                at = order[:, place]
                rows = np.arange(at.size)
                is_check = at != driver
                rest += np.where(is_check, left * cost[rows, at], 0.0)
                left *= np.where(is_check, passed[rows, at], 1.0)
            group = some.group[:, driver]
            if driver == 0:
                costs[:, 0] = some.came * (units.fact + rest)
                continue
            candidates = parts.rows[group] * passing[:, driver]
            costs[:, driver] = np.maximum(parts.facts[group], candidates) * units.fact + candidates * rest
        cannot = some.is_negated | np.isnan(passing) | (some.group == 0)
        cannot[:, 0] = False
        return np.where(cannot, np.inf, costs)

    def _asked(self, some: _OfOneSize, best: Longs, asking: Amounts) -> Amounts:
        """By group how often the parts beside the drivers are asked for."""
        passing = self._parts.passing[some.group]
        passed = np.where(np.isnan(passing), 0.5, passing)
        passed = np.where(some.is_negated, 1 - passed, passed)
        key = self._key(asking)[some.group + len(self._groups) * some.is_negated]
        rows, asked = np.arange(best.size), np.zeros(len(self._groups))
        driver = some.group[rows, best]
        candidates = np.nan_to_num(self._parts.rows[driver] * self._parts.passing[driver])
        left = np.where(best == 0, some.came, candidates)
        order = np.argsort(key, axis=1, kind="stable")
        for place in range(order.shape[1]):
            at = order[:, place]
            is_check = at != best
            asked += np.bincount(some.group[rows, at], np.where(is_check, left, 0.0), len(self._groups))
            left = left * np.where(is_check, passed[rows, at], 1.0)
        return asked

    def _ins(self, asked: Amounts) -> tuple[Flags, float]:
        """The groups whose parts that do not drive are in, and what that spares."""
        parts, units = self._parts, self._units
        out = asked * (parts.looked_at - units.asked)
        retrieved = parts.retrieved + self._groups.size * np.nan_to_num(parts.facts, nan=np.inf) * units.fact
        least = np.where(self._was_in, 0.0, _LEAST * self._counts.seconds)
        is_in = np.where(self._was_in, _BY_FAR * out > retrieved, out > _BY_FAR * retrieved + least) & self._can
        gains = np.where(is_in, out - retrieved, 0.0)
        before = np.where(self._was_in, out - retrieved, 0.0)
        return is_in, float((gains - np.where(np.isfinite(before), before, 0.0)).sum())

    def _put(self, access: Access, some: _OfOneSize, best: Longs, key: Amounts) -> None:
        """Write drivers, and checks in their order."""
        rows, size = np.arange(best.size), some.part.shape[1]
        keys = key[some.group + len(self._groups) * some.is_negated]
        keys[rows, best] = -1.0
        order = np.argsort(keys, axis=1, kind="stable")
        part, negated = some.part[rows[:, None], order], some.is_negated[rows[:, None], order]
        places = self._start[some.rows][:, None] + np.arange(size - 1)
        access.driver[some.rows] = part[:, 0]
        access.check[places], access.is_negated[places] = part[:, 1:], negated[:, 1:]
