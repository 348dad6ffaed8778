"""The counts of each batch in, those of a whole job out, also as Prometheus' text at an address."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOP = 1_000  # subscriptions that are counted one by one
_KEPT = 1_000  # batches


@dataclass(frozen=True, slots=True)
class BatchMetrics:
    """What one batch brought. `per_subscription` has the thousand subscriptions with the most messages."""

    batch: int
    documents: int
    rejected: int | None  # unknown where they are dropped
    messages: int
    seconds: float
    version: int | None = None
    per_subscription: Mapping[str, int] = field(default_factory=dict)
    per_partition: Mapping[int, int] = field(default_factory=dict)
    tombstones: int = 0  # records of Kafka without a value
    empty: int = 0  # and with one of no bytes; both beside the documents

    @property
    def skew(self) -> float | None:
        """How many times more documents the fullest partition had than the mean."""
        counts = list(self.per_partition.values())
        return max(counts) * len(counts) / sum(counts) if counts else None


class Metrics:
    """The counts of a job: all in all, and of the latest thousand batches. Any thread may use it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.batches: deque[BatchMetrics] = deque(maxlen=_KEPT)
        self.documents = self.messages = self.tombstones = self.empty = 0
        self.rejected: int | None = None
        self._last: dict[str, int] = {}  # by stream
        self.seconds = 0.0
        self.per_subscription: Counter[str] = Counter()

    def record(self, batch: BatchMetrics, stream: str = "") -> None:
        """Add a batch of a stream; one that was told before is taken once."""
        with self._lock:
            if batch.batch <= self._last.get(stream, -1):
                return
            self._last[stream] = batch.batch
            self.batches.append(batch)
            self.documents += batch.documents
            self.tombstones += batch.tombstones
            self.empty += batch.empty
            if batch.rejected is not None:
                self.rejected = (self.rejected or 0) + batch.rejected
            self.messages += batch.messages
            self.seconds += batch.seconds
            self.per_subscription.update(batch.per_subscription)

    def prometheus(self) -> str:
        """All counts in Prometheus' text format."""
        with self._lock:
            last = self.batches[-1] if self.batches else None
            lines = [
                "# TYPE weft_documents_total counter",
                f"weft_documents_total {self.documents}",
                "# TYPE weft_rejected_total counter",
                f"weft_rejected_total {self.rejected or 0}",
                "# TYPE weft_tombstones_total counter",
                f"weft_tombstones_total {self.tombstones}",
                "# TYPE weft_empty_total counter",
                f"weft_empty_total {self.empty}",
                "# TYPE weft_messages_total counter",
                f"weft_messages_total {self.messages}",
                "# TYPE weft_seconds_total counter",
                f"weft_seconds_total {self.seconds:.3f}",
                "# TYPE weft_batch gauge",
                f"weft_batch {last.batch if last else -1}",
            ]
            if last and last.version is not None:
                lines += ["# TYPE weft_subscriptions_version gauge", f"weft_subscriptions_version {last.version}"]
            lines.append("# TYPE weft_subscription_messages_total counter")
            for name, number in self.per_subscription.most_common(TOP):
                escaped = name.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
                lines.append(f'weft_subscription_messages_total{{subscription="{escaped}"}} {number}')
            return "\n".join(lines) + "\n"


def serve_metrics(metrics: Metrics, port: int, host: str = "127.0.0.1") -> ThreadingHTTPServer:
    """Prometheus' text at `http://127.0.0.1:port/metrics`, until `shutdown()`; port 0 takes a free one."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = metrics.prometheus().encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """The endpoint is quiet."""

    server = ThreadingHTTPServer((host, port), Page)
    threading.Thread(target=server.serve_forever, name="weft-metrics", daemon=True).start()
    return server
