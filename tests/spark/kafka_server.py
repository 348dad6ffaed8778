"""A real Kafka for tests, and a client that nobody here wrote; or the one line that says why there is none."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic  # type: ignore[attr-defined]

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".cache" / "kafka"
_SECONDS = 60
Headers = tuple[tuple[str, bytes | None], ...]


class Record(NamedTuple):
    """A record as the client gets it."""

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: Headers
    timestamp: int

    def header(self, name: str) -> str | None:
        found = [value for key, value in self.headers if key == name]
        return None if not found or found[-1] is None else found[-1].decode()


def why_not() -> str | None:
    """Why there is no Kafka here; None if there is."""
    missing = FOLDER / "missing"
    if (FOLDER / "versions").exists():
        return None
    return missing.read_text().strip() if missing.exists() else "no jars of Kafka: run make kafka"


def jars() -> str:
    """The jars of Spark's connector."""
    return ",".join(sorted(str(jar) for jar in (FOLDER / "connector").glob("*.jar")))


class Kafka:
    """A broker on loopback in a process of its own, which ends with its standard input."""

    def __init__(self) -> None:
        command = [sys.executable, str(ROOT / "tools" / "kafka" / "broker.py"), str(FOLDER)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.address = self._told()
        self._admin = AdminClient({"bootstrap.servers": self.address, "log_level": 0})

    def close(self) -> None:
        """The broker is gone."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def say(self, what: str) -> None:
        """`stop` or `start`; it is done when this returns."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{what}\n")
        self._process.stdin.flush()
        assert self._told() == what

    def _told(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline().strip()
        assert line, "the broker did not start"
        return line

    def url(self, *topics: str) -> str:
        """The address of topics."""
        return f"kafka://{self.address}/{','.join(topics)}"

    def topic(self, partitions: int = 2, name: str | None = None, config: Mapping[str, str] | None = None) -> str:
        """A new topic."""
        name = name or f"t{uuid4().hex[:12]}"
        made = self._admin.create_topics([NewTopic(name, partitions, 1, config=dict(config or {}))])
        made[name].result(_SECONDS)
        return name

    def widen(self, topic: str, partitions: int) -> None:
        """Give a topic more partitions."""
        self._admin.create_partitions([NewPartitions(topic, partitions)])[topic].result(_SECONDS)

    def send(
        self, topic: str, values: Iterable[bytes | None], keys: Iterable[bytes] | None = None, headers: Headers = ()
    ) -> None:
        """Send values, each with its key and with these headers."""
        settings = {"bootstrap.servers": self.address, "message.max.bytes": 33_000_000, "linger.ms": 5}
        producer = Producer(settings)
        given: Iterable[bytes | None] = repeat(None) if keys is None else keys
        for value, key in zip(values, given, strict=False):
            producer.produce(topic, value, key=key, headers=list(headers))
            producer.poll(0)
        assert producer.flush(_SECONDS) == 0

    def read(self, topic: str) -> list[Record]:
        """All records of a topic that are there now, by partition and offset."""
        consumer = self._consumer(uuid4().hex)
        try:
            found = list(_read(consumer, topic))
        finally:
            consumer.close()
        return sorted(found)

    def member(self, group: str, *topics: str) -> Consumer:
        """A member of a group of consumers."""
        consumer = self._consumer(group)
        consumer.subscribe(list(topics))
        return consumer

    def _consumer(self, group: str) -> Consumer:
        return Consumer(
            {
                "bootstrap.servers": self.address,
                "group.id": group,
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "session.timeout.ms": 6000,
                "fetch.message.max.bytes": 33_000_000,
            }
        )


def _read(consumer: Consumer, topic: str) -> Iterator[Record]:
    places = [TopicPartition(topic, number, 0) for number in consumer.list_topics(topic, 10).topics[topic].partitions]
    ends = {place.partition: consumer.get_watermark_offsets(place)[1] for place in places}
    consumer.assign(places)
    missing = sum(ends.values())
    while missing:
        message = consumer.poll(_SECONDS)
        assert message is not None, "the broker says nothing"
        assert message.error() is None, message.error()
        record = as_record(message)
        if record.offset < ends[record.partition]:
            missing -= 1
            yield record


def as_record(message: Any) -> Record:
    """A message of the client."""
    headers = tuple(message.headers() or ())
    place = message.partition(), message.offset(), message.key(), message.value()
    return Record(*place, headers, message.timestamp()[1])
