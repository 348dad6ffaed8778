"""What was counted of test groups in, what their parts cost in seconds out; unit costs are measured on this machine."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from weft.columns.integers import Flags, Ints, Longs
from weft.engine.access import TestGroups
from weft.engine.statistics import Amounts, GroupCounts

_ENOUGH = 16  # times that something was asked, or could have come up, before it is known how often it holds


@dataclass(frozen=True, slots=True)
class GroupUnitCosts:
    """Seconds. Their proportions are those of the compiled evaluation; `measured` fits them to a machine."""

    value: float = 70e-9  # a value that is looked up among the constants of a group
    fact: float = 55e-9  # what comes up: sifted, noted, and told to what it drives
    asked: float = 14e-9  # a part that is asked for and known
    worked: float = 60e-9  # one that is not: to go down, and to note what was found
    node: float = 1.2e-9  # each node that is gone over on the way
    tested: float = 10e-9  # each value that is compared

    def times(self, factor: float) -> GroupUnitCosts:
        """The same on a machine that takes so many times as long."""
        return replace(self, **{name: getattr(self, name) * factor for name in self.__slots__})


@dataclass(frozen=True, slots=True, eq=False)
class PartCosts:
    """By group, of a document: how often a part holds where it is asked for, and what it costs to find out."""

    passing: Amounts  # not-a-number: not known
    looked_at: Amounts  # seconds to ask for a part once, where it is out
    rows: Amounts  # at which it can be asked for
    retrieved: Amounts  # seconds for the values of a group to be looked up, whatever comes of it
    facts: Amounts  # that a part brings up, if it drives or is in
    worked_share: Amounts  # of what is asked for what is not known yet


def part_costs(groups: TestGroups, counts: GroupCounts, costs: GroupUnitCosts, driven: tuple[Longs, Ints]) -> PartCosts:
    """What parts cost; `driven` are the groups of conjunctions' drivers, and the conjunctions."""
    with np.errstate(divide="ignore", invalid="ignore"):
        came = np.bincount(driven[0], counts.came[driven[1]], len(groups))
        could = np.bincount(driven[0], minlength=len(groups)) * counts.rows
        by_coming = np.where(could * counts.documents >= _ENOUGH, np.minimum(came / could, 1.0), np.nan)
        asked = counts.asked * counts.documents
        passing = np.where(asked >= _ENOUGH, (counts.met * counts.documents + 0.5) / (asked + 1), by_coming)
        share = np.where(asked >= _ENOUGH, np.clip(counts.worked / counts.asked, 0.0, 1.0), 1.0)
        values_a_row = np.where(counts.rows > 0, counts.values / counts.rows, 1.0)
        each = 1 - (1 - np.minimum(passing, 1 - 1e-9)) ** (1 / np.maximum(values_a_row, 1e-9))
        facts = np.where(groups.is_comparison, counts.values * each, counts.values)
    share = np.where(counts.worked > 0, share, 1.0)  # what is in is never worked out: then nothing is known of that
    own = np.where(groups.example >= 0, costs.node * counts.walked + costs.tested * np.maximum(values_a_row, 1.0), 0.0)
    looked_at = costs.asked + share * (costs.worked + own)
    retrieved = np.where(groups.is_comparison, counts.values * costs.value, counts.values * costs.fact)
    return PartCosts(passing, looked_at, counts.rows, retrieved, facts, share)


def eligible(groups: TestGroups, can: Flags) -> Flags:
    """The groups whose parts can be in."""
    marks = can[np.maximum(groups.example, 0)]
    marks[0] = False
    return marks
