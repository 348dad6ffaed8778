"""A shape and some of its documents in, the documents of all its blocks and their bindings out: exactly, by search.

The quick way knows which documents have values in common. Here it is decided whether they really match: with windows,
with the other blocks of a chain, and, where a variable has several nodes, with one binding that meets all conditions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weft.joins.compile.shapes import Condition, Shape
from weft.joins.match.bindings import Bindings
from weft.joins.match.readings import stands
from weft.joins.match.state import Held, State
from weft.joins.match.witness import NO_VALUE, ValueCodes

Nodes = tuple[int, ...]
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
        left = [iter(self._candidates(shape, *order[0], chosen, tries))]  # for each block so far
        while left:
            block = order[len(left) - 1][0]
            one = next(left[-1], None)
            if one is None:
                left.pop()
                chosen.pop(block, None)
                continue
            if one.arrival < since or one.sequence > limit or (one.sequence == limit and block < newest):
                continue
            chosen[block] = one
            if not self.is_near(shape, block, chosen):
                continue
            if len(left) == len(order):
                yield tuple(chosen[block] for block in range(shape.present))
            else:
                left.append(iter(self._candidates(shape, *order[len(left)], chosen, tries)))

    def _candidates(
        self, shape: Shape, block: int, condition: Condition, given: dict[int, Held], tries: Tries
    ) -> list[Held]:
        """The documents that a condition with a document that is given allows for a block."""
        variable, values = self._allowed(shape, block, condition, given)
        places: dict[int, None] = {}
        tries.spend(len(values))
        for value in values:
            places.update(dict.fromkeys(self._state.postings.documents(value, variable).tolist()))
        tries.spend(len(places) + _LOOKUP)
        held = self._state.held
        return [one for place in sorted(places) if (one := held[place]) is not None]

    def _allowed(self, shape: Shape, block: int, condition: Condition, given: dict[int, Held]) -> tuple[int, set[int]]:
        """The variable of a block that a condition is on, and the values that what is given allows for it."""
        ends = (condition.left, condition.right), condition.values
        (_, there), (variable, asked) = ends if condition.left[0] == block else (each[::-1] for each in ends)
        values = set(self._bindings(given[there[0]]).values(asked).values()) - {NO_VALUE}
        return variable, values

    def _commonness(self, shape: Shape, block: int, condition: Condition, given: dict[int, Held]) -> int:
        """How often the values that a condition allows for a block stand in documents."""
        variable, values = self._allowed(shape, block, condition, given)
        return sum(self._state.postings.count(value, variable) for value in values)

    def is_near(self, shape: Shape, block: int, given: dict[int, Held]) -> bool:
        """Whether a new document is within the windows of its neighbours, as far as these are there."""
        return all(
            self.is_within(shape, join, given[join], given[join + 1])
            for join in (block - 1, block)
            if join >= 0 and join in given and join + 1 in given and join + 1 < shape.present
        )

    # -- bindings

    def outputs(self, shape: Shape, documents: Sequence[Held], tries: Tries) -> Iterator[tuple[Nodes, ...]]:
        """The distinct nodes for the output of a match, a tuple for each block."""
        tries.spend(0)  # where nothing is left the documents are not looked at
        single = self._single_output(shape, documents)
        if single is not None:
            tries.spend(1)
            yield single
            return
        seen: set[tuple[Nodes, ...]] = set()
        for bound in self.bindings(shape, documents, tries):
            shown = tuple(
                tuple(nodes[place] for place in side.output)
                for nodes, side in zip(bound, shape.sides[: shape.present], strict=True)
            )
            if shown not in seen:
                seen.add(shown)
                yield shown

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

    def is_match(self, shape: Shape, documents: Sequence[Held], tries: Tries) -> bool:
        """Whether some binding of the documents meets all conditions."""
        return next(self.bindings(shape, documents, tries), None) is not None

    def bindings(self, shape: Shape, documents: Sequence[Held], tries: Tries) -> Iterator[tuple[Nodes, ...]]:
        """All bindings of the blocks of a match that meet all conditions among them."""
        tries.spend(0)  # where nothing is left the documents are not looked at
        yield from self._extend(shape, [self._bindings(one) for one in documents], [], tries)

    def _extend(
        self, shape: Shape, found: list[Bindings], bound: list[Nodes], tries: Tries
    ) -> Iterator[tuple[Nodes, ...]]:
        if len(bound) == len(found):
            yield tuple(bound)
            return
        for nodes in self._assignments(shape, found, bound, tries):
            yield from self._extend(shape, found, [*bound, nodes], tries)

    def _assignments(
        self, shape: Shape, found: Sequence[Bindings], bound: Sequence[Nodes], tries: Tries
    ) -> Iterator[Nodes]:
        """All ways to give the variables of the next block nodes that meet its conditions with the blocks before."""
        side = shape.sides[len(bound)]
        nodes: list[int] = []

        def extend() -> Iterator[Nodes]:
            if len(nodes) == len(side.variables):
                yield tuple(nodes)
                return
            some = self._choices(shape, found, bound, nodes, tries)
            tries.spend(len(some) + 1)
            for node in some:
                nodes.append(node)
                yield from extend()
                nodes.pop()

        return extend()

    def _choices(
        self, shape: Shape, found: Sequence[Bindings], bound: Sequence[Nodes], nodes: Sequence[int], tries: Tries
    ) -> list[int]:
        """The nodes that the next variable of a block may have, as those before it have theirs."""
        block, place = len(bound), len(nodes)
        side, here = shape.sides[block], found[block]
        variable, above, edge = side.variables[place], side.parents[place], side.edges[place]
        some = here.nodes(variable) if above < 0 else here.below(edge, nodes[above])
        tests = []
        for condition in shape.joins[block - 1].conditions if block else ():
            if condition.right[1] == place:
                other, at = condition.left
                value = found[other].values(condition.values[0])[bound[other][at]]
                tests.append((value, condition))
                equal = here.valued(condition.values[1], value) if condition.operator == "=" else some
                if len(equal) < len(some):  # few have the value: whether they are below is looked up
                    some = [node for node in equal if above < 0 or here.is_below(edge, nodes[above], node)]
        for value, condition in tests:
            tries.spend(len(some))
            some = [node for node in some if self._stands(value, condition, here.values(condition.values[1])[node])]
        return some

    def _stands(self, left: int, condition: Condition, right: int) -> bool:
        """Whether two coded values stand in a condition's relation."""
        if condition.operator in ("=", "!="):
            return (left == right != NO_VALUE) is (condition.operator == "=")
        if NO_VALUE in (left, right):
            return False
        return stands(self._values.texts[left], condition.operator, self._values.texts[right])

    # -- absence

    def is_followed(self, shape: Shape, documents: Sequence[Held], bound: Sequence[Nodes], tries: Tries) -> bool:
        """Whether a document that must not follow does follow a binding of the blocks before."""
        last = shape.present
        joined = shape.joins[-1]
        given = dict(enumerate(documents))
        equalities = [each for each in joined.conditions if each.operator == "="]
        condition = min(equalities, key=lambda each: self._commonness(shape, last, each, given))
        for one in self._candidates(shape, last, condition, given, tries):
            if self.is_within(shape, last - 1, documents[-1], one):
                found = [self._bindings(each) for each in (*documents, one)]
                if next(self._assignments(shape, found, bound, tries), None) is not None:
                    return True
        return False
