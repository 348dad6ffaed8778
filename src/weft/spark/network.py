"""A topology and a folder of documents in, a network that runs on Spark out: each server a streaming query of its own.

Every batch of a server is written under its number, to each link and to the deliveries, as a whole or not at all. A
server that was killed runs its last batch again: what was written stays, what was not is written then.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import broadcast, col, concat_ws, expr, lit
from pyspark.sql.streaming.query import StreamingQuery

from weft.delivery.output import alone
from weft.delivery.topics import Topics
from weft.documents.document import read_limits
from weft.errors import ConfigurationError
from weft.inputs.rows import check_row_tag
from weft.network.links import BatchFolder, NetworkLink
from weft.network.output import claim_output, write_traffic
from weft.network.routing import Routing
from weft.network.seen_files import SeenFiles
from weft.network.server_plan import plan_servers
from weft.network.topology import ServerSetup, Topology
from weft.network.traffic import Latency, LinkTraffic, ServerTraffic
from weft.plans.xscl import Xscl
from weft.spark.kafka_admin import make_topics
from weft.spark.network_links import FolderLink
from weft.spark.network_topics import TopicLink, link_topic
from weft.spark.network_worker import HANDLED, PASSAGE, NetworkPlan, ServerWorker

_INTERVAL = "500 milliseconds"  # between two looks for new documents
_KEY = "_weft_key"
_IN_USE = "another run has this server"
_DELIVERY = "source string, document string, stream string, timestamp long, entered long, subscription string"
_KINDS = {"delivery": "deliveries", "rejected": "rejected"}
_FILE_BYTES, _FILE_ROWS = 64 * 1024 * 1024, 1_000_000  # of documents and of deliveries in one file, about


@dataclass(frozen=True)
class NetworkJob:
    """What `weft network run` is told. `servers` are those that run here; none: all."""

    topology: Topology
    documents: Path
    output: Path
    servers: tuple[str, ...] = ()
    max_files_per_trigger: int = 1000
    limits: tuple[str, ...] = ()
    row_tag: str | None = None
    links: Topics | None = None  # the first name begins the names of all; else links are folders

    @cached_property
    def routing(self) -> Routing:
        """Where documents go."""
        return Routing(self.topology, read_limits(self.limits))

    @property
    def order(self) -> list[str]:
        """The servers that run here, those nearer to a source first."""
        found: dict[str, int] = {}
        for routes in self.routing.routes.values():
            for place, name in enumerate(routes.order):
                found[name] = max(found.get(name, 0), place)
        chosen = self.servers or tuple(found)
        return sorted((name for name in chosen if name in found), key=found.__getitem__)


def check_network(job: NetworkJob) -> None:
    """Raise ConfigurationError for what can be seen to be wrong before Spark is started; the output is ours then."""
    if not job.documents.is_dir():
        raise ConfigurationError(f"{job.documents}: expected a folder that documents arrive in")
    if job.row_tag is not None:
        check_row_tag(job.row_tag)
    for name in job.servers:
        if name not in job.topology.by_name:
            known = ", ".join(list(job.topology.by_name)[:10])
            raise ConfigurationError(f"--server: expected one of {known}, found {name!r}")
    for server, plans in job.routing.plans.items():
        for id, plan in plans.items():
            if isinstance(plan, Xscl):
                advice = "give what it delivers to weft run, or see weft network simulate"
                place = f"server {server!r}, subscription {id!r}"
                raise ConfigurationError(f"{place}: XSCL joins documents, which a network on Spark does not; {advice}")
    if job.links is not None:
        _link_topics(job.links, job)  # raises for names that no topic can have
    claim_output(job.output, job.topology)


def run_network_once(spark: SparkSession, job: NetworkJob) -> None:
    """All that is there goes as far as it goes: to the end, if all servers run here."""
    with _servers(spark, job) as servers:
        waiting = list(servers)
        while waiting:
            sent: set[str] = set()
            for name in waiting:
                sent.discard(name)
                query = servers[name].start(available_now=True)
                query.awaitTermination()
                sent |= servers[name].sent_to
            waiting = [name for name in servers if name in sent]  # ways of several sources may lead back


@contextmanager
def run_network_stream(spark: SparkSession, job: NetworkJob) -> Iterator[list[StreamingQuery]]:
    """The servers take documents as they come, while the context is open."""
    with _servers(spark, job) as servers:
        queries = [server.start(available_now=False) for server in servers.values()]
        try:
            yield queries
        finally:
            for query in queries:
                query.stop()


@contextmanager
def _servers(spark: SparkSession, job: NetworkJob) -> Iterator[dict[str, _SparkServer]]:
    """The servers that run here, and nowhere else meanwhile."""
    plans = plan_servers(job.routing, set(job.order))
    if job.links is not None:
        make_topics(spark, job.links, _link_topics(job.links, job))
    with ExitStack() as stack:
        for name in job.order:
            stack.enter_context(alone(job.output / "checkpoints" / name / "weft", _IN_USE))
        yield {
            name: _SparkServer(
                spark, job, name, NetworkPlan.of(replace(plans[name], is_redundant=False), _entrance(job))
            )
            for name in job.order
        }


def _link_topics(links: Topics, job: NetworkJob) -> list[str]:
    """The topics of all links that documents go over."""
    flows = {
        (sender, receiver)
        for routes in job.routing.routes.values()
        for sender, receivers in routes.receivers.items()
        for receiver in receivers
    }
    return [link_topic(links, sender, receiver) for sender, receiver in sorted(flows)]


def _entrance(job: NetworkJob) -> Topology:
    """What an entrance must know of a topology."""
    topology = job.topology
    entries = dict.fromkeys(source.server for source in topology.sources)
    servers = tuple(ServerSetup(name) for name in entries)
    return Topology(topology.name, servers, (), topology.sources, topology.configurations)


class _SparkServer:
    """One server: its streaming query, and what a batch of it writes."""

    def __init__(self, spark: SparkSession, job: NetworkJob, name: str, plan: NetworkPlan) -> None:
        self._spark, self._job, self._name = spark, job, name
        self._work = ServerWorker(plan)
        routes = job.routing.routes.values()
        self._senders = dict.fromkeys(sender for each in routes for sender in each.senders.get(name, ()))
        self._receivers = {
            receiver: _link(spark, job, name, receiver) for each in routes for receiver in each.receivers.get(name, ())
        }
        is_redundant = any(len(each.senders.get(name, ())) > 1 for each in routes)
        may_repeat = is_redundant or (job.links is not None and bool(self._senders))
        self._seen = SeenFiles(job.output / "seen" / name) if may_repeat else None
        self.sent_to: set[str] = set()

    def start(self, available_now: bool) -> StreamingQuery:
        """The query of this server runs."""
        self.sent_to = set()
        writer = (
            self._arriving().writeStream.foreachBatch(self._run).queryName(f"{self._job.topology.name}.{self._name}")
        )
        writer = writer.option("checkpointLocation", str((self._job.output / "checkpoints" / self._name).absolute()))
        return (
            writer.trigger(availableNow=True) if available_now else writer.trigger(processingTime=_INTERVAL)
        ).start()

    def _arriving(self) -> DataFrame:
        """What comes over links, and where a source is also what enters."""
        frames = [_link(self._spark, self._job, sender, self._name).read() for sender in self._senders]
        frames = [frame.withColumn("error", lit(None).cast("string")) for frame in frames]
        if any(source.server == self._name for source in self._job.topology.sources):
            frames.append(self._entering())
        return reduce(DataFrame.unionByName, frames)

    def _entering(self) -> DataFrame:
        job = self._job
        reader = self._spark.readStream.format("weft").option("maxFilesPerTrigger", job.max_files_per_trigger)
        reader = reader.option("log", str((job.output / "_weft" / "arrivals.jsonl").absolute()))
        reader = reader.option("rowTag", job.row_tag) if job.row_tag is not None else reader
        frame = reader.option("limits", ",".join(job.limits)).load(str(job.documents.absolute()))
        none = lit(None).cast("string")
        return frame.select(
            none.alias("source"),
            "document",
            "stream",
            expr("unix_micros(timestamp) * 1000").alias("timestamp"),
            lit(None).cast("long").alias("entered"),
            lit(None).cast("binary").alias("header"),
            "value",
            col("error.reason").alias("error"),
        )

    def _run(self, frame: DataFrame, batch: int) -> None:
        """One batch; what of it is there already stays as it is."""
        handled = self._fresh(frame, batch).mapInArrow(self._work, HANDLED).persist()
        try:
            notes = handled.where(col("kind") == "counts").select("note").collect()
            counted = _Counts(json.loads(row.note) for row in notes)
            for receiver, flow in counted.links.items():
                going = handled.where((col("kind") == "link") & (col("name") == receiver))
                files = 1 + flow.bytes // _FILE_BYTES
                self._receivers[receiver].write(batch, going.drop("kind", "name", "note").coalesce(files))
                self.sent_to.add(receiver)
            self._write(handled, batch, counted.rows)
            write_traffic(self._job.output, self._name, batch, *counted.parts)
        finally:
            handled.unpersist()

    def _write(self, handled: DataFrame, batch: int, numbers: Mapping[str, int]) -> None:
        """What is delivered here, and what is rejected."""
        for kind, folder in _KINDS.items():
            if number := numbers.get(kind):
                rows = handled.where(col("kind") == kind).drop("kind", "header", "value")
                named = rows.withColumnRenamed("name", "subscription").withColumnRenamed("note", "error")
                dropped = "error" if kind == "delivery" else "subscription"
                files = 1 + number // _FILE_ROWS
                _out(self._spark, self._job, folder, self._name).write(batch, named.drop(dropped).coalesce(files))

    def _fresh(self, frame: DataFrame, batch: int) -> DataFrame:
        """The documents that have not come before, where they may come over several links."""
        if self._seen is None:
            return frame
        key = ["source", "document"] if self._job.links is None else ["source", "document", "timestamp"]
        coming = frame.where("source IS NOT NULL").withColumn(_KEY, concat_ws("\0", *key))
        keys = [(row[0],) for row in coming.select(_KEY).distinct().collect()]
        new = self._seen.new(batch, keys)
        once = coming.dropDuplicates([_KEY])
        if gone := [each for each in keys if each not in new]:
            before = self._spark.createDataFrame(gone, f"{_KEY} string")
            once = once.join(broadcast(before), _KEY, "left_anti")
        once = once.drop(_KEY)
        return once.unionByName(frame.where("source IS NULL"))


def _link(spark: SparkSession, job: NetworkJob, sender: str, receiver: str) -> NetworkLink[DataFrame]:
    if job.links is not None:
        return TopicLink(spark, job.links, link_topic(job.links, sender, receiver))
    return _folder_link(spark, job, Path("links") / sender / receiver, PASSAGE)


def _out(spark: SparkSession, job: NetworkJob, kind: str, server: str) -> NetworkLink[DataFrame]:
    return _folder_link(spark, job, Path(kind) / server, _DELIVERY)


def _folder_link(spark: SparkSession, job: NetworkJob, place: Path, schema: str) -> NetworkLink[DataFrame]:
    folder = BatchFolder(job.output / place, job.output / "staged" / place)
    return FolderLink(spark, folder, schema, job.max_files_per_trigger)


class _Counts:
    """What the tasks of a batch counted, together."""

    def __init__(self, notes: Iterable[dict[str, Any]]) -> None:
        self.links: dict[str, LinkTraffic] = {}
        self.rows: Counter[str] = Counter()  # by kind
        server, producing, latency = ServerTraffic(), ServerTraffic(), Latency()
        entered: dict[str, int] = {}
        for note in notes:
            self.rows.update(note["rows"])
            server.join(ServerTraffic.from_json(note["server"]))
            producing.join(ServerTraffic.from_json(note["producing"]))
            latency.join(Latency.from_json(note["latency"]))
            for receiver, counts in note["links"].items():
                self.links.setdefault(receiver, LinkTraffic()).join(LinkTraffic(*counts))
            for source, number in note["entered"].items():
                entered[source] = entered.get(source, 0) + number
        self.parts = (server, self.links, entered, producing, latency)
