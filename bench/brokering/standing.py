"""Very many FLWR queries that come and go in, how long a call stands still out: in a process where nothing is frozen.

The collector runs as for everybody; what it goes over is Weft's and what Weft needs, so the process is a new one.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle, islice
from random import Random
from typing import NamedTuple

from bench.brokering.workload import Setting, dtd_of, make_documents, make_queries
from bench.measure import Child, ChildLostError, timed
from weft import Broker

_BETWEEN = 40  # subscriptions from one document to the next
_DOCUMENTS = 200
_TIMEOUT = 1_800.0


class Standing(NamedTuple):
    """The longest calls in milliseconds: of `subscribe` while the queries are loaded, and while documents flow, so that
    what is new is merged; of `unsubscribe`; of `publish` of the first document after many came or went."""

    queries: int
    removed: int
    subscribe_ms: float
    merge_ms: float
    unsubscribe_ms: float
    document_ms: float


def measure_standing(setting: Setting, queries: int, added: int, removed: int) -> Standing | None:
    """The longest calls; nothing where the process is lost."""
    child = Child("bench.brokering.standing", setting, queries, added, removed)
    try:
        found: Standing = child.ask(None, _TIMEOUT)
        return found
    except ChildLostError:
        return None
    finally:
        child.close()


def make(setting: Setting, queries: int, added: int, removed: int) -> Callable[[None], Standing]:
    """What runs in the process."""
    return lambda _: _measured(setting, queries, added, removed)


def _measured(setting: Setting, queries: int, added: int, removed: int) -> Standing:
    broker = Broker(dtd=dtd_of(setting))
    texts = make_queries(setting, queries + added)
    documents = cycle(list(make_documents(setting, _DOCUMENTS)))

    def publish() -> float:
        return timed(lambda document: len(broker.publish(document)), next(documents))[0]

    def subscribe(place: int) -> float:
        return timed(lambda query: broker.subscribe(query, id=str(place)), texts[place])[0]

    loaded = max(map(subscribe, range(queries)))
    for _ in islice(documents, 20):
        publish()
    merged, first = 0.0, 0.0
    for place in range(queries, queries + added):
        merged = max(merged, subscribe(place))
        if place % _BETWEEN == 0:
            first = max(first, publish())
    gone = Random(0).sample(range(queries), removed)
    longest = 0.0
    for at, place in enumerate(gone):
        longest = max(longest, timed(broker.unsubscribe, str(place))[0])
        if at % max(removed // 20, 1) == 0:
            first = max(first, publish())
    return Standing(queries, removed, *(1e3 * seconds for seconds in (loaded, merged, longest, first)))
