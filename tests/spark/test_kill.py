"""A stream that is killed in the middle of batches and started again: every message is there once, none is missing."""

import json
import random
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner
from weft_process import embedded, kill_all, start_weft

from weft.cli import app
from weft.delivery.results import read_results

pytestmark = pytest.mark.slow

QUERIES = {
    "large": "/order[total > 500]/customer",
    "items": "/order/item",
    "digest": "<few>{ for $o in /order where $o/total < 300 return <n>{ $o/@number }{ $o/item/@name }</n> }</few>",
}
NUMBER, AT_ONCE, THERE_BEFORE = 300, 40, 60
#: For each kill: so many micro-batches begin after the restart (0 is the one that is run again); then it comes
#: somewhere in the batch, or as soon as the batch has written its messages and Spark does not know it yet.
KILLS = {
    "parquet": ((2, "somewhere"), (0, "somewhere"), (1, "written")),
    "files": ((1, "somewhere"), (1, "written")),
}


def order(number: int) -> bytes:
    if number % 10 == 9:  # so that every batch has some, and goes on after its messages are written
        return f"<order number='{number}'><total>1</order>".encode()
    items = "".join(f"<item name='{number}-{at}'/>" for at in range(number % 4))
    return (
        f"<order number='{number}'><total>{number * 7 % 1000}</total><customer n='{number}'/>{items}</order>".encode()
    )


DOCUMENTS = {f"orders/{number:03d}.xml": order(number) for number in range(NUMBER)}
BROKEN = {name for name, data in DOCUMENTS.items() if b"</total>" not in data}


def arrive(inbox: Path, names: list[str], pause: float = 0.0) -> None:
    """Each file is written elsewhere and moved in as a whole."""
    for name in names:
        hidden = inbox / f".{Path(name).name}"
        hidden.write_bytes(DOCUMENTS[name])
        hidden.replace(inbox / name)
        time.sleep(pause)


class Stream:
    """One run of `weft run --stream` and its checkpoint, from outside."""

    def __init__(self, options: list[object], output: Path, stderr: Path) -> None:
        self._output, self._stderr = output, stderr
        self.before = self.begun()  # the last batch of the run before
        self.process: subprocess.Popen[bytes] = start_weft(*options, stderr=stderr)

    def begun(self) -> int:
        return self._last("offsets")

    def is_in_a_batch(self) -> bool:
        return self.begun() > self._last("commits")

    def is_written(self) -> bool:
        batch, messages = self.begun(), self._output / "messages"
        marks = (messages / f"batch={batch}" / "_SUCCESS", messages / "_weft" / "commits" / str(batch))
        return any(mark.exists() for mark in marks) and self.is_in_a_batch()

    def is_streaming(self) -> bool:
        return "streaming" in self._stderr.read_text()

    def has_begun(self, batch: int) -> bool:
        return self.begun() >= batch

    def wait_for(self, condition: Callable[[], bool]) -> None:
        end = time.monotonic() + 240
        while not condition():
            assert self.process.poll() is None, self._stderr.read_text()
            assert time.monotonic() < end, self._stderr.read_text()
            time.sleep(0.005)

    def _last(self, folder: str) -> int:
        records = (self._output / "checkpoint" / folder).glob("[0-9]*")
        return max((int(record.name) for record in records), default=-1)


def run_up_to_a_batch(stream: Stream, batches: int, pace: float) -> float:
    """Wait until so many micro-batches have begun; the seconds that the last whole one took, else `pace`."""
    began: list[float] = []
    for batch in range(stream.before + 1, stream.before + 1 + batches):
        stream.wait_for(partial(stream.has_begun, batch))
        began.append(time.monotonic())
    return began[-1] - began[-2] if len(began) > 1 else pace


def kill_in_the_middle(stream: Stream, where: str, delay: float) -> bool:
    """Kill it after a while, or when the next micro-batch begins; whether a batch was cut off."""
    batch, end = stream.begun(), time.monotonic() + delay
    if where == "somewhere":
        stream.wait_for(lambda: stream.begun() > batch or time.monotonic() > end)
    is_there = stream.is_written if where == "written" else stream.is_in_a_batch
    stream.wait_for(lambda: is_there() or time.monotonic() > end + 60)  # all was read too fast: kill it idle
    kill_all(stream.process)
    return stream.is_in_a_batch()


def kill_again_and_again(
    options: list[object],
    output: Path,
    kills: Sequence[tuple[int, str]],
    waiting: list[Any],
    arrive: Callable[[list[Any]], None],
    pace: float,
    chance: random.Random,
) -> int:
    """Start a stream and kill it, while a share of what waits arrives each time; how many kills came in a batch."""
    cut_off = 0
    for run, (batches, where) in enumerate(kills):
        stream = Stream(options, output, output.with_name(f"{run}.stderr"))
        share = len(waiting) // (len(kills) + 1 - run)
        feeder = threading.Thread(target=arrive, args=(waiting[:share],))
        try:
            stream.wait_for(stream.is_streaming)
            feeder.start()
            pace = run_up_to_a_batch(stream, batches, pace)
            cut_off += kill_in_the_middle(stream, where, chance.random() * pace)
        finally:
            kill_all(stream.process)
        feeder.join()
        del waiting[:share]
    return cut_off


@pytest.mark.parametrize("format", KILLS)
@pytest.mark.usefixtures("spark")
def test_a_stream_that_is_killed_and_started_again_delivers_each_message_once(tmp_path: Path, format: str) -> None:
    chance = random.Random(7)
    inbox, output, subscriptions = tmp_path / "inbox", tmp_path / "out", tmp_path / "subscriptions.jsonl"
    (inbox / "orders").mkdir(parents=True)
    subscriptions.write_text("".join(json.dumps({"id": id, "query": query}) + "\n" for id, query in QUERIES.items()))
    options: list[object] = ["run", "--stream", "--format", format, "--max-files-per-trigger", AT_ONCE]
    options += ["--subscriptions", subscriptions, "--documents", inbox, "--output", output, "--master", "local[2]"]
    waiting = list(DOCUMENTS)
    chance.shuffle(waiting)
    arrive(inbox, waiting[:THERE_BEFORE])
    del waiting[:THERE_BEFORE]

    feed = partial(arrive, inbox, pause=0.01)
    cut_off = kill_again_and_again(options, output, KILLS[format], waiting, feed, 1.0, chance)
    arrive(inbox, waiting)
    done = CliRunner().invoke(app, [str(option) for option in (*options, "--available-now")])

    assert done.exit_code == 0, done.stderr
    assert cut_off, "no kill came in the middle of a batch"
    check(format, output)


def check(format: str, output: Path) -> None:
    expected = embedded(QUERIES, DOCUMENTS)
    if format == "parquet":
        found = [(row["document"], row["subscription"], row["position"], row["message"]) for row in table(output)]
        assert sorted(found) == expected
    else:
        delivered = [(row["subscription"], row["message"]) for row in read_results(output)]
        assert sorted(delivered) == sorted((row[1], row[3]) for row in expected)  # each message tells its document
        assert list((output / "messages" / "_weft" / "intents").iterdir()) == []
    assert sorted(row["document"] for row in read_results(output, only_rejected=True)) == sorted(BROKEN)


def table(output: Path) -> list[dict[str, Any]]:
    """What a reader sees who takes only batches that are whole; in the end all are."""
    batches = sorted((output / "messages").glob("batch=*"))
    assert [batch for batch in batches if not (batch / "_SUCCESS").exists()] == []
    return [row for batch in batches for file in batch.glob("*.parquet") for row in pq.read_table(file).to_pylist()]
