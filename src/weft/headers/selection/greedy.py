"""Algorithm 1 of the paper: discard, again and again, the expression that the fewest remaining servers need."""

from __future__ import annotations

import numpy as np

from weft.columns.integers import Ints
from weft.headers.selection.instance import Instance, rows_of


def select_greedy(instance: Instance, size: int) -> tuple[int, ...]:
    """The expressions that Algorithm 1 leaves, so many at most, in their order; of equals the first is discarded."""
    discarded = discard_order(instance, max(0, len(instance.expressions) - size))
    return tuple(sorted(set(range(len(instance.expressions))).difference(discarded)))


def discard_order(instance: Instance, number: int | None = None) -> tuple[int, ...]:
    """The expressions in the order in which Algorithm 1 discards them, all or so many.

    Line 9 takes the servers of P_x out of all other P_j: each server is taken out once, and lessens the counts of its
    own expressions only, so the whole costs no more than to read the instance, and line 6 a minimum for each turn.
    """
    starts, needed = rows_of(instance.servers)
    server = np.repeat(np.arange(len(instance.servers), dtype=np.int32), np.diff(starts))
    total = len(instance.expressions)
    by_expression = np.argsort(needed, kind="stable")
    servers_of = np.split(server[by_expression], np.searchsorted(needed[by_expression], np.arange(1, total)))
    counts = np.bincount(needed, minlength=total)  # lines 1 to 3: |P_j|
    remains = np.ones(len(instance.servers), bool)
    discarded: list[int] = []
    for _ in range(total if number is None else min(number, total)):  # lines 4 and 5
        least = int(np.argmin(counts))  # line 6
        discarded.append(least)
        missing = servers_of[least][remains[servers_of[least]]]
        remains[missing] = False
        counts -= np.bincount(_of_servers(starts, needed, missing), minlength=total)  # lines 8 to 10
        counts[least] = np.iinfo(counts.dtype).max  # line 7
    return tuple(discarded)


def _of_servers(starts: Ints, needed: Ints, servers: Ints) -> Ints:
    """The expressions of some servers, one after another."""
    lengths = starts[servers + 1] - starts[servers]
    offsets = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return np.asarray(needed[np.repeat(starts[servers], lengths) + offsets], np.int32)
