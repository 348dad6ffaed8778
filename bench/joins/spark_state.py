"""Sizes of a state in, what a stream on Spark writes of it for each document, and how long a batch takes, out."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from weft.errors import ConfigurationError
from weft.spark.joins import join
from weft.spark.session import session

QUERIES = (
    "S//order->o[customer->x] FOLLOWED BY{x = y, 30 days} S//bill[customer->y] "
    "FOLLOWED BY{y = z, 30 days} S//payment[customer->z]",
    "S//order->o[customer->x] NOT FOLLOWED BY{x = y, 30 days} S//bill[customer->y]",
)
_NAMES = ("order", "bill", "payment")
_SCHEMA = "document string, stream string, timestamp double, value binary"
_AT_ONCE = 10_000  # documents of a batch that only fills the state
_BATCH, _ROUNDS = 1_000, 7


@dataclass(frozen=True, slots=True)
class StreamState:
    """What a batch costs by the number of documents that are held."""

    seconds: dict[int, float]  # the median of some batches
    bytes_written: float  # to the checkpoint, for each document of these
    document_bytes: float

    @property
    def growth(self) -> float | None:
        """The largest state over the smallest."""
        least, most = min(self.seconds), max(self.seconds)
        return None if least == most else self.seconds[most] / self.seconds[least]


def measure_state(sizes: Sequence[int]) -> StreamState | None:
    """Batches of a thousand documents when so many are held; None if Spark does not start."""
    try:
        with TemporaryDirectory(ignore_cleanup_errors=True) as folder, session() as spark:
            return _measure(spark, Path(folder), sizes)
    except ConfigurationError:
        return None


def _measure(spark: SparkSession, folder: Path, sizes: Sequence[int]) -> StreamState:
    batches: list[int] = []
    measured: dict[int, slice] = {}
    for size in sorted(sizes):
        left = size - sum(batches)
        batches += [_AT_ONCE] * (left // _AT_ONCE) + [left % _AT_ONCE] * (left % _AT_ONCE > 0)
        measured[size] = slice(len(batches) + 1, len(batches) + _ROUNDS)  # the first one after large ones warms up
        batches += [_BATCH] * _ROUNDS
    length = _write(folder / "in", batches)
    stream = spark.readStream.schema(_SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(folder / "in"))
    spark.conf.set("spark.sql.streaming.numRecentProgressUpdates", str(len(batches) + 1))
    seconds = _run(stream.transform(join(QUERIES, lateness=0)), folder)
    written = [_written(folder / "checkpoint", batch) for batch in range(len(batches))]
    counted = [written[at] for part in measured.values() for at in range(part.start, part.stop)]
    return StreamState(
        {size: median(seconds[part]) for size, part in measured.items()}, sum(counted) / len(counted) / _BATCH, length
    )


def _write(folder: Path, batches: Sequence[int]) -> float:
    """A file for each batch, older ones first; the mean length of a document."""
    folder.mkdir()
    number = length = 0
    for at, size in enumerate(batches):
        numbers = range(number, number + size)
        values = [_document(each) for each in numbers]
        length += sum(map(len, values))
        columns = {
            "document": [f"d{each}" for each in numbers],
            "stream": ["S"] * size,
            "timestamp": [1_700_000_000.0 + each for each in numbers],
            "value": values,
        }
        file = folder / f"{at:05}.parquet"
        pq.write_table(pa.table(columns), file)
        os.utime(file, (1_000 + at, 1_000 + at))
        number += size
    return length / number


def _document(number: int) -> bytes:
    """Some customers' orders, bills and payments come one after the other; most are alone."""
    name, customer = _NAMES[number % 3], number // 3 if number % 300 < 30 else number
    note = f"<note>{number * 7919 % 100_003} {number * 104_729 % 1_000_003}</note>" * 8
    return f"<{name} n='{number}'><customer>c{customer}</customer>{note}</{name}>".encode()


def _run(frame: DataFrame, folder: Path) -> list[float]:
    writer = frame.writeStream.option("checkpointLocation", str(folder / "checkpoint")).format("noop")
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()
    return [each.durationMs["addBatch"] / 1_000 for each in query.recentProgress if each.numInputRows]


def _written(checkpoint: Path, batch: int) -> int:
    """What the checkpoint has got of the state with a batch."""
    return sum(file.stat().st_size for file in (checkpoint / "state").glob(f"*/*/**/{batch + 1}.changelog"))
