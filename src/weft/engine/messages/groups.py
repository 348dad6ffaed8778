"""The bindings of a batch in, groups of lists of nodes out: what each return of each FLWR query is made of.

This is the paper's groupSequence-listSequence as columns. Lists are looked up once for each chain and binding,
whichever queries ask for them (its shared GroupBy), and groups point into them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from weft.columns.integers import Flags, Ints, Longs, distinct, expand, join_keys, split_keys
from weft.columns.ragged import Ragged
from weft.engine.evaluation.booleans import passing
from weft.engine.evaluation.evaluate import Evaluation
from weft.engine.evaluation.linked import follow
from weft.engine.messages.building import Building
from weft.engine.shared.plan import NOTHING, Chain
from weft.plans.plan import On, Test

#: What is told of a document that has too many bindings, and how many.
Refuse = Callable[[int, int], object]


@dataclass(frozen=True, slots=True)
class Shapes:
    """What simple FLWR queries have in common: a result whose nodes are the bindings, and the chains of the slots."""

    results: Ints  # of each shape
    of_result: Ragged
    chains: list[Chain]
    slots: Ragged  # of each shape, as places of `chains`


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups sorted by shape and binding; the lists of group g are those from `first[g]` to below `first[g + 1]`."""

    shape: Ints
    binding: Ints
    first: Longs
    starts: Longs
    ends: Longs
    nodes: Ints


def group(shapes: Shapes, follower: Follower, results: Ints, rows: Ints) -> Groups:
    """The groups of all simple queries at once, from the nodes of their results."""
    at, shape = shapes.of_result.of(results)
    bits = max(int(rows.max(initial=0)), 1).bit_length()
    shape, binding = split_keys(np.sort(join_keys(shape, rows[at], bits)), bits)
    which, chain = shapes.slots.of(shape)
    starts, ends, nodes = follower.lists(shapes.chains, chain.astype(np.int64), binding[which])
    first = np.searchsorted(which, np.arange(shape.size + 1))
    return Groups(shape, binding, first, starts, ends, nodes)


_DENSE = 16_000_000  # places of a table that are still cheaper than a sort


class Follower:
    """Follows chains for a batch, each from each row once."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation

    def lists(self, chains: list[Chain], at: Longs, rows: Ints) -> tuple[Longs, Longs, Ints]:
        """For rows, each with the place of its chain: where its list starts and ends in the nodes that come last."""
        width = max(self._evaluation.table.nodes, 1)
        keys = at * np.int64(width) + rows
        if len(chains) * width <= _DENSE:  # few combinations: look them up in a table instead of sorting
            marks = np.zeros(len(chains) * width, bool)
            marks[keys] = True
            wanted = np.flatnonzero(marks)
            places = np.empty(marks.size, np.int32)
            places[wanted] = np.arange(wanted.size, dtype=np.int32)
            place = places[keys]
        else:
            wanted = distinct(keys)
            place = np.searchsorted(wanted, keys)
        with self._evaluation.profile("GroupBy"):
            origin, nodes = self._follow(chains, wanted // width, (wanted % width).astype(np.int32))
        starts = np.searchsorted(origin, np.arange(wanted.size + 1))
        return starts[place], starts[place + 1], nodes

    def _follow(self, chains: list[Chain], at: Longs, rows: Ints) -> tuple[Longs, Ints]:
        """(position in the input, node), sorted by position."""
        plain = np.array([len(chain) == 1 and chain[0][1] == NOTHING for chain in chains], bool)
        edges = np.array([chain[0][0] if chain else NOTHING for chain in chains], np.int32)
        found = []
        straight = np.flatnonzero(plain[at])
        origin, nodes = self._evaluation.navigation.down(edges[at[straight]], rows[straight])
        found.append((straight[origin], nodes))
        for number in np.unique(at[~plain[at]]).tolist():
            here = np.flatnonzero(at == number)
            origin, nodes = self._one(chains[number], rows[here])
            found.append((here[origin], nodes))
        origin = np.concatenate([entry for entry, _ in found])
        nodes = np.concatenate([entry for _, entry in found])
        order = np.argsort(origin, kind="stable")
        return origin[order], nodes[order]

    def _one(self, chain: Chain, rows: Ints) -> tuple[Longs, Ints]:
        """A chain with tests, or none at all: the row itself."""
        if not chain:
            return np.arange(rows.size), rows
        evaluation = self._evaluation
        starts, nodes = follow(evaluation.table, evaluation.navigation, evaluation.holds, chain, rows)
        return np.searchsorted(rows, starts), nodes


def tuples_of(
    building: Building, follower: Follower, evaluation: Evaluation, rows: Ints, most: int, refuse: Refuse
) -> Iterator[Ints]:
    """The bindings of all variables, a row each, in the order of the query's loops: documents one after the other.

    They are counted before they are made. A document that would have more than `most` is refused; if all would be
    more, they come in several parts.
    """
    found = rows[:, None]
    for chain, source in zip(building.chains, building.sources, strict=True):
        held = found[:, source]
        starts, ends, nodes = follower.lists([chain], np.zeros(held.size, np.int64), held)
        document = evaluation.table.node_document[found[:, 0]]
        counts = np.bincount(document, ends - starts)
        if counts.max(initial=0) > most:
            for at in np.flatnonzero(counts > most).tolist():
                refuse(at, int(counts[at]))
            rows = rows[counts[evaluation.table.node_document[rows]] <= most]
            yield from tuples_of(building, follower, evaluation, rows, most, refuse)
            return
        if counts.sum() > most:
            middle = _middle(evaluation.table.node_document[rows])
            for part in (rows[:middle], rows[middle:]):
                yield from tuples_of(building, follower, evaluation, part, most, refuse)
            return
        which, inside = expand(starts, ends)
        found = np.column_stack([found[which], nodes[inside]])
    yield found if building.where is None else _passing(building, building.where, evaluation, found)


def _middle(document: Ints) -> int:
    """Where about half of the documents of rows end."""
    present = np.unique(document)
    return int(np.searchsorted(document, present[present.size // 2]))


def _passing(building: Building, where: Test, evaluation: Evaluation, found: Ints) -> Ints:
    node_of = dict(building.checks)

    def holds(test: Test) -> Flags:
        """A test on one variable."""
        assert isinstance(test, On)
        return evaluation.holds(np.full(len(found), node_of[test], np.int32), found[:, test.variable])

    return np.asarray(found[passing(where, len(found), holds)])
