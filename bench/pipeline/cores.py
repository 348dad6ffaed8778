"""Sets of documents in, for each the seconds of the engine alone, of Spark with one core and with two out."""

from __future__ import annotations

import gc
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

from bench.news import news_queries
from bench.pipeline.documents import read_set
from bench.pipeline.session import Session, load, time_match, unload
from weft.broker.answers import chunks
from weft.documents.build import read
from weft.documents.document import Document
from weft.spark.compiled import Compiled, WorkerPlans, compile_subscriptions, unpack

SUBSCRIPTIONS = 100
_TABLE = "documents"


@dataclass(frozen=True, slots=True)
class CoresRound:
    """One set of documents, and the seconds on the clock by who matched it."""

    documents: int
    engine: float
    one_core: float
    two_cores: float

    @property
    def overhead_us(self) -> float:
        """What Spark with one core takes longer than the engine alone, a document."""
        return 1e6 * (self.one_core - self.engine) / self.documents

    @property
    def scaling(self) -> float:
        """How many times as fast two cores are as one."""
        return self.one_core / self.two_cores


def overhead_us(rounds: list[CoresRound]) -> float:
    """The median of the rounds."""
    return median(each.overhead_us for each in rounds)


def scaling(rounds: list[CoresRound]) -> float:
    """The median of the rounds."""
    return median(each.scaling for each in rounds)


def hold_rounds(one: Session, two: Session, warm_up: Path, sets: list[Path]) -> list[CoresRound]:
    """All three take their turn on every set, which is new to all of them; before, they get the warm-up's documents."""
    compiled = compile_subscriptions(news_queries(SUBSCRIPTIONS, predicates=False))
    plans = unpack(compiled)
    engine_seconds(plans, read_set(warm_up))
    for session in (one, two):
        session.do(partial(load, _TABLE, warm_up))
        for _ in range(session.cores):  # each worker gets a part only, and another one the next time
            session.do(partial(time_match, compiled, _TABLE))
        session.do(partial(unload, _TABLE))
    return [_hold_round(one, two, compiled, plans, path) for path in sets]


def _hold_round(one: Session, two: Session, compiled: Compiled, plans: WorkerPlans, path: Path) -> CoresRound:
    documents = read_set(path)
    for session in (one, two):
        session.do(partial(load, _TABLE, path))
    gc.collect()
    gc.freeze()  # or the collector would walk the documents' list, which no worker of Spark has
    try:
        alone = engine_seconds(plans, documents)
    finally:
        gc.unfreeze()
    seconds = [session.do(partial(time_match, compiled, _TABLE)) for session in (one, two)]
    for session in (one, two):
        session.do(partial(unload, _TABLE))
    return CoresRound(len(documents), alone, *seconds)


def engine_seconds(plans: WorkerPlans, documents: list[bytes]) -> float:
    """The engine as Spark's workers run it, here and without Spark."""
    started = perf_counter()
    for chunk in chunks(Document(data, str(row), "") for row, data in enumerate(documents)):
        plans.engine.match(read(chunk, plans.limits)).subscriptions()
    return perf_counter() - started
