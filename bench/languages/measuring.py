"""Constructs in, what a document costs with 1,000 queries of each, of the nearest without it, and in Saxon, out."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from lxml import etree

from bench.batches import BATCH
from bench.brokering.constructs import auction_documents
from bench.brokering.workload import as_table
from bench.contest import DisagreementError
from bench.languages.constructs import MeasuredConstruct
from bench.measure import Child, ChildLostError, timed
from weft.documents import NodeTable
from weft.engine import Engine
from weft.engine.deliveries import deliveries
from weft.errors import WeftError
from weft.languages import parse
from weft.plans.lone_query import LoneQuery
from weft.plans.xscl import Xscl

_TIMEOUT = 300.0  # seconds for one document and all queries, which are compiled before


@dataclass(frozen=True, slots=True)
class LanguageEffort:
    """How much is measured."""

    queries: int = 1_000
    batches: int = 4
    beside: int = 4  # documents for Saxon; the first is not timed


@dataclass(frozen=True, slots=True)
class ConstructFound:
    """Microseconds a document, and how the queries are answered; nothing where they are not taken."""

    construct: MeasuredConstruct
    way: str
    ours_us: float | None = None
    base_us: float | None = None
    saxon_us: float | None = None
    results: float | None = None  # for each document
    reason: str = ""  # why something is not known

    @property
    def over_base(self) -> float | None:
        """Times the nearest query without the construct."""
        return self.ours_us / self.base_us if self.ours_us and self.base_us else None

    @property
    def vs_saxon(self) -> float | None:
        """Times as fast as Saxon, one query after another."""
        return self.saxon_us / self.ours_us if self.ours_us and self.saxon_us else None


class Workload:
    """Documents of auctions, parsed before anything is timed."""

    def __init__(self, effort: LanguageEffort) -> None:
        self.effort = effort
        documents = list(auction_documents((1 + effort.batches) * BATCH, seed=1))
        parts = [documents[start : start + BATCH] for start in range(0, len(documents), BATCH)]
        self.tables = [as_table(part) for part in parts]
        self.beside = documents[: effort.beside]


def measure_construct(construct: MeasuredConstruct, workload: Workload) -> ConstructFound:
    """Raises DisagreementError where Saxon has other results."""
    number = workload.effort.queries
    queries = construct.queries(number)
    try:
        way = _way(construct.language, queries[0])
        engine = _engine(construct.language, queries)
    except WeftError as error:
        return ConstructFound(construct, "not taken", reason=str(error).splitlines()[0])
    ours, results = _times(engine, workload.tables)
    base, _ = _times(_engine(construct.language, construct.bases(number)), workload.tables)
    saxon, reason = _saxon(engine, queries, workload.beside)
    return ConstructFound(construct, way, ours, base, saxon, results, reason)


def _way(language: str, query: str) -> str:
    plan = parse(query, language)
    return f"alone: {plan.why}" if isinstance(plan, LoneQuery) else "shared"


def _engine(language: str, queries: Sequence[str]) -> Engine:
    engine = Engine()
    gc.disable()
    try:
        for number, query in enumerate(queries):
            plan = parse(query, language)
            assert not isinstance(plan, Xscl)
            engine.add(number, plan)
    finally:
        gc.enable()
    return engine


def _texts(engine: Engine, table: NodeTable) -> list[tuple[int, int, str]]:
    rows = deliveries(engine, table)
    assert not rows.refused, rows.refused[0]
    return list(zip(rows.document.tolist(), rows.subscription.tolist(), rows.text, strict=True))


def _times(engine: Engine, tables: Sequence[NodeTable]) -> tuple[float, float]:
    """Microseconds a document from its node table to texts, and the results of one."""
    gc.collect()
    gc.freeze()
    try:
        _texts(engine, tables[0])
        took = [timed(lambda table: _texts(engine, table), table) for table in tables[1:]]
    finally:
        gc.unfreeze()
    number = sum(len(made) for _, made in took)
    return 1e6 * median(seconds for seconds, _ in took) / BATCH, number / (BATCH * len(took))


def _saxon(engine: Engine, queries: list[str], documents: list[bytes]) -> tuple[float | None, str]:
    child = Child("bench.languages.saxon_loop", queries)
    try:
        answers: list[tuple[float, list[str]]] = [child.ask(document, _TIMEOUT) for document in documents]
    except ChildLostError as error:
        return None, f"Saxon {error}"
    finally:
        child.close()
    ours: dict[tuple[int, int], list[str]] = {}
    for document, query, text in _texts(engine, as_table(documents)):
        ours.setdefault((document, query), []).append(text)
    for at, (_, texts) in enumerate(answers):
        for query, text in enumerate(texts):
            _check(queries[query], "\n".join(ours.get((at, query), [])), text)
    return 1e6 * median(seconds for seconds, _ in answers[1:]), ""


def _check(query: str, found: str, expected: str) -> None:
    """Raises DisagreementError where two ways have different results; an empty enclosing element is no message."""
    if found != expected and _canonical(found) != _canonical(expected) and expected != "<r/>":
        raise DisagreementError(f"{query}: Saxon has {expected[:200]!r}, Weft {found[:200]!r}")


def _canonical(text: str) -> bytes:
    made: bytes = etree.tostring(etree.fromstring(f"<all>{text}</all>"), method="c14n")
    return made
