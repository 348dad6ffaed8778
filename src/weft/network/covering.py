"""Routing queries in, numbers out, and of each set of them as few as want the same documents.

A set of queries is an integer with a bit for each number, so that networks with very many links stay small.
"""

from __future__ import annotations

from collections.abc import Iterator

from weft.network.tokens import mentioned, required
from weft.network.wanted import RoutingQuery
from weft.plans.containment import covers

_MOST_ASKED = 1_000  # pairs of queries that are compared for a new one: what is not asked is not covered


class Covering:
    """The distinct routing queries of a network, by number, and which of them cover which."""

    def __init__(self) -> None:
        self.queries: list[RoutingQuery] = []
        self._numbers: dict[RoutingQuery, int] = {}
        self._coverers: list[int] = []  # for each query the set of those that cover it, without itself
        self._covered = 0  # the set of those that something covers
        self._required: list[frozenset[str]] = []
        self._mentioned: list[frozenset[str]] = []
        self._by_required: dict[str, int] = {}  # each query under one token that it requires; "" if it requires none
        self._by_mentioned: dict[str, int] = {}  # each query under all tokens that it mentions
        self.asked = 0  # pairs that were compared

    def number(self, query: RoutingQuery) -> int:
        """The number of a query, a new one if it is new."""
        known = self._numbers.get(query)
        if known is not None:
            return known
        number = self._numbers[query] = len(self.queries)
        needs, has = required(query.selection), mentioned(query.selection)
        wider, narrower = self._may_cover(has), self._may_be_covered(needs)
        self.queries.append(query)
        self._required.append(needs)
        self._mentioned.append(has)
        self._coverers.append(0)
        self._file(number, needs, has)
        self._compare(number, wider, narrower)
        return number

    def reduce(self, wanted: int) -> int:
        """The set without those that others in it cover.

        One after the other, each only while something that covers it is still there: so two that cover each other do
        not both go, however the proofs go round.
        """
        kept = wanted
        for number in sorted(members(wanted & self._covered), reverse=True):
            if self._coverers[number] & kept:
                kept &= ~(1 << number)
        return kept

    def _may_cover(self, has: frozenset[str]) -> int:
        """Those that require nothing that a new query does not mention."""
        found = self._by_required.get("", 0)
        for token in has:
            found |= self._by_required.get(token, 0)
        return _set(number for number in members(found) if self._required[number] <= has)

    def _may_be_covered(self, needs: frozenset[str]) -> int:
        """Those that mention all that a new query requires."""
        found = (1 << len(self.queries)) - 1
        for token in needs:
            found &= self._by_mentioned.get(token, 0)
        return found

    def _file(self, number: int, needs: frozenset[str], has: frozenset[str]) -> None:
        bit = 1 << number
        rarest = min(needs, key=lambda token: (self._by_required.get(token, 0).bit_count(), token), default="")
        self._by_required[rarest] = self._by_required.get(rarest, 0) | bit
        for token in has:
            self._by_mentioned[token] = self._by_mentioned.get(token, 0) | bit

    def _compare(self, number: int, wider: int, narrower: int) -> None:
        left = _MOST_ASKED
        for other in members(wider):
            left -= 1
            if left >= 0 and self._covers(other, number):
                self._coverers[number] |= 1 << other
                self._covered |= 1 << number
        for other in members(narrower):
            left -= 1
            if left >= 0 and self._covers(number, other):
                self._coverers[other] |= 1 << number
                self._covered |= 1 << other

    def _covers(self, wide: int, narrow: int) -> bool:
        self.asked += 1
        one, other = self.queries[wide], self.queries[narrow]
        return one.stream in ("", other.stream) and covers(one.selection, other.selection)


def members(queries: int) -> Iterator[int]:
    """The numbers in a set, the smallest first."""
    while queries:
        bit = queries & -queries
        yield bit.bit_length() - 1
        queries ^= bit


def _set(numbers: Iterator[int]) -> int:
    found = 0
    for number in numbers:
        found |= 1 << number
    return found
