"""The counts of a stream: by batch and by subscription, through a listener, and as Prometheus' text."""

import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner
from weft_process import kill_all, start_weft

from weft.cli import app
from weft.delivery.results import read_results
from weft.spark import BatchMetrics, Metrics, MetricsListener, deliver, observed, serve_metrics

pytestmark = pytest.mark.slow
QUERIES = ["/a/b", "/a[@n > 4]", "//missing"]


def fill(inbox: Path, number: int) -> None:
    """Documents with as many `b` as their number; the one after them is broken."""
    inbox.mkdir()
    for n in range(number):
        (inbox / f"{n}.xml").write_text(f"<a n='{n}'>{'<b/>' * n}</a>")
    (inbox / "broken.xml").write_text("<a>")


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 240
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def page(port: int) -> str:
    try:
        with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
            assert answer.headers.get_content_type() == "text/plain"
            return str(answer.read().decode())
    except URLError:
        return ""


def counts(text: str) -> dict[str, float]:
    """Prometheus' text as it is defined: a name, a space, a number on each line that is no comment."""
    assert text.endswith("\n")
    lines = [line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#")]
    return {name: float(number) for name, number in lines}


def test_a_listener_counts_by_batch_and_by_subscription(spark: SparkSession, tmp_path: Path) -> None:
    fill(tmp_path / "inbox", 8)
    metrics = Metrics()
    listener = MetricsListener(metrics)
    spark.streams.addListener(listener)
    try:
        for name in ("one", "two"):  # two streams at the same counts
            source = spark.readStream.format("weft").option("maxFilesPerTrigger", 4)
            stream = source.option("log", str(tmp_path / name / "log")).load(str(tmp_path / "inbox"))
            writer = stream.transform(observed(deliver(QUERIES))).writeStream.format("noop")
            writer = writer.option("checkpointLocation", str(tmp_path / name / "checkpoint"))
            assert writer.trigger(availableNow=True).start().awaitTermination(240)
        wait_until(lambda: len(metrics.batches) == 6)  # a listener is told after the batch
    finally:
        spark.streams.removeListener(listener)

    assert [(batch.batch, batch.documents) for batch in metrics.batches] == [(0, 4), (1, 4), (2, 1)] * 2
    assert (metrics.documents, metrics.rejected, metrics.messages) == (18, 2, 2 * (28 + 3))
    assert metrics.per_subscription == {"1": 2 * 28, "2": 2 * 3}
    for batch in metrics.batches:
        assert sum(batch.per_subscription.values()) == batch.messages
        assert sum(batch.per_partition.values()) == batch.documents
        assert batch.seconds > 0


def test_a_batch_that_is_told_twice_is_counted_once() -> None:
    metrics = Metrics()

    for batch in (0, 1, 1, 0, 2):
        metrics.record(BatchMetrics(batch, 10, 1, 5, 0.5, 3, {"s": 5}, {0: 4, 1: 6}), "stream")

    assert (metrics.documents, metrics.rejected, metrics.messages, metrics.seconds) == (30, 3, 15, 1.5)
    assert metrics.batches[-1].skew == 1.2


def test_counts_are_served_as_prometheus_text() -> None:
    metrics = Metrics()
    server = serve_metrics(metrics, 0)
    try:
        empty = counts(page(server.server_port))
        metrics.record(BatchMetrics(7, 10, 1, 5, 0.5, 3, {'a "quoted" \\ name\n': 5}))
        found = counts(page(server.server_port))
    finally:
        server.shutdown()
        server.server_close()

    assert (empty["weft_documents_total"], empty["weft_batch"]) == (0, -1)
    assert found == {
        "weft_documents_total": 10,
        "weft_tombstones_total": 0,
        "weft_empty_total": 0,
        'weft_rejected_total{reason="other"}': 1,
        "weft_messages_total": 5,
        "weft_processing_seconds_total": 0.5,
        "weft_late_total": 0,
        "weft_batch": 7,
        "weft_subscriptions_version": 3,
        r'weft_subscription_messages_total{subscription="a \"quoted\" \\ name\n"}': 5,
    }


def test_a_running_stream_serves_its_counts_and_ends_well_when_it_is_interrupted(tmp_path: Path) -> None:
    fill(tmp_path / "inbox", 8)
    (tmp_path / "subscriptions.xpath").write_text("\n".join(QUERIES))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    options = ["--documents", tmp_path / "inbox", "--output", tmp_path / "out", "--max-files-per-trigger", 4]
    options += ["--subscriptions", tmp_path / "subscriptions.xpath", "--stream", "--metrics-port", port]

    stderr, stdout = tmp_path / "stderr", tmp_path / "stdout"
    process = start_weft("run", *options, "--master", "local[2]", stderr=stderr, stdout=stdout)
    try:
        done = {"weft_documents_total 9.0", "weft_lag_files 0.0"}
        wait_until(lambda: process.poll() is not None or done <= set(page(port).splitlines()))
        found = counts(page(port))
        process.send_signal(signal.SIGINT)
        assert process.wait(120) == 0, stderr.read_text()
    finally:
        kill_all(process)

    assert found['weft_rejected_total{reason="no element found"}'] == 1
    assert (found["weft_batch"], found["weft_lag_files"]) == (2, 0)
    assert found['weft_stage_seconds_total{stage="deliver"}'] > 0
    assert (1, found["weft_messages_total"], found["weft_batch"]) == (1, 31, 2)
    assert found['weft_subscription_messages_total{subscription="1"}'] == 28
    assert found["weft_subscriptions_version"] == 1
    assert "Traceback" not in stderr.read_text()
    assert "batch 2: 1 documents" in stderr.read_text()
    assert [line for line in stdout.read_text().splitlines() if "batches" in line and "3" in line]
    assert len(list(read_results(tmp_path / "out"))) == 31


def test_a_port_that_cannot_be_had_is_told(tmp_path: Path) -> None:
    fill(tmp_path / "inbox", 1)
    (tmp_path / "s.xpath").write_text("/a")
    command = ["run", "--subscriptions", str(tmp_path / "s.xpath"), "--documents", str(tmp_path / "inbox")]
    command += ["--output", str(tmp_path / "out"), "--metrics-port"]
    with socket.create_server(("127.0.0.1", 0)) as taken:
        found = [CliRunner().invoke(app, [*command, str(port)]) for port in (taken.getsockname()[1], 70_000, -1)]

    assert [done.exit_code for done in found] == [2, 2, 2]
    assert "in use" in found[0].stderr
    assert all("Traceback" not in done.stderr for done in found)
