"""Numbers of queries in, the times of all ways on the feed stream out (section 6.3, figure 16)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bench.joins.arena import Arena, Standing, Terms, no_garbage
from bench.joins.workload import FEED, make_items, make_queries
from bench.measure import Child, ChildLostError

BATCH = 200  # documents that every way joins at once
_WARM_UP = 2  # batches
_CHECKED = 2
_ONE_BY_ONE = 3  # batches in which single queries take part
_SEED = 1
_TIMEOUT = 300.0


@dataclass(frozen=True, slots=True)
class FeedEffort:
    """How much is measured."""

    sizes: tuple[int, ...] = (1_000, 10_000, 100_000, 1_000_000)
    state: int = 225_000  # the items of the paper's stream
    batches: int = 4
    sampled: int = 12
    memory_queries: int = 10_000


def measure_feed(effort: FeedEffort, after_size: Callable[[], object]) -> list[Standing]:
    """Every number of queries on the same documents: first some that are checked, then the state, then new ones."""
    documents = list(make_items(effort.state + (_WARM_UP + effort.batches) * BATCH, _SEED))
    state, fresh = documents[: effort.state], documents[effort.state :]
    batches = [fresh[start : start + BATCH] for start in range(0, len(fresh), BATCH)]
    checked = [state[number * BATCH : (number + 1) * BATCH] for number in range(_CHECKED)]
    queries = make_queries(FEED, max(effort.sizes), _SEED)
    found = []
    for size in effort.sizes:
        arena = Arena(queries.first(size), Terms(sampled=effort.sampled))
        for batch in checked:
            arena.check(batch)
        arena.fill(state[_CHECKED * BATCH :])
        with no_garbage():
            for batch in batches[:_WARM_UP]:
                arena.hold(batch, with_sequential=False)
            arena.choose()
            rounds = [arena.hold(batch, at < _ONE_BY_ONE) for at, batch in enumerate(batches[_WARM_UP:])]
        found.append(arena.standing(effort.state, rounds))
        arena.close()
        after_size()
    return found


def measure_memory(effort: FeedEffort) -> float | None:
    """The bytes by which a process grows with each document of the state."""
    child = Child("bench.joins.memory", effort.memory_queries, effort.state)
    try:
        return float(child.ask(None, _TIMEOUT))
    except ChildLostError:
        return None
    finally:
        child.close()
