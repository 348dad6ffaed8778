"""A broker with very many FLWR queries in, what a message costs it out."""

from __future__ import annotations

import gc
from dataclasses import dataclass
from itertools import islice

from bench.brokering.points import collector_off
from bench.brokering.workload import BATCH, Setting, as_table, dtd_of, make_documents, make_queries
from bench.measure import timed
from weft import Broker
from weft.broker.answers import deliver
from weft.documents import NodeTable


@dataclass(frozen=True, slots=True)
class Delivering:
    """Microseconds a message: `publish` of documents as bytes with nobody who reads texts; texts read one by one; from
    the node table until all are written into one buffer, as Arrow has it."""

    queries: int
    messages: float  # for each document
    publish_us: float
    read_us: float
    buffer_us: float


def measure_delivering(setting: Setting, number: int, batches: int) -> Delivering:
    """Publish, read, write into a buffer."""
    broker = Broker(dtd=dtd_of(setting))
    with collector_off():
        for place, query in enumerate(make_queries(setting, number)):
            broker.subscribe(query, id=str(place))
    made = make_documents(setting, (1 + 3 * batches) * BATCH)
    parts = [list(islice(made, BATCH)) for _ in range(1 + 3 * batches)]
    broker.publish(parts[0])
    gc.collect()
    gc.freeze()
    try:
        published = [timed(lambda part: len(broker.publish(part)), part) for part in parts[1 : 1 + batches]]
        read = [timed(lambda part: _read(broker, part), part) for part in parts[1 + batches : 1 + 2 * batches]]
        tables = [as_table(part) for part in parts[1 + 2 * batches :]]
        buffered = [timed(lambda table: _buffer(broker, table), table) for table in tables]
    finally:
        gc.unfreeze()
    return Delivering(
        number,
        sum(messages for _, messages in published) / (batches * BATCH),
        _us_per_message(published),
        _us_per_message(read),
        _us_per_message(buffered),
    )


def _us_per_message(took: list[tuple[float, int]]) -> float:
    return 1e6 * sum(seconds for seconds, _ in took) / max(sum(messages for _, messages in took), 1)


def _read(broker: Broker, documents: list[bytes]) -> int:
    return sum(message.text is not None for message in broker.publish(documents))


def _buffer(broker: Broker, table: NodeTable) -> int:
    """What a worker of Spark does with its rows."""
    rows = deliver(broker._matcher.engine, table)
    rows.text.joined(0, len(rows.text))
    return len(rows.text)
