"""A warm broker in, what one subscription more and one less costs out, with what it costs the next document."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from statistics import median

from bench.measure import timed
from weft import Broker


@dataclass(frozen=True, slots=True)
class Changes:
    """Medians in milliseconds: the call alone, and with the extra cost of the first document after it."""

    add_only: float
    add_one: float
    remove_one: float


def documents_needed(number: int) -> int:
    """How many fresh documents it takes to measure so many changes."""
    return 4 * number


def measure_changes(broker: Broker, added: dict[str, str], removed: list[str], documents: Iterator[bytes]) -> Changes:
    """Take some subscriptions away one by one, then add others one by one.

    In this order, because an addition costs more than the next document a little, and would blur what comes after.
    """

    def add(name: str) -> None:
        broker.subscribe(added[name], id=name)

    _, remove_one = _cost(broker, broker.unsubscribe, removed, documents)
    add_only, add_one = _cost(broker, add, list(added), documents)
    return Changes(add_only, add_one, remove_one)


def _cost(
    broker: Broker, change: Callable[[str], None], names: list[str], documents: Iterator[bytes]
) -> tuple[float, float]:
    """The change alone, and the change with how much longer the next document takes than one usually does."""
    usual = median(timed(broker.matches, document)[0] for document in islice(documents, len(names)))
    alone, together = [], []
    for name, document in zip(names, islice(documents, len(names)), strict=True):
        calling, _ = timed(change, name)
        matching, _ = timed(broker.matches, document)
        alone.append(calling)
        together.append(calling + matching - usual)
    return 1e3 * median(alone), 1e3 * median(together)
