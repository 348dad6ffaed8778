"""A loaded broker, its queries and fresh documents in, times of Weft and of the loops over all queries out.

Every slice of documents is timed with all of them in turn, so that a slow moment of the machine hits all alike, and
their answers are compared.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median

from bench.batches import batches
from bench.loops import LOOPS, FoundIds, Loop
from bench.measure import ChildLostError, timed
from weft import Broker, Ids


class DisagreementError(Exception):
    """Two engines gave different ids for one document, so no figure of this run is worth anything."""


@dataclass(frozen=True, slots=True)
class Timing:
    """Microseconds a document, the median of the slices, and of how many documents; None with a reason if lost."""

    us: float | None
    documents: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Sample:
    """What the loops get: so many documents of each slice, and one query in `every`, their time scaled up."""

    documents: int
    every: int = 1


@dataclass(frozen=True, slots=True)
class Standing:
    """The outcome of a contest; Weft's time until the answers are there, and until all their ids are strings."""

    weft: Timing
    strings: Timing
    loops: dict[str, Timing]
    matched: float  # ids delivered for each document, the mean

    def speedup(self, loop: str, *, strings: bool = False) -> float | None:
        """How many times as fast as this loop Weft is."""
        theirs, ours = self.loops[loop].us, (self.strings if strings else self.weft).us
        return theirs / ours if theirs is not None and ours else None


@dataclass(slots=True)
class _Entrant:
    """A loop and its times so far; once lost, it is not asked again."""

    name: str
    loop: Loop
    scale: float
    seconds: list[float] = field(default_factory=list)
    documents: int = 0
    lost: str = ""

    def run(self, documents: list[bytes], expected: FoundIds) -> None:
        if self.lost:
            return
        try:
            seconds, found = self.loop.time(documents)
        except ChildLostError as error:
            self.lost = str(error)
            return
        check_agreement(self.name, documents, expected, found)
        self.seconds.append(self.scale * seconds / len(documents))
        self.documents += len(documents)

    def timing(self) -> Timing:
        if self.lost:
            return Timing(None, 0, self.lost)
        return Timing(1e6 * median(self.seconds), self.documents)


def hold_contest(
    broker: Broker,
    queries: dict[str, str],
    slices: Sequence[list[bytes]],
    sample: Sample,
    after_slice: Callable[[], object] = lambda: None,
) -> Standing:
    """Time everyone on every slice; raises DisagreementError."""
    asked = dict(list(queries.items())[:: sample.every])
    entrants = [_Entrant(name, make(asked), len(queries) / len(asked)) for name, make in LOOPS.items()]
    gc.collect()
    gc.freeze()  # or the collector would walk what the others keep, at the cost of whom it strikes
    weft, strings, matched = [], [], 0
    try:
        for documents in slices:
            seconds, answers = timed(lambda some: match_all(broker, some), documents)
            more, found = timed(lambda some: [ids.tolist() for ids in some], answers)
            weft.append(seconds / len(documents))
            strings.append((seconds + more) / len(documents))
            matched += sum(map(len, found))
            expected = [[name for name in ids if name in asked] for ids in found[: sample.documents]]
            for entrant in entrants:
                entrant.run(documents[: sample.documents], expected)
            after_slice()
    finally:
        gc.unfreeze()
        for entrant in entrants:
            entrant.loop.close()
    number = sum(map(len, slices))
    timings = {entrant.name: entrant.timing() for entrant in entrants}
    until_strings = Timing(1e6 * median(strings), number)
    return Standing(Timing(1e6 * median(weft), number), until_strings, timings, matched / number)


def match_all(broker: Broker, documents: list[bytes]) -> list[Ids]:
    """The ids for each document, a batch at a time."""
    return [ids for batch in batches(documents) for ids in broker.matches(batch)]


def check_agreement(name: str, documents: list[bytes], expected: FoundIds, found: FoundIds) -> None:
    """Raise DisagreementError unless the ids of Weft and of a loop are the same, in the same order."""
    for document, ours, theirs in zip(documents, expected, found, strict=True):
        if list(ours) != list(theirs):
            only_ours, only_theirs = sorted({*ours} - {*theirs}), sorted({*theirs} - {*ours})
            raise DisagreementError(
                f"Weft and {name} differ: only Weft {only_ours[:5]}, only {name} {only_theirs[:5]}, "
                f"on the document {document[:200]!r}…"
            )
