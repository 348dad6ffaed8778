"""Arrow batches of documents on their way in, what a server makes of them out: what runs inside Spark's workers."""

from __future__ import annotations

import json
import pickle
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Literal

import pyarrow as pa

from weft.documents.document import Document
from weft.documents.moment import SECOND, exact_seconds
from weft.headers.producer import bytes_of
from weft.network.entrance import Entrance
from weft.network.passage import Handled, Passage
from weft.network.server import Server
from weft.network.server_plan import ServerPlan
from weft.network.topology import Topology
from weft.network.traffic import Latency, LinkTraffic, ServerTraffic

#: A document on its way; times are nanoseconds.
PASSAGE = "source string, document string, stream string, timestamp long, entered long, header binary, value binary"
#: What is made of it: it goes over a link, is delivered or rejected; and what was counted.
HANDLED = f"{PASSAGE}, kind string, name string, note string"
RowKind = Literal["link", "delivery", "rejected", "counts"]
_BYTES = {"header": pa.binary(), "value": pa.binary()}
_NUMBERS = {"timestamp": pa.int64(), "entered": pa.int64()}
_NAMES = [each.split()[0] for each in HANDLED.split(", ")]
_SCHEMA = pa.schema([(name, {**_BYTES, **_NUMBERS}.get(name, pa.string())) for name in _NAMES])
_BATCH = 64  # documents
_MOST_KNOWN = 64  # servers that a process keeps
_known: dict[bytes, tuple[Server, Entrance]] = {}  # what this process has built, by the digest of its plan


@dataclass(frozen=True, slots=True)
class NetworkPlan:
    """What a worker must know: its server, and where documents enter; pickled, to be unpacked once a process."""

    packed: bytes

    @classmethod
    def of(cls, plan: ServerPlan, entrance: Topology) -> NetworkPlan:
        """A plan to be sent to workers."""
        return cls(pickle.dumps((plan, entrance)))

    def unpack(self) -> tuple[Server, Entrance]:
        """The server as it runs in this process, and its entrance; both count from nothing."""
        key = blake2b(self.packed, digest_size=16).digest()
        if key not in _known:
            plan, topology = pickle.loads(self.packed)
            if len(_known) == _MOST_KNOWN:
                del _known[next(iter(_known))]
            _known[key] = Server(plan), Entrance(topology, plan.limits)
        server, entrance = _known[key]
        server.count_anew()
        entrance.count_anew()
        return server, entrance


@dataclass(slots=True)
class _TaskCounts:
    """What a task counts."""

    links: dict[str, LinkTraffic] = field(default_factory=dict)
    latency: Latency = field(default_factory=Latency)
    rows: Counter[str] = field(default_factory=Counter)  # by kind

    def add(self, handled: Handled, entered: int) -> None:
        document = handled.passage.document
        for receiver in handled.receivers:
            flow = self.links.setdefault(receiver, LinkTraffic())
            flow.join(LinkTraffic(1, len(bytes_of(document)), len(document.header or b"")))
        self.latency.add(max(0, time.time_ns() - entered) / SECOND, len(handled.subscriptions))


@dataclass(frozen=True, slots=True)
class ServerWorker:
    """The function for `mapInArrow` that is a server: documents in, what goes on and what is delivered out."""

    plan: NetworkPlan

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Rows of all kinds, and one with what was counted at the end."""
        server, entrance = self.plan.unpack()
        counted = _TaskCounts()
        for batch in batches:
            rows = batch.to_pylist()
            for start in range(0, len(rows), _BATCH):
                made = list(_handle(server, entrance, rows[start : start + _BATCH], counted))
                if made:
                    counted.rows.update(row["kind"] for row in made)
                    yield _record_batch(made)
        if counted.rows or server.traffic.documents:
            yield _record_batch([{"kind": "counts", "note": _note(server.traffic, entrance, counted)}])


def _handle(
    server: Server, entrance: Entrance, rows: Sequence[dict[str, Any]], counted: _TaskCounts
) -> Iterator[dict[str, Any]]:
    passages: list[Passage] = []
    entered: list[int] = []
    for row in rows:
        if row["value"] is None:
            if entrance.is_at(server.name, _document(row)):
                yield _row("rejected", row["document"] or "", row["error"] or "no document")
        elif row["source"] is not None:
            passages.append(Passage(row["source"], 0, _document(row)))
            entered.append(row["entered"])
    new = [_document(row) for row in rows if row["source"] is None and row["value"] is not None]
    arrived = entrance.enter([document for document in new if entrance.is_at(server.name, document)])
    entered += [time.time_ns()] * len(arrived)
    for handled, moment in zip(server.take([*passages, *arrived]), entered, strict=True):
        counted.add(handled, moment)
        yield from _rows(handled, moment)


def _rows(handled: Handled, entered: int) -> Iterator[dict[str, Any]]:
    document = handled.passage.document
    passed: dict[str, Any] = {
        "source": handled.passage.source,
        "document": document.id,
        "stream": document.stream,
        "timestamp": document.nanoseconds,
        "entered": entered,
    }
    for receiver in handled.receivers:
        data = {"header": document.header, "value": bytes_of(document)}
        yield {**passed, **data, "kind": "link", "name": receiver}
    for subscription in handled.subscriptions:
        yield {**passed, "kind": "delivery", "name": subscription}
    if handled.rejected is not None:
        yield _row("rejected", document.id, str(handled.rejected))


def _row(kind: RowKind, document: str, note: str) -> dict[str, Any]:
    return {"kind": kind, "document": document, "note": note}


def _document(row: dict[str, Any]) -> Document:
    timestamp = None if row["timestamp"] is None else exact_seconds(row["timestamp"])
    return Document(row["value"] or b"", row["document"] or "", row["stream"] or "", timestamp, row["header"])


def _note(traffic: ServerTraffic, entrance: Entrance, counted: _TaskCounts) -> str:
    links = {name: [flow.documents, flow.bytes, flow.header_bytes] for name, flow in counted.links.items()}
    return json.dumps(
        {
            "server": traffic.as_json(),
            "rows": counted.rows,
            "links": links,
            "entered": {source: number for source, number in entrance.entered.items() if number},
            "producing": entrance.traffic.as_json(),
            "latency": counted.latency.as_json(),
        }
    )


def _record_batch(rows: Iterable[dict[str, Any]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(list(rows), schema=_SCHEMA)
