"""Documents in a topic in, how fast a stream delivers them into another one out; or why there is no Kafka to ask."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter

from pyspark.sql import SparkSession

from bench.contest import DisagreementError
from bench.news import news_queries
from bench.pipeline.session import Session
from weft.broker.subscriptions import Subscription, write_subscription
from weft.delivery.job import Job
from weft.delivery.metrics import BatchMetrics
from weft.delivery.topics import Topics, read_topics
from weft.spark.job import run_stream
from weft.spark.kafka_admin import make_topics

SUBSCRIPTIONS = 1_000
_ROOT = Path(__file__).resolve().parents[2]
_KAFKA = _ROOT / ".cache" / "kafka"


@dataclass(frozen=True, slots=True)
class KafkaRun:
    """What a stream between topics took, or in `missing` why there was none."""

    documents: int = 0
    seconds: float = 0.0  # of the batches after the first
    messages: int = 0
    missing: str | None = None

    @property
    def documents_per_second(self) -> float | None:
        """Of the batches after the first, in which workers start; None where nothing was measured."""
        return self.documents / self.seconds if self.seconds else None


def why_not() -> str | None:
    """Why there is no Kafka here; None if there is."""
    told = subprocess.run(
        [sys.executable, str(_ROOT / "tools" / "kafka" / "fetch.py"), str(_KAFKA)],
        capture_output=True,
        text=True,
        check=False,
    )
    return None if (_KAFKA / "versions").exists() else told.stdout.strip() or told.stderr.strip()


def measure_kafka(folder: Path, documents: Sequence[bytes], per_trigger: int, heap: str, java: str) -> KafkaRun:
    """Send all documents to a topic, and deliver them from there into another one."""
    if (missing := why_not()) is not None:
        return KafkaRun(missing=missing)
    folder.mkdir(parents=True)
    queries = news_queries(SUBSCRIPTIONS, predicates=True)
    entries = (Subscription(f"stream-{number}", query) for number, query in enumerate(queries))
    (folder / "subscriptions.jsonl").write_text("".join(write_subscription(each) + "\n" for each in entries))
    jars = ",".join(sorted(str(jar) for jar in (_KAFKA / "connector").glob("*.jar")))
    with _broker() as address:
        session = Session(2, folder / "spark", heap, java, conf={"spark.jars": jars})
        try:
            return session.do(partial(run_once, folder, address, list(documents), per_trigger))
        finally:
            session.close()


def run_once(folder: Path, address: str, documents: list[bytes], per_trigger: int, spark: SparkSession) -> KafkaRun:
    """Runs where Spark is; every message that was counted must be in the topic."""
    source = read_topics(f"kafka://{address}/news", {"maxOffsetsPerTrigger": str(per_trigger)})
    target = read_topics(f"kafka://{address}/messages")
    make_topics(spark, source, source.names)
    rows = [(bytearray(document),) for document in documents]
    sent = spark.createDataFrame(rows, "value binary").write.format("kafka").options(**source.client_options)
    sent.option("topic", "news").save()
    batches: list[BatchMetrics] = []
    job = Job(folder / "subscriptions.jsonl", source, folder / "output", target=target)
    started = perf_counter()
    with run_stream(spark, job, available_now=True, on_batch=batches.append) as query:
        query.awaitTermination()
    whole = perf_counter() - started
    expected = sum(each.messages for each in batches)
    if sum(each.documents for each in batches) != len(documents) or _count(spark, target) != expected:
        raise DisagreementError(f"of {len(documents)} documents not all {expected} messages are in the topic")
    if len(batches) == 1:
        return KafkaRun(len(documents), whole, expected)
    rest = batches[1:]
    return KafkaRun(sum(each.documents for each in rest), sum(each.seconds for each in rest), expected)


def _count(spark: SparkSession, topics: Topics) -> int:
    return spark.read.format("kafka").options(**topics.reading_options).load().count()


@contextmanager
def _broker() -> Iterator[str]:
    """The address of a broker that ends with its standard input."""
    command = [sys.executable, str(_ROOT / "tools" / "kafka" / "broker.py"), str(_KAFKA)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()
            process.wait()
