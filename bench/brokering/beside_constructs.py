"""Constructs of FLWR in, what a document costs with each and how much of it Saxon takes, out; messages are compared."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean

from bench.batches import BATCH
from bench.brokering.constructs import CONSTRUCTS, auction_documents, construct_queries
from bench.brokering.points import collector_off
from bench.brokering.saxon import Saxon, check_messages
from bench.brokering.workload import as_table
from bench.measure import timed
from weft.documents import NodeTable
from weft.engine import Engine
from weft.languages.xquery import parse_flwr


@dataclass(frozen=True, slots=True)
class ConstructCost:
    """Microseconds a document until all messages are text, in batches and alone; Saxon's, where it was asked."""

    construct: str
    queries: int
    batch_us: float
    alone_us: float
    messages: float  # for each document
    saxon_us: float | None = None
    reason: str = ""  # why not


def measure_constructs(sizes: Sequence[int], batches: int, alone: int, beside: int) -> list[ConstructCost]:
    """All constructs at all sizes on the same documents; at the smallest size Saxon gets some of them too."""
    documents = list(auction_documents((1 + batches) * BATCH + alone))
    parts = [documents[start : start + BATCH] for start in range(0, (1 + batches) * BATCH, BATCH)]
    tables = [as_table(part) for part in parts]
    singles = [as_table([document]) for document in documents[(1 + batches) * BATCH :]]
    found = []
    for size in sizes:
        for construct in CONSTRUCTS:
            queries = construct_queries(construct, size)
            cost = _measure(construct, queries, tables, singles)
            if size == min(sizes):
                cost = _with_saxon(cost, queries, documents[-beside:])
            found.append(cost)
    return found


def _measure(construct: str, queries: list[str], tables: list[NodeTable], singles: list[NodeTable]) -> ConstructCost:
    with collector_off():
        engine = _engine(queries)
    gc.collect()
    gc.freeze()  # or the collector would walk all plans, at the cost of whom it strikes
    try:
        _texts(engine, tables[0])
        took = [timed(lambda table: _texts(engine, table), table) for table in tables[1:]]
        _texts(engine, singles[0])
        alone = [timed(lambda table: _texts(engine, table), table)[0] for table in singles]
    finally:
        gc.unfreeze()
    number = BATCH * len(took)
    batch_us = 1e6 * sum(seconds for seconds, _ in took) / number
    return ConstructCost(construct, len(queries), batch_us, 1e6 * mean(alone), sum(made for _, made in took) / number)


def _engine(queries: list[str]) -> Engine:
    engine = Engine()
    for number, query in enumerate(queries):
        engine.add(number, parse_flwr(query))
    return engine


def _texts(engine: Engine, table: NodeTable) -> int:
    return len(list(engine.match(table).messages()))


def _with_saxon(cost: ConstructCost, queries: list[str], documents: list[bytes]) -> ConstructCost:
    """Raises DisagreementError where messages differ."""
    saxon = Saxon(queries)
    try:
        answers = saxon.answers(documents)
    finally:
        saxon.close()
    if saxon.reason or not answers:
        return _beside(cost, None, saxon.reason)
    ours: list[dict[int, str]] = [{} for _ in documents]
    for at, query, text in _engine(queries).match(as_table(documents)).messages():
        ours[at][query] = text
    for expected, answer in zip(ours, answers, strict=True):
        check_messages(expected, answer.messages)
    return _beside(cost, 1e6 * mean(answer.texts for answer in answers[1:]), "")


def _beside(cost: ConstructCost, saxon_us: float | None, reason: str) -> ConstructCost:
    return ConstructCost(cost.construct, cost.queries, cost.batch_us, cost.alone_us, cost.messages, saxon_us, reason)
