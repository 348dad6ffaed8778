"""A warm broker in, what one subscription more and one less costs out, with what it costs the documents after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from statistics import median

from bench.measure import timed
from weft import Broker

SETTLING = 32  # documents after which an addition is taken to cost nothing more
_SETTLED = 9  # additions that are followed for so long


@dataclass(frozen=True, slots=True)
class Changes:
    """Medians in milliseconds: the call alone, with the extra cost of the next document, and of the next SETTLING."""

    add_only: float
    add_one: float
    add_settled: float
    remove_one: float


def documents_needed(number: int) -> int:
    """How many fresh documents it takes to measure so many additions and as many removals."""
    return 4 * number + _SETTLED * 2 * SETTLING


def measure_changes(broker: Broker, added: dict[str, str], removed: list[str], documents: Iterator[bytes]) -> Changes:
    """Take subscriptions away one by one, then add others one by one, and the last few of them slowly."""

    def add(name: str) -> None:
        broker.subscribe(added[name], id=name)

    def cost(change: Callable[[str], None], names: list[str]) -> tuple[float, float]:
        """The change alone, and with how much longer the next document takes than one usually did just before."""
        usual = median(_match(broker, documents, 1) for _ in names)
        pairs = [(timed(change, name)[0], _match(broker, documents, 1)) for name in names]
        return 1e3 * median(alone for alone, _ in pairs), 1e3 * median(sum(pair) - usual for pair in pairs)

    def settled(name: str) -> float:
        """An addition, and how much longer the next documents take than those after them."""
        adding, _ = timed(add, name)
        return 1e3 * (adding + _match(broker, documents, SETTLING) - _match(broker, documents, SETTLING))

    names = list(added)
    _, remove_one = cost(broker.unsubscribe, removed)
    add_only, add_one = cost(add, names[:-_SETTLED])
    return Changes(add_only, add_one, median(map(settled, names[-_SETTLED:])), remove_one)


def _match(broker: Broker, documents: Iterator[bytes], number: int) -> float:
    """The seconds for the next documents, each a batch of its own."""
    return sum(timed(broker.matches, document)[0] for document in islice(documents, number))
