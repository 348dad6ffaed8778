"""A shape and some of its documents in, the documents of all its blocks and their bindings out: exactly, by search.

The quick way knows which documents have values in common. Here it is decided whether they really match: with windows,
with the other blocks of a chain, and, where a variable has several nodes, with one binding that meets all conditions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

import numpy as np

from weft.columns.integers import Ints, contains, distinct
from weft.joins.compile.shapes import Condition, Shape
from weft.joins.match.assignments import Assignments
from weft.joins.match.bindings import Bindings
from weft.joins.match.layout import At
from weft.joins.match.layouts import Layouts, Nodes
from weft.joins.match.state import Held, State
from weft.joins.match.unfollowed import Unfollowed
from weft.joins.match.value_codes import ValueCodes

#: The blocks that are still without a document, one after the other, each with an equality that leads to it.
SearchOrder = Sequence[tuple[int, Condition]]
_KEPT = 256  # documents whose bindings are known
_LARGE = 1_000_000  # nodes and edges of these documents
_FREE = 100_000  # documents and nodes that may be tried, however few messages are allowed
_FOR_EACH = 2  # and so many for each message that is
_LOOKUP = 10  # nodes that one look into the postings is worth


class TooManyError(Exception):
    """A query would try more than it may; what it says is the reason."""


class Tries:
    """How many documents and nodes a query may still try for one new document."""

    __slots__ = ("_left", "_most")

    def __init__(self, most: int) -> None:
        self._left = self._most = most

    def spend(self, number: int) -> None:
        """Try so many; raises TooManyError beyond the most."""
        self._left -= number
        if self._left < 0:
            raise TooManyError(f"to be joined, more than {self._most:,} documents and nodes would have to be tried")


class Search:
    """Searches the state. `most` is how many messages a query may make of one new document."""

    def __init__(self, state: State, values: ValueCodes, most: int) -> None:
        self._state, self._values, self.most = state, values, most
        self._layouts = Layouts()
        self._known: dict[int, tuple[Held, Bindings]] = {}
        self._size = 0  # of these

    def tries(self) -> Tries:
        """What a query may try for one new document."""
        return Tries(_FREE + _FOR_EACH * self.most)

    def _bindings(self, one: Held) -> Bindings:
        """The bindings of a document; those asked for lately are known."""
        known = self._known.get(id(one))
        if known is None or known[0] is not one:
            self._size += one.rows[1] - one.rows[0] + one.edges[1] - one.edges[0]
            if len(self._known) >= _KEPT or self._size > _LARGE:
                self._known.clear()
                self._size = 0
            known = self._known[id(one)] = one, Bindings(one)
        return known[1]

    # -- windows

    def is_within(self, shape: Shape, join: int, before: Held, after: Held) -> bool:
        """Whether two documents, of the block before a join and behind it, are near enough and in order."""
        joined = shape.joins[join]
        if before is after or before.sequence == after.sequence:
            return False
        if joined.operator != "JOIN" and not after.timestamp > before.timestamp:
            return False
        window = joined.window
        if window.nanoseconds is not None:
            return abs(after.timestamp - before.timestamp) <= window.nanoseconds
        if window.documents is None:
            return True
        is_forward = before.sequence < after.sequence
        earlier, later = (before, after) if is_forward else (after, before)
        stream = shape.sides[join if is_forward else join + 1].stream
        return int(self._state.history.between(stream, earlier.sequence, later.sequence)) < window.documents

    # -- chains

    def complete(
        self, shape: Shape, newest: int, order: SearchOrder, given: dict[int, Held], since: int, tries: Tries
    ) -> Iterator[tuple[Held, ...]]:
        """All ways to give the blocks of a shape documents, where some have theirs, the others in this order.

        The newest document is that of block `newest`, and no block before has the same, so that each way comes once.
        Documents that came before `since` are not seen.
        """
        chosen, limit = dict(given), given[newest].sequence
        if not order:
            yield tuple(chosen[block] for block in range(shape.present))
            return
        left = [self._next_candidates(shape, order[0][0], chosen, tries)]  # for each block so far
        while left:
            block = order[len(left) - 1][0]
            chosen.pop(block, None)
            one = next(left[-1], None)
            if one is None:
                left.pop()
                continue
            if one.arrival < since or one.sequence > limit or (one.sequence == limit and block < newest):
                continue
            chosen[block] = one
            if not self.is_near(shape, block, chosen):
                continue
            if len(left) == len(order):
                yield tuple(chosen[block] for block in range(shape.present))
            else:
                left.append(self._next_candidates(shape, order[len(left)][0], chosen, tries))

    def _next_candidates(self, shape: Shape, block: int, chosen: dict[int, Held], tries: Tries) -> Iterator[Held]:
        """The documents that all equalities with what is chosen allow for a block."""
        conditions = []
        for each in shape.conditions(shape.present):
            ends = {each.left[0], each.right[0]}
            if each.operator == "=" and block in ends and ends - {block} <= chosen.keys():
                conditions.append(each)
        return self._candidates(shape, block, conditions, chosen, tries)

    def _candidates(
        self, shape: Shape, block: int, conditions: Sequence[Condition], given: dict[int, Held], tries: Tries
    ) -> Iterator[Held]:
        """The documents that equalities with documents that are given allow for a block: the rarest leads to them."""
        postings, near = self._state.postings, self._near(shape, block, given)
        allowed: list[list[Ints]] = []
        for variable, values in (self._allowed(block, condition, given) for condition in conditions):
            tries.spend(len(values) + _LOOKUP)
            allowed.append([part for value in values for part in postings.parts(value, variable, *near)])
        allowed.sort(key=lambda parts: sum(part.size for part in parts))
        places = distinct(np.concatenate([np.zeros(0, np.int64), *allowed[0]]))
        for parts in allowed[1:]:
            tries.spend(places.size)
            there = np.zeros(places.size, bool)
            for part in parts:
                there |= contains(part, places)
            places = places[there]
        held = self._state.held
        for place in places.tolist():
            tries.spend(1)
            if (one := held[place]) is not None:
                yield one

    def _allowed(self, block: int, condition: Condition, given: dict[int, Held]) -> tuple[int, set[int]]:
        """The variable of a block that a condition is on, and the values that what is given allows for it."""
        if condition.left[0] == block:
            (variable, asked), other = condition.values, condition.right[0]
        else:
            (asked, variable), other = condition.values, condition.left[0]
        return variable, self._bindings(given[other]).set_of(asked).codes

    def _near(self, shape: Shape, block: int, given: dict[int, Held]) -> tuple[int, int]:
        """The places between which a document of a block can be, as far as windows in time to its neighbours tell."""
        timestamps = self._state.timestamps
        first, end = 0, timestamps.size
        for join, other in ((block - 1, block - 1), (block, block + 1)):
            if join < 0 or other not in given or join >= len(shape.joins):
                continue
            if shape.joins[join].span is not None:
                continue
            joined, moment = shape.joins[join], given[other].timestamp
            length = joined.window.nanoseconds
            least = moment if joined.operator != "JOIN" and other < block else None
            most = moment if joined.operator != "JOIN" and other > block else None
            if length is not None:
                least, most = moment - length if least is None else least, moment + length if most is None else most
            if least is not None:
                first = max(first, int(np.searchsorted(timestamps, least)))
            if most is not None:
                end = min(end, int(np.searchsorted(timestamps, most, side="right")))
        return first, end

    def is_near(self, shape: Shape, block: int, given: dict[int, Held]) -> bool:
        """Whether a new document is within the windows of its neighbours, as far as these are there."""
        if not shape.has_spans:
            return all(
                self.is_within(shape, join, given[join], given[join + 1])
                for join in (block - 1, block)
                if join >= 0 and join in given and join + 1 in given and join + 1 < shape.present
            )
        for join in range(shape.present - 1):
            before, behind = shape.ends(join)
            if before.start <= block < behind.stop and all(each in given for each in (*before, *behind)):
                ends = (latest(given[each] for each in blocks) for blocks in (before, behind))
                if not self.is_within(shape, join, *ends):
                    return False
        return True

    # -- bindings

    def is_match(self, shape: Shape, documents: Sequence[Held], tries: Tries) -> bool:
        """Whether some binding of the documents meets all conditions."""
        return next(iter(self._assignments(shape, documents, tries)), None) is not None

    def _assignments(self, shape: Shape, documents: Sequence[Held], tries: Tries) -> Assignments:
        tries.spend(0)  # where nothing is left the documents are not looked at
        found = {block: self._bindings(one) for block, one in enumerate(documents)}
        return Assignments(self._layouts.of(shape).present, found, self._values.texts, tries.spend)

    def outputs(self, shape: Shape, documents: Sequence[Held], tries: Tries) -> Iterator[tuple[Nodes, ...]]:
        """The distinct nodes for the output of a match, a tuple for each block."""
        tries.spend(0)
        single = self._single_output(shape, documents)
        if single is not None:
            tries.spend(1)
            yield single
            return
        layout = self._layouts.of(shape)
        assignments, seen = self._assignments(shape, documents, tries), set()
        for nodes in assignments:
            parts = [assignments.options(star, layout.shown, _node) for star, _ in layout.shown_stars]
            for part in product(*parts):
                tries.spend(1)
                output = layout.output(nodes, part)
                if output not in seen:
                    seen.add(output)
                    yield output

    def _single_output(self, shape: Shape, documents: Sequence[Held]) -> tuple[Nodes, ...] | None:
        """The output where each of its variables has one node: whatever the others are bound to, it is the same."""
        shown = []
        for one, side in zip(documents, shape.sides[: shape.present], strict=True):
            variables = [side.variables[place] for place in side.output]
            if not one.multiple.isdisjoint(variables):
                return None
            bindings = self._bindings(one)
            shown.append(tuple(bindings.nodes(variable)[0] for variable in variables))
        return tuple(shown)

    # -- absence

    def unfollowed(self, shape: Shape, documents: Sequence[Held], tries: Tries) -> Iterator[tuple[Nodes, ...]]:
        """The distinct nodes for the output of those bindings of a match that no document follows."""
        layout = self._layouts.of(shape)
        assert layout.absence is not None, "the last block must not follow"
        followers = self._followers(shape, documents, tries)
        assignments = self._assignments(shape, documents, tries)
        yield from Unfollowed(layout, assignments, self._values.texts, tries.spend).outputs(followers)

    def _followers(self, shape: Shape, documents: Sequence[Held], tries: Tries) -> Iterator[Bindings]:
        """The documents that may follow some binding of a match."""
        last, given = shape.present, dict(enumerate(documents))
        before = shape.ends(last - 1)[0].start, last
        equalities = [each for each in shape.joins[-1].conditions if each.operator == "="]
        for one in self._candidates(shape, last, equalities, given, tries):
            if self.is_within(shape, last - 1, latest(documents[slice(*before)]), one):
                yield self._bindings(one)


def latest(documents: Iterable[Held]) -> Held:
    """The document that came last."""
    return max(documents, key=lambda one: one.sequence)


def _node(_: At, node: int) -> int:
    return node
