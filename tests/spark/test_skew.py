"""One huge file among thousands of tiny ones: no core waits while another works."""

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark import TaskContext
from pyspark.sql import SparkSession

from weft.spark import Job, run_batch

pytestmark = pytest.mark.slow
ROWS, TINY, KB = 10_000, 2_000, 1024


@pytest.fixture(scope="module")
def inbox(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("skewed") / "inbox"
    folder.mkdir()
    text = "x" * (4 * KB)
    with (folder / "huge.xml").open("w") as file:
        file.write("<items>")
        for number in range(ROWS):
            file.write(f"<item n='{number}'>{text}</item>")
        file.write("</items>")
    for number in range(TINY):
        (folder / f"{number:04d}.xml").write_text(f"<items><item n='{ROWS + number}'/></items>")
    return folder


def test_a_huge_file_is_read_by_all_cores(spark: SparkSession, inbox: Path, tmp_path: Path) -> None:
    def measure(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        assert context is not None
        (tmp_path / f"task-{context.partitionId()}").touch()
        end = time.monotonic() + 120
        # Nobody goes on before two are here: this ends only if two tasks run at the same time.
        while len(list(tmp_path.glob("task-*"))) < 2:
            assert time.monotonic() < end, "no second task has begun"
            time.sleep(0.01)
        for batch in batches:
            size = sum(map(len, batch.column("value").to_pylist()))
            counts = [[context.partitionId()], [size], [len(batch)]]
            yield pa.RecordBatch.from_arrays([pa.array(count) for count in counts], names=["part", "bytes", "rows"])

    frame = spark.read.format("weft").option("rowTag", "item").load(str(inbox))
    found = frame.mapInArrow(measure, "part long, bytes long, rows long").collect()

    sizes, rows = Counter[int](), 0
    for row in found:
        sizes[row.part] += row.bytes
        rows += row.rows
    assert rows == ROWS + TINY
    assert max(sizes.values()) < 0.6 * sizes.total()


def test_the_metrics_of_a_job_tell_how_even_it_was(spark: SparkSession, inbox: Path, tmp_path: Path) -> None:
    subscriptions = tmp_path / "subscriptions.xpath"
    subscriptions.write_text("/item[@n < 10]/@n\n")

    done = run_batch(spark, Job(subscriptions, inbox, tmp_path / "out", row_tag="item"))

    assert (done.documents, done.messages) == (ROWS + TINY, 10)
    assert sum(done.per_partition.values()) == done.documents
    assert len(done.per_partition) > 2
    assert max(done.per_partition.values()) < 0.6 * done.documents
    assert done.skew == max(done.per_partition.values()) * len(done.per_partition) / done.documents
