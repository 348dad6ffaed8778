"""`weft run` that is interrupted, or whose workers are killed: one line, an exit code, and a rerun that has all."""

import gzip
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner
from weft_process import alive, kill_all, start_weft, without_progress

from weft.cli import app
from weft.delivery.results import read_results

pytestmark = pytest.mark.slow
NUMBER = 4
ITEMS = 100_000  # elements of a document, so that reading all of them takes a while


@pytest.fixture(scope="module")
def feed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Documents that keep two cores busy for long enough."""
    folder = tmp_path_factory.mktemp("feed")
    (folder / "inbox").mkdir()
    (folder / "subscriptions.xpath").write_text("/list/@n\n")
    items = gzip.compress(b"<item a='1'><b/></item>" * (ITEMS // 10), 1) * 10
    for number in range(NUMBER):
        head, tail = gzip.compress(f"<list n='{number}'>".encode()), gzip.compress(b"</list>")
        (folder / "inbox" / f"{number:02d}.xml.gz").write_bytes(head + items + tail)
    return folder


def command(feed: Path, output: Path, *more: object) -> list[str]:
    options = ["--subscriptions", feed / "subscriptions.xpath", "--documents", feed / "inbox", "--output", output]
    return [str(part) for part in ("run", *options, "--master", "local[2]", *more)]


class Run:
    """A command that runs, and what it says."""

    def __init__(self, arguments: list[str], output: Path) -> None:
        self.output, self._errors = output, output.with_suffix(".stderr")
        self.process: subprocess.Popen[bytes] = start_weft(*arguments, stderr=self._errors)

    def wait_for(self, condition: Callable[[], object]) -> None:
        end = time.monotonic() + 240
        while not condition():
            assert self.process.poll() is None, self.errors
            assert time.monotonic() < end, self.errors
            time.sleep(0.01)

    def is_writing(self) -> bool:
        """Whether tasks are under way; none has ended."""
        return any(self.output.glob("messages/batch=0/_temporary/*/_temporary/*"))

    @property
    def errors(self) -> str:
        return without_progress(self._errors.read_text())

    def end(self) -> int:
        return self.process.wait(240)


@pytest.fixture
def started(feed: Path, tmp_path: Path) -> Iterator[Callable[..., Run]]:
    runs: list[Run] = []

    def start(*more: object) -> Run:
        runs.append(Run(command(feed, tmp_path / "out", *more), tmp_path / "out"))
        return runs[-1]

    yield start
    for run in runs:
        kill_all(run.process)


def is_all_there(output: Path) -> bool:
    found = sorted((row["document"], row["message"]) for row in read_results(output))
    return found == [(f"{number:02d}.xml.gz", f'n="{number}"') for number in range(NUMBER)]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.usefixtures("spark")
def test_a_batch_that_is_interrupted_ends_with_one_line_and_can_run_again(
    feed: Path, started: Callable[..., Run], number: signal.Signals
) -> None:
    run = started()
    run.wait_for(run.is_writing)

    os.kill(run.process.pid, number)
    code = run.end()
    again = CliRunner().invoke(app, command(feed, run.output))

    assert code == 128 + number
    assert run.errors == f"weft: interrupted; {run.output}: not finished, the same command begins anew\n"
    assert list(alive(run.process.pid)) == []
    assert again.exit_code == 0, again.stderr
    assert is_all_there(run.output)


def test_an_interrupt_while_spark_starts_ends_with_one_line(started: Callable[..., Run]) -> None:
    run = started("--stream")
    run.wait_for((run.output / "spark.log").exists)

    os.kill(run.process.pid, signal.SIGINT)
    code = run.end()

    assert code == 130
    assert run.errors == f"weft: interrupted; {run.output}: the same command goes on\n"


def test_a_stream_that_is_interrupted_in_a_batch_ends_quietly_and_goes_on(
    spark: SparkSession, feed: Path, started: Callable[..., Run]
) -> None:
    run = started("--stream")
    run.wait_for(run.is_writing)

    os.kill(run.process.pid, signal.SIGTERM)
    code = run.end()
    again = CliRunner().invoke(app, command(feed, run.output, "--stream", "--available-now"))

    assert code == 0
    assert run.errors == ""
    assert again.exit_code == 0, again.stderr
    assert is_all_there(run.output)
    assert spark is not None


def workers(session: int) -> list[int]:
    """The processes that Spark's daemon of workers has forked."""
    daemons = [pid for pid in alive(session) if b"pyspark.daemon" in _read(f"/proc/{pid}/cmdline")]
    parents = {pid: re.findall(rb"PPid:\s*(\d+)", _read(f"/proc/{pid}/status")) for pid in daemons}
    return [pid for pid, parent in parents.items() if parent and int(parent[0]) in daemons]


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


@pytest.mark.parametrize("options", [[], ["--stream", "--available-now"]])
@pytest.mark.usefixtures("spark")
def test_a_worker_that_is_killed_is_told_and_nothing_is_lost(
    feed: Path, started: Callable[..., Run], options: list[str]
) -> None:
    run = started(*options)
    run.wait_for(lambda: run.is_writing() and workers(run.process.pid))

    for worker in workers(run.process.pid):
        os.kill(worker, signal.SIGKILL)
    code = run.end()
    again = CliRunner().invoke(app, command(feed, run.output, *options))

    assert code == 2
    lines = run.errors.splitlines()
    told = "weft: a Python worker ended unexpectedly; it may have run out of memory, or was killed"
    assert lines == [f"{told} (see {run.output / 'spark.log'})"]
    assert (run.output / "spark.log").stat().st_size > 0
    assert again.exit_code == 0, again.stderr
    assert is_all_there(run.output)
