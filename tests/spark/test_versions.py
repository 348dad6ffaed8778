"""Subscriptions that change while a stream runs: which version a micro-batch has, on the first run and on a replay."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from weft.delivery.results import read_results
from weft.errors import ConfigurationError
from weft.spark import BatchMetrics, Job, compile_subscriptions, run_stream
from weft.spark.versions import Versions

pytestmark = pytest.mark.slow


def replace(file: Path, *queries: str) -> None:
    """A new version, written elsewhere and moved over the old one."""
    entries = [json.dumps({"id": f"q{number}", "query": query}) for number, query in enumerate(queries, start=1)]
    write(file, "".join(entry + "\n" for entry in entries))


def write(file: Path, text: str) -> None:
    other = file.with_name("next")
    other.write_text(text)
    other.replace(file)


# -- without Spark


class Watched:
    """The versions of a file, and what was refused; `restart` is what a new process sees."""

    def __init__(self, source: Path, folder: Path) -> None:
        self.source, self._folder = source, folder
        self.refused: list[str] = []
        self.restart()

    def restart(self) -> None:
        self.versions = Versions(
            self.source,
            self._folder,
            lambda subscriptions, number: compile_subscriptions(subscriptions, version=number),
            lambda error: self.refused.append(str(error)),
        )

    def version(self, batch: int) -> int:
        return self.versions.for_batch(batch).version


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    replace(tmp_path / "subscriptions.jsonl", "//a")
    return Watched(tmp_path / "subscriptions.jsonl", tmp_path / "records")


def test_a_new_version_has_the_next_number_and_the_same_text_none(watched: Watched) -> None:
    found = [watched.version(0)]
    replace(watched.source, "//a")  # written again, nothing changed
    found.append(watched.version(1))
    replace(watched.source, "//b")
    found.append(watched.version(2))
    replace(watched.source, "//a")  # an old text is a new version all the same
    found.append(watched.version(3))

    assert found == [1, 1, 2, 3]


def test_a_batch_that_runs_again_has_the_version_it_had(watched: Watched) -> None:
    watched.version(0)
    replace(watched.source, "//b")
    first = watched.versions.for_batch(1)
    replace(watched.source, "//c")

    again = watched.versions.for_batch(1)
    watched.restart()
    watched.versions.check()
    after_a_restart = watched.versions.for_batch(1)

    assert (first.version, again.version, after_a_restart.version) == (2, 2, 2)
    assert first.digest == again.digest == after_a_restart.digest
    assert watched.version(2) == 3


def test_a_restart_without_a_change_keeps_the_version(watched: Watched) -> None:
    watched.version(0)

    watched.restart()

    assert (watched.version(0), watched.version(1)) == (1, 1)


def test_a_version_that_no_batch_has_run_with_is_numbered_again_after_a_crash(watched: Watched) -> None:
    watched.version(0)
    replace(watched.source, "//b")
    watched.versions._look_for_new()  # killed here: the version is written down, the batch is not

    watched.restart()
    replace(watched.source, "//c")

    assert watched.version(1) == 2
    watched.restart()
    assert watched.versions.for_batch(1).digest == compile_subscriptions(watched.source, version=2).digest


BROKEN = {
    "a query": ('{"id": "q1", "query": "//a"}\n{"id": "q2", "query": "//a["}\n', ["subscriptions.jsonl:2", "XPath"]),
    "a line": ('{"id": "q1", "query": "//a"}\n{"id": "q2", "que\n', ["subscriptions.jsonl:2:", "JSON"]),
    "an id twice": ('{"id": "q1", "query": "//a"}\n{"id": "q1", "query": "//b"}\n', ["'q1' is taken by"]),
    "several": ('{"query": "//["}\n{}\n{"query": "]"}\n', ["jsonl:1", "jsonl:2", "jsonl:3"]),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_version_is_refused_once_and_all_its_errors_are_told(watched: Watched, name: str) -> None:
    text, told = BROKEN[name]
    watched.version(0)

    write(watched.source, text)

    assert [watched.version(1), watched.version(2)] == [1, 1]
    assert len(watched.refused) == 1
    assert [part for part in told if part not in watched.refused[0]] == []
    replace(watched.source, "//b")
    assert watched.version(3) == 2


def test_a_file_that_is_gone_is_refused_and_the_old_version_goes_on_even_after_a_restart(watched: Watched) -> None:
    watched.version(0)
    watched.source.unlink()

    found = [watched.version(1)]
    watched.restart()
    watched.versions.check()
    found.append(watched.version(2))

    assert found == [1, 1]
    assert len(watched.refused) == 2  # once in each process
    assert "no such file" in watched.refused[0]


@pytest.mark.parametrize("text", ["//a[\n", None])
def test_there_must_be_a_version_to_begin_with(tmp_path: Path, text: str | None) -> None:
    source = tmp_path / "subscriptions.xpath"
    if text is not None:
        source.write_text(text)
    watched = Watched(source, tmp_path / "records")

    with pytest.raises(ConfigurationError, match=r"subscriptions\.xpath"):
        watched.versions.check()

    source.write_text("//a\n")
    assert watched.version(0) == 1


def test_a_folder_of_queries_has_versions_too(tmp_path: Path) -> None:
    folder = tmp_path / "queries"
    folder.mkdir()
    (folder / "one.xpath").write_text("//a")
    watched = Watched(folder, tmp_path / "records")

    found = [watched.version(0)]
    (folder / "two.xq").write_text("<m>{ for $a in /a return $a }</m>")
    found.append(watched.version(1))
    (folder / "notes.txt").write_text("no query")
    found.append(watched.version(2))
    (folder / "one.xpath").unlink()
    last = watched.versions.for_batch(3)
    watched.restart()

    assert [*found, last.version] == [1, 2, 2, 3]
    assert watched.versions.for_batch(3).digest == last.digest


# -- with Spark


class Feed:
    """A stream over a folder of numbered documents, two files to a micro-batch."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self._spark = spark
        self._inbox, self.file = folder / "inbox", folder / "subscriptions.jsonl"
        self._inbox.mkdir()
        self.job = Job(self.file, self._inbox, folder / "out", max_files_per_trigger=2)
        self.versions: list[tuple[int, int | None]] = []  # batch, version
        self.refused: list[str] = []

    def arrive(self, *numbers: int) -> None:
        for number in numbers:
            file = self._inbox / f"{number}.xml"
            file.write_text(f"<a n='{number}'><b/></a>")
            os.utime(file, (number, number))  # the order in which they are taken

    def run(self, after: dict[int, Callable[[], None]] | None = None) -> None:
        """Run all that is there; `after` says what happens between a micro-batch and the next."""

        def on_batch(batch: BatchMetrics) -> None:
            self.versions.append((batch.batch, batch.version))
            if after and batch.batch in after:
                after[batch.batch]()

        self.versions.clear()
        refused = self.refused
        with run_stream(
            self._spark, self.job, available_now=True, on_batch=on_batch, on_refused=lambda e: refused.append(str(e))
        ) as query:
            assert query.awaitTermination(240)

    def messages(self) -> list[tuple[str, str, int]]:
        rows = read_results(self.job.output)
        return sorted((row["document"], row["message"], row["version"]) for row in rows)


def test_versions_change_between_micro_batches_and_a_replayed_one_has_its_own(
    spark: SparkSession, tmp_path: Path
) -> None:
    feed = Feed(spark, tmp_path)
    replace(feed.file, "/a/@n")
    feed.arrive(1, 2, 3, 4, 5, 6)

    feed.run(
        after={
            0: lambda: replace(feed.file, "/a/b"),
            1: lambda: replace(feed.file, "/a/b[", "//c", "]"),
        }
    )

    expected = [
        ("1.xml", 'n="1"', 1),
        ("2.xml", 'n="2"', 1),
        *((f"{number}.xml", "<b/>", 2) for number in (3, 4, 5, 6)),
    ]
    assert feed.versions == [(0, 1), (1, 2), (2, 2)]
    assert feed.messages() == expected
    (refused,) = feed.refused
    assert ":1: XPath" in refused
    assert ":3: XPath" in refused

    # A kill after the last batch was written, and before Spark wrote that down.
    for name in ("2", ".2.crc"):
        (feed.job.checkpoint_folder / "commits" / name).unlink(missing_ok=True)
    replace(feed.file, "/a/@n[. > 6]")
    feed.arrive(7)
    feed.run()

    assert feed.versions == [(2, 2), (3, 3)]
    assert feed.messages() == [*expected, ("7.xml", 'n="7"', 3)]


def test_a_stream_whose_first_version_is_wrong_does_not_start(spark: SparkSession, tmp_path: Path) -> None:
    feed = Feed(spark, tmp_path)
    replace(feed.file, "/a[", "/b[")

    with pytest.raises(ConfigurationError) as raised:
        feed.run()

    assert str(raised.value).count("XPath") == 2
