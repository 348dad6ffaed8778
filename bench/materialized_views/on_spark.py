"""Views over many documents on Spark: `python -m bench.materialized_views.on_spark 10000 40000` tells what they take.

Documents are of about 1 KB, in Parquet. For each number of them: seconds to recommend, to store, and to answer.
"""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path
from random import Random
from resource import RUSAGE_SELF, getrusage
from tempfile import TemporaryDirectory
from time import perf_counter

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from bench.materialized_views.workload import make_source
from weft.spark import materialize_views, recommend_views, views
from weft.spark.session import start_session
from weft.views.sources.rates import Rate, Rates
from weft.views.workload import read_lines

_DOCUMENT_BYTES = 1_000
_FILE_DOCUMENTS = 5_000
_WORKLOAD = ["all: 5 /s/a/*", "b: 4 /s/a/b", "g: 3 /s/a/*[g]", "e: 2 /s/a/e[@k = '1']", "h: 1 //h"]
_RATES = Rates(Rate(1e6), Rate(1e6), Rate(0.5))


def _write_documents(folder: Path, number: int) -> None:
    random = Random(1)
    kinds = [make_source(random, "s", _DOCUMENT_BYTES) for _ in range(500)]
    folder.mkdir()
    for first in range(0, number, _FILE_DOCUMENTS):
        ids = [f"d{at:08d}" for at in range(first, min(first + _FILE_DOCUMENTS, number))]
        values = [f"{kinds[random.randrange(len(kinds))]}<!-- {id} -->" for id in ids]
        pq.write_table(pa.table({"document": ids, "value": values}), folder / f"{first:08d}.parquet")


def main(numbers: list[int]) -> None:
    """Print a line for each number of documents."""
    spark = start_session("local[*]")
    spark.sparkContext.setLogLevel("ERROR")
    workload = read_lines(_WORKLOAD)
    print("documents | recommend s | store s | answer s: Spark SQL | DuckDB | nodes | stored MB | driver MB")
    for number in numbers:
        with TemporaryDirectory() as place:
            _write_documents(Path(place, "documents"), number)
            frame = spark.read.parquet(f"file:{place}/documents")
            times = [perf_counter()]
            found = recommend_views(frame, workload, 1e12, rates=_RATES)
            times.append(perf_counter())
            manifest = materialize_views(frame, found, Path(place, "views"))
            times.append(perf_counter())
            stored = views(spark, Path(place, "views"))
            nodes = stored.answer("/s/a/e[@k = '1']").count()
            times.append(perf_counter())
            sql = "SELECT count(*) FROM read_parquet(?) WHERE list_contains(views, 'e')"
            counted = duckdb.execute(sql, [stored.files("e")]).fetchone()
            times.append(perf_counter())
            assert counted == (nodes,), "both read the same"
            taken = " | ".join(f"{end - start:.1f}" for start, end in pairwise(times))
            driver = getrusage(RUSAGE_SELF).ru_maxrss / 1e3
            print(f"{number:,} | {taken} | {nodes:,} | {manifest.bytes / 1e6:.1f} | {driver:.0f}", flush=True)
    spark.stop()


if __name__ == "__main__":
    main([int(each) for each in sys.argv[1:]])
