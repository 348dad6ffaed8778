"""Topics in; whether they are there, or that they are made, out: by Kafka's own client, which the connector brings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.sql import SparkSession

from weft.delivery.topics import Topics
from weft.errors import ConfigurationError

_SECONDS = 30  # for a server to answer
_PREFIX = "kafka."


def check_topics(spark: SparkSession, topics: Topics) -> None:
    """Raise ConfigurationError for a topic that is not there: Spark would only say that some is not."""
    with _admin(spark, topics) as admin:
        if admin is not None and (missing := _missing(admin, topics.names)):
            told = ", ".join(map(repr, missing))
            raise ConfigurationError(f"{topics}: there is no topic {told}; make it first, documents come from it")


def make_topics(spark: SparkSession, topics: Topics, names: Iterable[str]) -> None:
    """Make the topics that are not there, with the partitions and copies that the server gives unless it is told."""
    with _admin(spark, topics) as admin:
        missing = [] if admin is None else _missing(admin, names)
        if not missing:
            return
        jvm: Any = spark._jvm  # Spark Connect has none, and then there is no admin
        unsaid, wanted = jvm.java.util.Optional.empty(), jvm.java.util.ArrayList()
        for name in missing:
            wanted.add(jvm.org.apache.kafka.clients.admin.NewTopic(name, unsaid, unsaid))
        try:
            admin.createTopics(wanted).all().get()
        except Py4JJavaError as error:
            if "TopicExistsException" not in str(error.java_exception):  # another has just made it
                raise


def _missing(admin: Any, names: Iterable[str]) -> list[str]:
    known = set(admin.listTopics().names().get())
    return [name for name in names if name not in known]


@contextmanager
def _admin(spark: SparkSession, topics: Topics) -> Iterator[Any]:
    """Kafka's client, or None where there is no way to it."""
    jvm = getattr(spark, "_jvm", None) if hasattr(spark, "_jsc") else None
    if jvm is None:
        yield None
        return
    settings = jvm.java.util.Properties()
    for name, value in {f"{_PREFIX}default.api.timeout.ms": str(_SECONDS * 1000), **topics.client_options}.items():
        settings.put(name.removeprefix(_PREFIX), value)
    try:
        admin = jvm.org.apache.kafka.clients.admin.Admin.create(settings)
    except (TypeError, Py4JError) as error:
        if isinstance(error, Py4JJavaError):
            raise
        advice = "give its jars with --jars, or --conf spark.jars.packages=…"
        raise ConfigurationError(f"{topics}: this Spark has no connector for Kafka; {advice}") from None
    try:
        yield admin
    finally:
        admin.close()
