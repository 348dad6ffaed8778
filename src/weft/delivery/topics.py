"""`kafka://HOST:PORT/TOPIC,TOPIC` and options in, a checked value out; whether anybody answers there, in one line."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from weft.errors import ConfigurationError

#: How an address of topics begins.
KAFKA = "kafka://"
#: The client's own limit of a record, in bytes, unless the option says another.
LARGEST, LARGEST_OPTION = 1_048_576, "kafka.max.request.size"
_ADDRESS = re.compile(r"kafka://([^/\s]+)/([^/\s]+)")
_SERVER = re.compile(r"[^\s:,]+:\d{1,5}|\[[0-9a-fA-F:.%\w]+\]:\d{1,5}")
_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")
_PREFIX = "kafka."
_READING = (
    "startingOffsets",
    "startingTimestamp",
    "startingOffsetsByTimestamp",
    "startingOffsetsByTimestampStrategy",
    "endingOffsets",
    "endingTimestamp",
    "endingOffsetsByTimestamp",
    "failOnDataLoss",
    "kafkaConsumer.pollTimeoutMs",
    "fetchOffset.numRetries",
    "fetchOffset.retryIntervalMs",
    "maxOffsetsPerTrigger",
    "minOffsetsPerTrigger",
    "maxTriggerDelay",
    "minPartitions",
    "maxRecordsPerPartition",
    "groupIdPrefix",
)
_SECONDS = 5.0  # for a server to answer


@dataclass(frozen=True, slots=True)
class Topics:
    """Topics of one Kafka, and Spark's options for them; what is secret among these is never shown."""

    servers: str
    names: tuple[str, ...]
    options: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __str__(self) -> str:
        return f"{KAFKA}{self.servers}/{','.join(self.names)}"

    @property
    def client_options(self) -> dict[str, str]:
        """The options of Kafka's own clients, with Spark's prefix, and where the servers are."""
        own = {name: value for name, value in self.options.items() if name.startswith(_PREFIX)}
        return {**own, f"{_PREFIX}bootstrap.servers": self.servers}

    @property
    def reading_options(self) -> dict[str, str]:
        """The options of Spark's source: those of the clients, and its own."""
        return {"startingOffsets": "earliest", **self.options, **self.client_options, "subscribe": ",".join(self.names)}

    @property
    def largest(self) -> int:
        """The bytes that a record may have."""
        return int(self.options.get(LARGEST_OPTION, LARGEST))


def is_kafka(text: str) -> bool:
    """Whether a place is one of topics, and not a folder."""
    return text.startswith(KAFKA)


def read_topics(text: str, options: Mapping[str, str] | None = None) -> Topics:
    """The topics that an address names; raises ConfigurationError if it is none.

    >>> read_topics("kafka://one:9092,two:9092/orders,refunds").names
    ('orders', 'refunds')
    """
    found = _ADDRESS.fullmatch(text)
    if found is None:
        raise ConfigurationError(f"expected kafka://HOST:PORT/TOPIC, found {text!r}")
    servers, names = found[1].split(","), found[2].split(",")
    for server in servers:
        if not _SERVER.fullmatch(server):
            raise ConfigurationError(f"{text}: expected HOST:PORT, found {server!r}")
    return Topics(found[1], tuple(dict.fromkeys(map(checked_topic, names))), checked_options(options or {}))


def checked_topic(name: str) -> str:
    """The name, if a topic can have it."""
    if not _TOPIC.fullmatch(name) or name in (".", ".."):
        expected = "a topic of at most 249 letters, digits, '.', '_' and '-'"
        raise ConfigurationError(f"expected {expected}, found {name!r}")
    return name


def read_options(given: Iterable[str]) -> dict[str, str]:
    """Options as NAME=VALUE, checked."""
    options = {}
    for entry in given:
        name, equals, value = entry.partition("=")
        if not equals:
            raise ConfigurationError(f"--option: expected NAME=VALUE, found {entry!r}")
        options[name] = value
    return dict(checked_options(options))


def checked_options(options: Mapping[str, str]) -> Mapping[str, str]:
    """The options, if all are known: Spark would pass over what is misspelt."""
    known = {name.lower() for name in _READING}
    for name in options:
        if not name.startswith(_PREFIX) and name.lower() not in known:
            raise ConfigurationError(f"option {name}: expected kafka.… or one of {', '.join(_READING)}")
    largest = options.get(LARGEST_OPTION, str(LARGEST))
    if not (largest.isascii() and largest.isdigit() and 0 < int(largest) < 2**31):
        raise ConfigurationError(f"option {LARGEST_OPTION}: expected a number of bytes, found {largest!r}")
    return options


def check_answers(topics: Topics) -> None:
    """Raise ConfigurationError unless one of the servers takes a connection: Kafka's client would wait for minutes."""
    reason = ""
    for server in topics.servers.split(","):
        host, _, port = server.rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=_SECONDS).close()
        except (OSError, OverflowError) as error:
            told = (error.strerror if isinstance(error, OSError) else None) or str(error)
            reason = reason or f"{server}: {told}"
        else:
            return
    raise ConfigurationError(f"{topics}: no server of Kafka answers ({reason})")
