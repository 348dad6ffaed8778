"""Documents and a configuration in, what their headers cost the producer out: scan and header over the scan alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bench.measure import timed
from bench.news import news_documents
from weft.documents import Document, Limits, read
from weft.documents.scan import scan_paths
from weft.headers import Configuration, Producer

_ROUNDS = 10
_PORTION = 1 << 19  # bytes that are read together, as a producer does
_SMALL = 200  # documents of 4 KB


@dataclass(frozen=True, slots=True)
class CostRatios:
    """Scan and header over the scan alone: documents one at a time, together, and small ones together."""

    alone: float
    together: float
    small: float


@dataclass(frozen=True, slots=True)
class HeaderCost:
    """Over a scan into a node table, which parsing is, and over a narrow scan, the least that validates; microseconds.

    The narrow scan keeps the paths of elements and attributes: what the views of the experiment are about.
    """

    parsing: CostRatios
    narrow: CostRatios
    header_us: float  # scan and header, a document
    small_us: float  # what the header of a small one costs beyond its narrow scan


@dataclass(frozen=True, slots=True)
class Scans:
    """Seconds of scans of the same documents: into a node table, narrow, and with headers."""

    parsing: float
    narrow: float
    headers: float


def measure_cost(configuration: Configuration, batch: list[Document]) -> HeaderCost:
    """Documents as in the experiment, and small ones of 4 KB."""
    producer = Producer(configuration)
    small = [Document(data, str(at)) for at, data in enumerate(news_documents(_SMALL))]
    alone = time_scans(producer, [[each] for each in batch])
    together, smalls = time_scans(producer, portions(batch)), time_scans(producer, portions(small))
    every = alone, together, smalls
    return HeaderCost(
        CostRatios(*(each.headers / each.parsing for each in every)),
        CostRatios(*(each.headers / each.narrow for each in every)),
        alone.headers * 1e6 / len(batch),
        (smalls.headers - smalls.narrow) * 1e6 / len(small),
    )


def time_scans(producer: Producer, given: Sequence[list[Document]]) -> Scans:
    """The least times of portions of documents; what was read of one is gone before the next is read."""
    limits = Limits()
    return Scans(
        *least(
            lambda: _each(read, given),
            lambda: _each(lambda portion: scan_paths(portion, limits, attributes=True, texts=False), given),
            lambda: _each(producer.attach, given),
        )
    )


def portions(documents: Sequence[Document]) -> list[list[Document]]:
    """Documents in their order, as many together as are read at once."""
    found: list[list[Document]] = [[]]
    size = 0
    for document in documents:
        size += len(document.data)
        if size > _PORTION and found[-1]:
            found.append([])
            size = len(document.data)
        found[-1].append(document)
    return found


def least(*functions: Callable[[], object]) -> list[float]:
    """The least seconds of each, in turns, after one that does not count."""
    for function in functions:
        function()
    rounds = [[timed(_call, function)[0] for function in functions] for _ in range(_ROUNDS)]
    return [min(times) for times in zip(*rounds, strict=True)]


def _each(function: Callable[[list[Document]], object], given: Sequence[list[Document]]) -> None:
    for portion in given:
        function(portion)


def _call(function: Callable[[], object]) -> object:
    return function()
