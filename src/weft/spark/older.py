"""PySpark as it is installed in; what newer ones have and this one has not, with the word for it, out.

Weft's own data source needs PySpark 4.0, which has data sources in Python. What came later is used where it is:

4.1  `approx_top_k`: messages by subscription and documents by partition, in the counts of a job
     writing a stream by `writeStream.format("weft")`; `weft run --stream --format files` needs it not
4.2  `maxFilesPerTrigger` for the first batch after a start: before, that one takes all that is there
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark import __version__
from pyspark.sql import SparkSession

from weft.errors import ConfigurationError

if TYPE_CHECKING:
    from pyspark.sql.datasource import (
        DataSource,
        DataSourceArrowWriter,
        DataSourceReader,
        DataSourceStreamArrowWriter,
        DataSourceStreamReader,
        InputPartition,
        WriterCommitMessage,
    )
    from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxFiles, SupportsTriggerAvailableNow
else:
    try:
        from pyspark.sql.datasource import (
            DataSource,
            DataSourceArrowWriter,
            DataSourceReader,
            DataSourceStreamReader,
            InputPartition,
            WriterCommitMessage,
        )
    except ModuleNotFoundError:  # 3.5

        class _None:
            """Nothing that Spark knows."""

        DataSource = DataSourceArrowWriter = DataSourceReader = DataSourceStreamReader = WriterCommitMessage = _None

        @dataclass
        class InputPartition:
            """What a task reads."""

            value: Any

    try:
        from pyspark.sql.datasource import DataSourceStreamArrowWriter
    except ImportError:  # 4.0
        DataSourceStreamArrowWriter = object
    try:
        from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxFiles, SupportsTriggerAvailableNow
    except ModuleNotFoundError:  # 4.1

        class ReadLimit:
            """How much a batch reads."""

        @dataclass
        class ReadMaxFiles(ReadLimit):
            """At most so many files."""

            max_files: int

        class SupportsTriggerAvailableNow:
            """A source that is asked to end where it is now."""


__all__ = [
    "DataSource",
    "DataSourceArrowWriter",
    "DataSourceReader",
    "DataSourceStreamArrowWriter",
    "DataSourceStreamReader",
    "InputPartition",
    "ReadLimit",
    "ReadMaxFiles",
    "SupportsTriggerAvailableNow",
    "WriterCommitMessage",
    "has_sources",
    "needed",
    "register",
    "version_of",
]


def version_of(text: str = __version__) -> tuple[int, int]:
    """The version of a Spark that decides what it has.

    >>> version_of("4.0.1")
    (4, 0)
    """
    major, minor = text.split(".")[:2]
    return int(major), int("".join(digit for digit in minor if digit.isdigit()))


def has_sources(spark: SparkSession) -> bool:
    """Whether a session takes data sources that are written in Python."""
    return hasattr(spark, "dataSource")


def register(spark: SparkSession, source: Callable[..., object]) -> None:
    """Make a data source known, where there are any."""
    if has_sources(spark):
        spark.dataSource.register(source)  # type: ignore[arg-type]


def needed(what: str, version: str, instead: str) -> ConfigurationError:
    """What is told where a newer Spark would be needed."""
    return ConfigurationError(f"{what} needs PySpark {version} or newer, this is {__version__}; {instead}")
