"""Links of a network as topics of Kafka: documents are records, and what servers know of them is in record headers."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.functions import array, col, filter, lit, struct, try_element_at

from weft.delivery.topics import LARGEST_OPTION, Topics, checked_topic
from weft.spark.record_headers import RECORD_HEADERS, from_record_headers, to_record_headers

#: What a record header tells of a document, beside `weft-views`, by column of a passage, with its type.
_TOLD = {"source": "string", "document": "string", "stream": "string", "timestamp": "long", "entered": "long"}
_LARGEST = str(64 * 1024 * 1024)  # bytes of a record: what the server takes decides, not the client


@dataclass(frozen=True, slots=True)
class TopicLink:
    """A `NetworkLink` between servers that share nothing but Kafka.

    A batch that is written again comes again: who reads tells documents that came before by source, id and time.
    """

    spark: SparkSession
    topics: Topics
    topic: str

    def read(self) -> DataFrame:
        """The documents as a stream."""
        options = {**self.topics.reading_options, "subscribe": self.topic, "includeHeaders": "true"}
        frame = self.spark.readStream.format("kafka").options(**options).load().drop("timestamp")
        told = [_told(name).cast("string").cast(kind).alias(name) for name, kind in _TOLD.items()]
        return frame.transform(from_record_headers()).select(*told, "header", "value")

    def write(self, batch: int, documents: DataFrame) -> None:  # noqa: ARG002
        """Send the documents of a batch."""
        pairs = [_header(f"weft-{name}", col(name).cast("string")) for name in _TOLD]
        kept = filter(array(*pairs).cast(RECORD_HEADERS), lambda each: each["value"].isNotNull())
        records = documents.withColumn("headers", kept).transform(to_record_headers())
        writer = records.select(col("document").cast("binary").alias("key"), "value", "headers").write.format("kafka")
        options = {f"{LARGEST_OPTION}": _LARGEST, **self.topics.client_options, "topic": self.topic}
        writer.mode("append").options(**options).save()


def link_topic(links: Topics, sender: str, receiver: str) -> str:
    """The topic of a link."""
    return checked_topic(f"{links.names[0]}.{sender}.{receiver}")


def _header(name: str, value: Column) -> Column:
    return struct(lit(name).alias("key"), value.cast("binary").alias("value"))


def _told(name: str) -> Column:
    own = filter(col("headers").cast(RECORD_HEADERS), lambda each: each["key"] == lit(f"weft-{name}"))
    return try_element_at(own, lit(-1))["value"]
