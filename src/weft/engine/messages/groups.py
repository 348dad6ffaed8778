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
from weft.engine.evaluation.refusals import upper_half
from weft.engine.messages.building import Building
from weft.engine.shared.nodes import NOTHING, Chain
from weft.errors import failure_of
from weft.plans.plan import On, Test

#: What is told of a document that has too many bindings, and how many, or why nobody knows.
Refuse = Callable[[int, int | str], object]
#: What is told of a document and a shape whose lists are too much, and why.
RefuseShape = Callable[[int, int, str], object]


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


def group(shapes: Shapes, follower: Follower, results: Ints, rows: Ints, refuse: RefuseShape) -> Groups:
    """The groups of all simple queries at once, from the nodes of their results; what is too much is refused."""
    at, shape = shapes.of_result.of(results)
    bits = max(int(rows.max(initial=0)), 1).bit_length()
    shape, binding = split_keys(np.sort(join_keys(shape, rows[at], bits)), bits)
    return _in_parts(shapes, follower, shape, binding, refuse)


def _in_parts(shapes: Shapes, follower: Follower, shape: Ints, binding: Ints, refuse: RefuseShape) -> Groups:
    """The groups of bindings. If their lists are too much at once: fewer documents, then fewer shapes."""
    try:
        which, chain = shapes.slots.of(shape)
        starts, ends, nodes = follower.lists(shapes.chains, chain.astype(np.int64), binding[which])
    except MemoryError as error:
        reason = failure_of(error)
    else:
        first = np.searchsorted(which, np.arange(shape.size + 1))
        return Groups(shape, binding, first, starts, ends, nodes)
    document = follower.document_of(binding)
    half = upper_half(document)
    half = upper_half(shape) if half is None else half
    if half is None:
        refuse(int(document[0]), int(shape[0]), reason)
        return _in_parts(shapes, follower, shape[:0], binding[:0], refuse)
    return _joined(*(_in_parts(shapes, follower, shape[part], binding[part], refuse) for part in (~half, half)))


def _joined(left: Groups, right: Groups) -> Groups:
    """Groups of two parts; those of one shape and document stand together as before."""
    lists, nodes = left.starts.size, left.nodes.size
    return Groups(
        np.concatenate([left.shape, right.shape]),
        np.concatenate([left.binding, right.binding]),
        np.concatenate([left.first[:-1], right.first + lists]),
        np.concatenate([left.starts, right.starts + nodes]),
        np.concatenate([left.ends, right.ends + nodes]),
        np.concatenate([left.nodes, right.nodes]),
    )


_DENSE = 16_000_000  # places of a table that are still cheaper than a sort


class Follower:
    """Follows chains for a batch, each from each row once."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation

    def document_of(self, rows: Ints) -> Ints:
        """The documents of rows."""
        return np.asarray(self._evaluation.table.node_document[rows], np.int32)

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
    own_document = evaluation.table.node_document[rows]
    for chain, source in zip(building.chains, building.sources, strict=True):
        held = found[:, source]
        try:
            starts, ends, nodes = follower.lists([chain], np.zeros(held.size, np.int64), held)
        except MemoryError as error:
            parts = _halves(rows, own_document)
            if not parts:
                refuse(int(own_document[0]), failure_of(error))
            for part in parts:
                yield from tuples_of(building, follower, evaluation, part, most, refuse)
            return
        counts = np.bincount(evaluation.table.node_document[found[:, 0]], ends - starts)
        if counts.max(initial=0) > most:
            for at in np.flatnonzero(counts > most).tolist():
                refuse(at, int(counts[at]))
            rows = rows[counts[own_document] <= most]
            yield from tuples_of(building, follower, evaluation, rows, most, refuse)
            return
        if counts.sum() > most:
            for part in _halves(rows, own_document):
                yield from tuples_of(building, follower, evaluation, part, most, refuse)
            return
        which, inside = expand(starts, ends)
        found = np.column_stack([found[which], nodes[inside]])
    yield found if building.where is None else _passing(building, building.where, evaluation, found)


def _halves(rows: Ints, document: Ints) -> list[Ints]:
    """The rows of about half of the documents, and those of the others; nothing where there is one document."""
    present = np.unique(document)
    middle = int(np.searchsorted(document, present[present.size // 2]))
    return [rows[:middle], rows[middle:]] if present.size > 1 else []


def _passing(building: Building, where: Test, evaluation: Evaluation, found: Ints) -> Ints:
    node_of = dict(building.checks)

    def holds(test: Test) -> Flags:
        """A test on one variable."""
        assert isinstance(test, On)
        return evaluation.holds(np.full(len(found), node_of[test], np.int32), found[:, test.variable])

    return np.asarray(found[passing(where, len(found), holds)])
