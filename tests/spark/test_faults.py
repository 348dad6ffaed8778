"""A disk, a folder or a file that fails in the middle of a job: one clear line, and nothing lost when it is mended."""

import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pytest
from py4j.protocol import Py4JNetworkError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from typer.testing import CliRunner, Result
from weft_process import without_progress

from weft.cli import app
from weft.delivery.output import Format
from weft.delivery.results import read_results
from weft.errors import ConfigurationError
from weft.spark import SPARK_ERRORS, BatchMetrics, Job, first_line, job_places, run_batch, run_stream
from weft.spark import job as job_module

pytestmark = pytest.mark.slow
FORMATS = ("parquet", "files")


class Feed:
    """A folder of documents and a stream that delivers them, run by run."""

    def __init__(self, folder: Path, format: Format = "parquet") -> None:
        self.inbox, self.output = folder / "inbox", folder / "out"
        self.inbox.mkdir()
        self.subscriptions = folder / "subscriptions.xpath"
        self.subscriptions.write_text("/a/@n\n/a/text()\n")
        self.job = Job(self.subscriptions, self.inbox, self.output, format=format, max_files_per_trigger=20)
        self.format = format

    def arrive(self, *numbers: int, size: int = 10) -> None:
        for number in numbers:
            hidden = self.inbox / f".{number}"
            hidden.write_text(f"<a n='{number}'>{os.urandom(size // 2).hex()}</a>")  # which nothing can compress
            hidden.replace(self.inbox / f"{number}.xml")

    def run(self, *options: str) -> Result:
        command = ["run", "--subscriptions", self.subscriptions, "--documents", self.inbox, "--output", self.output]
        command += ["--format", self.format, *(options or ("--stream", "--available-now"))]
        return CliRunner().invoke(app, [str(part) for part in command])

    def delivered(self) -> list[str]:
        return sorted(row["message"] for row in read_results(self.output, "1"))


def expected(*numbers: int) -> list[str]:
    return sorted(f'n="{number}"' for number in numbers)


def told(result: Result) -> str:
    """The one line of a run that failed."""
    assert result.exit_code == 2, result.stderr
    (line,) = without_progress(result.stderr).splitlines()
    assert line.startswith("weft: ")
    return line


def mount(*options: str) -> None:
    done = subprocess.run(["mount", *options], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"mounting is not allowed here: {done.stderr.strip()}")


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Nothing can be written below a folder, not even by root."""
    if os.geteuid():
        folder.chmod(0o555)
        yield
        folder.chmod(0o755)
        return
    mount("--bind", str(folder), str(folder))
    try:
        mount("-o", "remount,ro,bind", str(folder))
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextmanager
def small(folder: Path, size: str) -> Iterator[None]:
    """A file system of its own for a folder, which must be empty."""
    folder.mkdir(parents=True)
    mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder))
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


# -- the output


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.usefixtures("spark")
def test_an_output_that_becomes_read_only_is_told_and_nothing_is_lost(tmp_path: Path, format: Format) -> None:
    feed = Feed(tmp_path, format)
    feed.arrive(1, 2)
    assert feed.run().exit_code == 0
    feed.arrive(3, 4)

    with read_only(feed.output / "messages"):
        line = told(feed.run())
        kept = feed.delivered()
    again = feed.run()

    assert "Read-only file system" in line or "Permission denied" in line or "cannot write there" in line
    assert str(feed.output / "messages") in line or "Read-only" in line
    assert kept == expected(1, 2)
    assert again.exit_code == 0, again.stderr
    assert feed.delivered() == expected(1, 2, 3, 4)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.usefixtures("spark")
def test_an_output_that_is_full_is_told_and_nothing_is_lost(tmp_path: Path, format: Format) -> None:
    feed = Feed(tmp_path, format)
    messages = feed.output / "messages"
    with small(messages, "600k"):
        feed.arrive(1, 2)
        assert feed.run().exit_code == 0
        feed.arrive(*range(3, 9), size=200_000)

        line = told(feed.run())
        mount("-o", "remount,size=64m", str(messages))
        again = feed.run()

        assert "No space left on device" in line
        assert again.exit_code == 0, again.stderr
        assert feed.delivered() == expected(*range(1, 9))


@pytest.mark.usefixtures("spark")
def test_a_full_output_of_a_batch_is_told_and_the_rerun_needs_no_overwrite(tmp_path: Path) -> None:
    feed = Feed(tmp_path)
    feed.arrive(*range(8), size=200_000)
    with small(feed.output / "messages", "300k"):
        line = told(feed.run("--master", "local[2]"))
    again = feed.run("--master", "local[2]")

    assert "No space left on device" in line
    assert again.exit_code == 0, again.stderr
    assert feed.delivered() == expected(*range(8))
    assert told(feed.run("--master", "local[2]")).endswith("choose another, or --overwrite")


# -- the input


@pytest.mark.parametrize("format", FORMATS)
def test_an_input_that_vanishes_ends_the_stream_and_is_read_when_it_is_back(
    spark: SparkSession, tmp_path: Path, format: Format
) -> None:
    feed = Feed(tmp_path, format)
    feed.arrive(1, 2)
    elsewhere = tmp_path / "elsewhere"

    def vanish(_: BatchMetrics) -> None:
        feed.arrive(3)
        feed.inbox.rename(elsewhere)

    with pytest.raises(SPARK_ERRORS) as ended, run_stream(spark, feed.job, on_batch=vanish) as query:
        query.awaitTermination(240)
    missing = told(feed.run())
    elsewhere.rename(feed.inbox)
    feed.arrive(4)
    again = feed.run()

    assert str(feed.inbox) in first_line(ended.value)
    assert "expected a folder that files arrive in" in first_line(ended.value)
    assert missing == f"weft: {feed.inbox}: no such file or folder of documents"
    assert again.exit_code == 0, again.stderr
    assert feed.delivered() == expected(1, 2, 3, 4)
    assert list(read_results(feed.output, only_rejected=True)) == []


def test_files_that_are_written_where_they_are_read_are_delivered_or_rejected_and_never_lost(
    spark: SparkSession, tmp_path: Path
) -> None:
    feed, number = Feed(tmp_path), 40
    is_over = threading.Event()

    def write_slowly() -> None:
        for at in range(number):
            with (feed.inbox / f"{at}.xml").open("w") as file:
                file.write(f"<a n='{at}'>")
                file.flush()
                time.sleep(0.05)
                file.write("</a>")
        is_over.set()

    writer = threading.Thread(target=write_slowly)
    with run_stream(spark, feed.job) as query:
        writer.start()
        while not is_over.is_set():
            assert not query.awaitTermination(1)
        writer.join()
        query.processAllAvailable()

    rejected = [row["document"] for row in read_results(feed.output, only_rejected=True)]
    delivered = [row["document"] for row in read_results(feed.output, "1")]
    assert sorted(rejected + delivered) == sorted(f"{at}.xml" for at in range(number))
    assert feed.job.metrics.documents == number


@pytest.mark.parametrize("format", FORMATS)
def test_a_document_that_is_mended_between_the_two_passes_of_a_batch_is_delivered(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: Format
) -> None:
    feed = Feed(tmp_path, format)
    feed.arrive(1)
    (feed.inbox / "2.xml").write_text("<a n='2'>")
    (feed.inbox / "3.xml").write_text("<a n='3'>")
    monkeypatch.setattr(job_module, "write", after_messages(lambda: feed.arrive(2)))

    done = run_batch(spark, feed.job)

    assert feed.delivered() == expected(1, 2)
    assert [row["document"] for row in read_results(feed.output, only_rejected=True)] == ["3.xml"]
    assert (done.documents, done.rejected) == (3, 1)


def test_documents_that_never_stop_changing_are_told(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed = Feed(tmp_path)
    (feed.inbox / "1.xml").write_text("<a n='1'>")
    (feed.inbox / "2.xml").write_text("<a n='2'>")

    def swap() -> None:
        one, other = feed.inbox / "1.xml", feed.inbox / "2.xml"
        for file in (one, other):
            file.write_text("<a/>" if file.read_text() != "<a/>" else "<a>")

    (feed.inbox / "2.xml").write_text("<a/>")
    monkeypatch.setattr(job_module, "write", after_messages(swap))

    with pytest.raises(ConfigurationError, match="inbox: documents change while they are read; write them elsewhere"):
        run_batch(spark, feed.job)

    monkeypatch.undo()
    assert run_batch(spark, feed.job).documents == 2


def after_messages(change: Callable[[], None]) -> Callable[..., None]:
    """Write as a job does; when the messages are written, something happens to the documents."""
    write = job_places.write

    def write_and_change(frame: DataFrame, job: Job, name: str, batch: int) -> None:
        write(frame, job, name, batch)
        if name == "messages":
            change()

    return write_and_change


# -- what Spark says


def raising(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        if len(batch):
            raise ValueError("the cause: told here\nand more")
        yield batch


def test_what_a_worker_raises_is_told_in_batch_and_in_streaming(spark: SparkSession, tmp_path: Path) -> None:
    work = raising
    work.__module__ = "__main__"  # so that it is pickled by value: workers cannot import tests
    frame = spark.range(4).mapInArrow(work, "id long")

    def run(_frame: object, _batch: int) -> None:
        frame.write.mode("overwrite").parquet(str(tmp_path / "out"))

    with pytest.raises(PySparkException) as in_batch:
        frame.collect()
    stream = spark.readStream.format("rate").load().writeStream.foreachBatch(run)
    with pytest.raises(PySparkException) as in_stream:
        stream.option("checkpointLocation", str(tmp_path / "checkpoint")).start().awaitTermination(240)

    assert first_line(in_batch.value) == first_line(in_stream.value) == "ValueError: the cause: told here"


JOB = "An error occurred while calling o1.save.\n: org.apache.spark.SparkException: Job aborted due to stage failure: "
LOST = "ExecutorLostFailure (executor 1 exited caused by one of the running tasks) Reason: Command exited with code 137"
TRACEBACK = "Traceback (most recent call last):\n  File x\n    y\n"
TEXTS = [
    (
        f"{JOB}Lost task 0.3 (executor 1): {LOST}\nDriver:\n",
        f"an executor was lost: {LOST}",
    ),
    (f"{JOB}x\nCaused by: java.nio.file.AccessDeniedException: /out/x\n\tat y", "/out/x: Permission denied"),
    (f"{JOB}x\nCaused by: java.nio.file.NoSuchFileException: /out/x\n\tat y", "/out/x: No such file or directory"),
    (f"{JOB}x\nCaused by: java.io.FileNotFoundException: /x (Permission denied)\n", "/x (Permission denied)"),
    (f"{JOB}x\nCaused by: java.io.IOException: No space left on device\n\tat y", "No space left on device"),
    (f"{JOB}the reason\n\tat y\nCaused by: java.io.EOFException\n", "Job aborted due to stage failure: the reason"),
    ("[NO_TABLE] There is no such table. SQLSTATE: 42P01", "[NO_TABLE] There is no such table."),
    (f"{TRACEBACK}weft.errors.DocumentError: a:1:2: bad (byte 3)\n", "a:1:2: bad (byte 3)"),
    (f"{TRACEBACK}KeyError: 'a'\n\nDuring that:\n\n{TRACEBACK}OSError: full\n", "OSError: full"),
    ("[STREAM_FAILED] Query [id = 1, runId = 2] terminated with exception: No worker. SQLSTATE: XXKST", "No worker."),
    ("", "Exception"),
]


@pytest.mark.parametrize(("text", "line"), TEXTS)
def test_the_line_that_says_something_is_found(text: str, line: str) -> None:
    assert first_line(Exception(text)) == line


def test_a_spark_that_is_gone_is_told() -> None:
    assert "Spark ended unexpectedly" in first_line(Py4JNetworkError("Answer from Java side is empty"))
