"""A topology and documents in, a report out: the servers of a simulation divided among Spark's tasks.

A task has some servers and simulates them and all on the ways to them, so that it knows what arrives and with which
header. What the others do is left to other tasks; so one job is enough, however deep the network is. Which queries
cover which is worked out once, before the job: with very many of them it takes longer than all else.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import array, col, explode, lit

from weft.broker.answers import chunks
from weft.documents.document import Document, read_limits
from weft.errors import DocumentError
from weft.network.passage import Delivered
from weft.network.report import Report
from weft.network.routes import Routes
from weft.network.routing import Routing
from weft.network.simulate import Simulation
from weft.network.topology import Topology
from weft.network.traffic import Latency, LinkTraffic, ServerTraffic

_SCHEMA = "part int, report string"
_ARROW = pa.schema([("part", pa.int32()), ("report", pa.string())])


def simulate_on_spark(
    spark: SparkSession,
    topology: Topology,
    documents: DataFrame,
    *,
    parts: int | None = None,
    limits: tuple[str, ...] = (),
) -> Report:
    """As `weft.network.simulate`; `documents` has the columns document, stream and value.

    `parts` is into how many the servers are divided, twice the number of cores if it is not given.
    """
    number = min(len(topology.servers), parts or 2 * spark.sparkContext.defaultParallelism)
    routing = Routing(topology, read_limits(limits))
    groups = divide(topology, routing.routes, number)
    each = documents.where(col("value").isNotNull()).select("document", "stream", "value")
    spread = each.withColumn("part", explode(array(*map(lit, range(len(groups))))))
    spread = spread.repartitionByRange(len(groups), "part")
    rows = spread.mapInArrow(SimulationWorker(pickle.dumps((routing, groups))), _SCHEMA).collect()
    report = Report.of(topology)
    for row in rows:
        _join(report, json.loads(row.report), is_first=row.part == 0)
    report.entries = routing.entries
    return report


def divide(topology: Topology, routes: Mapping[str, Routes], parts: int) -> list[list[str]]:
    """The servers in so many groups of neighbours: those that documents reach one behind the other stay together."""
    order: dict[str, None] = {}
    for source in routes.values():
        waiting = [source.order[0]]
        while waiting:
            server = waiting.pop()
            if server not in order:
                order[server] = None
                waiting += reversed(source.receivers[server])
    names = [*order, *(server.name for server in topology.servers if server.name not in order)]
    size, more = divmod(len(names), parts)
    starts = [at * size + min(at, more) for at in range(parts + 1)]
    return [names[start:end] for start, end in pairwise(starts)]


@dataclass(frozen=True, slots=True)
class SimulationWorker:
    """The function for `mapInArrow` that simulates parts of a network, for all documents."""

    packed: bytes  # the routing of the network, and the servers of each part

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """A report for each part."""
        documents: dict[int, list[Document]] = {}
        for batch in batches:
            for row in batch.to_pylist():
                document = Document(row["value"], row["document"], row["stream"] or "")
                documents.setdefault(row["part"], []).append(document)
        routing, groups = pickle.loads(self.packed) if documents else (None, [])
        for part, its_documents in sorted(documents.items()):
            report = _simulate(routing, set(groups[part]), its_documents)
            yield pa.RecordBatch.from_pylist([{"part": part, "report": json.dumps(report)}], schema=_ARROW)


def _simulate(routing: Routing, servers: set[str], documents: list[Document]) -> dict[str, Any]:
    simulation = Simulation(routing.topology, limits=routing.limits, only=servers, routing=routing)
    documents.sort(key=lambda document: document.id)
    for chunk in chunks(documents):
        simulation.publish(chunk)
    return _as_json(simulation.end())


def _as_json(report: Report) -> dict[str, Any]:
    return {
        "servers": {name: traffic.as_json() for name, traffic in report.servers.items()},
        "links": [
            [*link, flow.documents, flow.bytes, flow.header_bytes]
            for link, flow in report.links.items()
            if flow.documents
        ],
        "latency": report.latency.as_json(),
        "deliveries": report.deliveries,
        "rejected": [[e.document, e.line, e.column, e.offset, e.reason] for e in report.rejected],
        "documents": [report.documents, report.lost, report.flooded],
        "producing": report.producing.as_json(),
    }


def _join(report: Report, part: dict[str, Any], is_first: bool) -> None:
    """Add what a part of the network has counted; what all parts see alike is counted once."""
    for name, traffic in part["servers"].items():
        report.servers[name].join(ServerTraffic.from_json(traffic))
    for sender, receiver, *counts in part["links"]:
        report.links[sender, receiver].join(LinkTraffic(*counts))
    report.latency.join(Latency.from_json(part["latency"]))
    for server, subscription, document, joined in part["deliveries"]:
        report.deliveries.append(Delivered(server, subscription, document, tuple(joined)))
    report.rejected += [DocumentError(*each) for each in part["rejected"]]
    if is_first:
        report.documents, report.lost, report.flooded = part["documents"]
        report.producing = ServerTraffic.from_json(part["producing"])
