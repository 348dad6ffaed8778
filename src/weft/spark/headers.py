"""Configurations of views in, a function for `DataFrame.transform` out: documents get a column with their headers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import BinaryType, StructField, StructType

from weft.documents.document import Document, Limits
from weft.errors import ConfigurationError
from weft.headers.configuration import Configuration, Configurations, as_configurations
from weft.headers.producer import Producer
from weft.spark.transform import check_documents

_AT_ONCE = 64  # documents that are scanned together


def with_headers(
    configuration: Configurations,
    column: str = "value",
    *,
    header: str = "header",
    stream: str = "stream",
    limits: Limits | None = None,
) -> Callable[[DataFrame], DataFrame]:
    """Add a binary column `header` with the byte offsets of views: `frame.transform(with_headers("views.toml"))`.

    A document that cannot be read has null there, and so has one that no configuration is for. Servers downstream give
    the configurations to `deliver` or `match`. A column of this name that is there already is replaced.
    """
    configurations = as_configurations(configuration)

    def transform(frame: DataFrame) -> DataFrame:
        check_documents(frame, column)
        if header == column:
            raise ConfigurationError(f"header: expected another column than that of the documents, found {header!r}")
        kept = [field for field in frame.schema.fields if field.name != header]
        schema = StructType([*kept, StructField(header, BinaryType())])
        names = tuple(field.name for field in kept)
        of_stream = stream if stream in names else None
        return frame.mapInArrow(HeaderWorker(configurations, names, column, of_stream, header, limits), schema)

    return transform


@dataclass(frozen=True, slots=True)
class HeaderWorker:
    """The function for `mapInArrow` that computes headers."""

    configurations: tuple[Configuration, ...]
    names: tuple[str, ...]
    value: str
    stream: str | None
    header: str
    limits: Limits | None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Each batch with its new column."""
        producer = Producer(self.configurations, self.limits)
        for batch in batches:
            headers: list[bytes | None] = []
            for start in range(0, len(batch), _AT_ONCE):
                headers += self._headers(producer, batch.slice(start, _AT_ONCE))
            columns = [batch.column(name) for name in self.names]
            yield pa.RecordBatch.from_arrays(
                [*columns, pa.array(headers, pa.binary())], names=[*self.names, self.header]
            )

    def _headers(self, producer: Producer, rows: pa.RecordBatch) -> list[bytes | None]:
        streams = rows.column(self.stream).to_pylist() if self.stream else [""] * len(rows)
        given = rows.column(self.value).to_pylist()
        documents = [
            Document(data, str(at), str(streams[at] or "")) for at, data in enumerate(given) if data is not None
        ]
        headers: list[bytes | None] = [None] * len(rows)
        for document in producer.attach(documents):
            headers[int(document.id)] = document.header
        return headers
