"""The first bindings of a batch in, groups of lists of nodes out: what each return of each FLWR query is made of.

This is the paper's groupSequence-listSequence as columns, for all queries together: first the bindings of the other
variables, one after the other, then what the where clauses ask of several, then the lists, into which groups point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from weft.columns.integers import Flags, Ints, Longs, expand, join_keys, split_keys
from weft.engine.evaluation.booleans import passing
from weft.engine.evaluation.refusals import upper_half
from weft.engine.messages.follower import Follower
from weft.engine.messages.shapes import Shapes
from weft.engine.shared.nodes import NOTHING
from weft.errors import failure_of
from weft.plans.plan import On, Test

_AT_ONCE = 1 << 22  # bindings that are made at once; more come in several parts


class UnboundError(MemoryError):
    """The bindings of several variables are too much: nobody knows which there are."""


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups sorted by shape and document; the lists of group g are those from `first[g]` to below `first[g + 1]`."""

    shape: Ints
    bindings: Ints  # a row for each variable; NOTHING where a shape has fewer
    first: Longs
    starts: Longs
    ends: Longs
    nodes: Ints

    @property
    def binding(self) -> Ints:
        """What the first variable binds."""
        return np.asarray(self.bindings[0])


@dataclass(frozen=True, slots=True)
class Refusing:
    """What is told of a document and a shape: too many bindings and how many, or lists that are too much and why."""

    most: int  # bindings that a query may have in one document
    many: Callable[[int, int, int], object]
    lists: Callable[[int, int, str], object]
    unknown: Callable[[int, int, str], object]


def group(
    shapes: Shapes, follower: Follower, results: Ints, rows: Ints, is_wanted: Flags, refusing: Refusing
) -> Iterator[Groups]:
    """The groups of the shapes that are wanted, from the nodes of their results, in parts; too much is refused."""
    known = results < shapes.of_result.starts.size - 1
    at, shape = shapes.of_result.of(results[known])
    wanted = is_wanted[shape]
    shape, rows = shape[wanted], rows[known][at[wanted]]
    bits = max(int(rows.max(initial=0)), 1).bit_length()
    shape, rows = split_keys(np.sort(join_keys(shape, rows, bits)), bits)
    if not shape.size:
        return
    yield from _Grouping(shapes, follower, refusing).in_parts(shape, rows)


def joined(parts: Iterable[Groups]) -> Groups:
    """Parts as one."""
    parts = list(parts) or [_NONE]
    most = max(len(part.bindings) for part in parts)
    lists = np.cumsum([0, *(part.starts.size for part in parts)])
    nodes = np.cumsum([0, *(part.nodes.size for part in parts)])
    firsts = [part.first[:-1] + before for part, before in zip(parts, lists, strict=False)]
    return Groups(
        np.concatenate([part.shape for part in parts]),
        np.concatenate([_padded(part.bindings, most) for part in parts], axis=1),
        np.concatenate([*firsts, lists[-1:]]),
        np.concatenate([part.starts + before for part, before in zip(parts, nodes, strict=False)]),
        np.concatenate([part.ends + before for part, before in zip(parts, nodes, strict=False)]),
        np.concatenate([part.nodes for part in parts]),
    )


class _Grouping:
    def __init__(self, shapes: Shapes, follower: Follower, refusing: Refusing) -> None:
        self._shapes, self._follower, self._refusing = shapes, follower, refusing
        self._several = np.diff(shapes.variables.starts)  # variables beside the first

    def in_parts(self, shape: Ints, rows: Ints) -> Iterator[Groups]:
        """The groups of first bindings. If they are too much at once: fewer documents, then fewer shapes."""
        try:
            made = self._grouped(shape, rows)
        except MemoryError as error:
            failure = error
        else:
            yield made
            return
        document = self._follower.document_of(rows)
        half = upper_half(document)
        half = upper_half(shape) if half is None else half
        if half is None:
            told = self._refusing.unknown if isinstance(failure, UnboundError) else self._refusing.lists
            told(int(document[0]), int(shape[0]), failure_of(failure.__cause__ or failure))
            return
        for part in (~half, half):
            yield from self.in_parts(shape[part], rows[part])

    def _grouped(self, shape: Ints, rows: Ints) -> Groups:
        try:
            shape, bindings = self._bound(shape, rows)
        except MemoryError as error:
            raise UnboundError from error
        slots = self._shapes.slots
        which, inside = expand(slots.starts[shape], slots.starts[shape + np.int64(1)])
        held = bindings[self._shapes.slot_variables[inside], which]
        starts, ends, nodes = self._follower.lists(slots.entries[inside], held)
        return Groups(shape, bindings, np.searchsorted(which, np.arange(shape.size + 1)), starts, ends, nodes)

    def _bound(self, shape: Ints, rows: Ints) -> tuple[Ints, Ints]:
        """The bindings of all variables, in the order of the queries' loops, and their shapes.

        They are counted before they are made, and a document that would have more than a query may is refused.
        """
        bindings = rows[None, :]
        variables, sources = self._shapes.variables, self._shapes.sources
        for number in range(int(self._several[shape].max(initial=0))):
            more = np.flatnonzero(self._several[shape] > number)
            entry = variables.starts[shape[more]] + number
            starts, ends, nodes = self._follower.lists(variables.entries[entry], bindings[sources[entry], more])
            counts = np.ones(shape.size, np.int64)
            counts[more] = ends - starts
            keep = self._within(shape, bindings[0], counts)
            counts[~keep] = 0
            if (total := int(counts.sum())) > max(_AT_ONCE, self._refusing.most):
                raise MemoryError(f"{total} bindings at once, more than {_AT_ONCE}")
            begins = np.zeros(shape.size, np.int64)
            begins[more] = starts
            which = np.repeat(np.arange(shape.size), counts)
            inside = begins[which] + np.arange(which.size) - (np.cumsum(counts) - counts)[which]
            has_more = self._several[shape[which]] > number
            bound = np.full(which.size, NOTHING, np.int32)
            bound[has_more] = nodes[inside[has_more]]
            shape, bindings = shape[which], np.concatenate([bindings[:, which], bound[None, :]])
        passed = self._passing(shape, bindings)
        return (shape, bindings) if passed is None else (shape[passed], bindings[:, passed])

    def _within(self, shape: Ints, rows: Ints, counts: Longs) -> Flags:
        """The entries of documents that have no more bindings of a shape than a query may have."""
        most = self._refusing.most
        keep = np.ones(shape.size, bool)
        if counts.sum() > most:
            document = self._follower.document_of(rows)
            _, first, place = np.unique(join_keys(shape, document, 32), return_index=True, return_inverse=True)
            sums = np.bincount(place, counts).astype(np.int64)
            for at in np.flatnonzero(sums > most).tolist():
                self._refusing.many(int(document[first[at]]), int(shape[first[at]]), int(sums[at]))
            keep = sums[place] <= most
        return keep

    def _passing(self, shape: Ints, bindings: Ints) -> Flags | None:
        """What the where clauses leave, where they ask for several variables: clauses of one form together."""
        condition = self._shapes.condition[shape]
        present = np.unique(condition[condition != NOTHING]).tolist()
        if not present:
            return None
        keep = np.ones(shape.size, bool)
        for number in present:
            here = np.flatnonzero(condition == number)
            first = self._shapes.checks.starts[shape[here]]
            inner = bindings[:, here]

            def holds(test: Test, first: Longs = first, inner: Ints = inner) -> Flags:
                """A test on one variable."""
                assert isinstance(test, On)
                nodes = self._shapes.checks.entries[first + test.variable]
                asked = self._shapes.check_variables[first + test.variable]
                return self._follower.holds(nodes, inner[asked, np.arange(first.size)])

            keep[here] = passing(self._shapes.conditions[number], here.size, holds)
        return keep


def _padded(bindings: Ints, rows: int) -> Ints:
    missing = np.full((rows - len(bindings), bindings.shape[1]), NOTHING, np.int32)
    return np.concatenate([bindings, missing]) if len(missing) else bindings


_NO_INTS, _NO_LONGS = np.zeros(0, np.int32), np.zeros(0, np.int64)
_NONE = Groups(_NO_INTS, _NO_INTS[None, :], np.zeros(1, np.int64), _NO_LONGS, _NO_LONGS, _NO_INTS)
