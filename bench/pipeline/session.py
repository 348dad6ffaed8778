"""Work for Spark in, its answer out: a session in a process of its own, so that several can be up and take turns."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TypeVar

import pyspark
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col

from bench.measure import Child, ChildLostError
from weft.spark import deliver, match
from weft.spark.compiled import Compiled
from weft.spark.session import start_session
from weft.spark.transform import Transform

Answer = TypeVar("Answer")
Work = Callable[[SparkSession], Answer]
PARTITIONS = 8
_TIMEOUT = 1_800.0


class Session:
    """A Spark session with so many cores and so much memory, whose files are in a folder of its own."""

    def __init__(
        self,
        cores: int,
        folder: Path,
        heap: str,
        java: str = "",
        *,
        master: str = "",
        conf: Mapping[str, str] | None = None,
    ) -> None:
        self.cores, self._folder = cores, folder
        self._child = Child("bench.pipeline.session", cores, folder, heap, java, master, dict(conf or {}))

    def do(self, work: Work[Answer]) -> Answer:
        """Have it done there; raises ChildLostError if it fails."""
        answer: Answer = self._child.ask(work, _TIMEOUT)
        return answer

    def close(self) -> None:
        """Let Spark end by itself, if it is there at all."""
        with suppress(ChildLostError):
            self._child.ask(_stop, 60.0)
        self._child.close()
        shutil.rmtree(self._folder, ignore_errors=True)


def make(
    cores: int, folder: Path, heap: str, java: str, master: str, more: dict[str, str]
) -> Callable[[Work[object]], object]:
    """Start the session; then do what is asked. Runs in the child."""
    folder.mkdir(parents=True)
    conf = {"spark.driver.memory": heap, "spark.local.dir": str(folder), "spark.sql.warehouse.dir": str(folder)}
    conf["spark.driver.extraJavaOptions"] = java
    if master.startswith("local-cluster"):  # it starts its executors from there
        os.environ.setdefault("SPARK_HOME", str(Path(pyspark.__file__).parent))
        conf["spark.executorEnv.PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    spark = start_session(master or f"local[{cores}]", conf | more, folder / "spark.log")
    return lambda work: work(spark)


def _stop(spark: SparkSession) -> None:
    spark.stop()


def load(name: str, folder: Path, spark: SparkSession, *, rows: int | None = None, text: bool = False) -> None:
    """Make a set of documents the table `name`, in memory, in equal partitions, as binary or as text."""
    if spark.catalog.tableExists(name):
        unload(name, spark)
    read = spark.read.parquet(str(folder))
    some = read if rows is None else read.limit(rows)
    frame = some.select(col("value").cast("string")) if text else some
    frame.repartition(PARTITIONS).createOrReplaceTempView(name)
    spark.catalog.cacheTable(name)
    spark.table(name).count()


def unload(name: str, spark: SparkSession) -> None:
    """Free the memory of a table."""
    spark.catalog.uncacheTable(name)
    spark.catalog.dropTempView(name)


def time_match(compiled: Compiled, name: str, spark: SparkSession) -> float:
    """The seconds until every document of a table has its matches."""
    return _time(spark.table(name), partial(match, compiled))


def time_deliver(compiled: Compiled, name: str, spark: SparkSession) -> float:
    """The seconds until all messages of a table's documents are there."""
    return _time(spark.table(name), partial(deliver, compiled))


def _time(frame: DataFrame, make_transform: Callable[[], Transform]) -> float:
    started = perf_counter()
    to_nowhere(frame.transform(make_transform()))
    return perf_counter() - started


def to_nowhere(frame: DataFrame) -> None:
    """Have all rows made, and none written."""
    frame.write.format("noop").mode("overwrite").save()
