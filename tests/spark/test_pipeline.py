"""Documents of every sort through the whole job and through each option; whatever is wrong is told in one line."""

import fcntl
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Row, SparkSession
from typer.testing import CliRunner
from weft_process import embedded, weft, without_progress

from weft.cli import app
from weft.delivery.output import Mode
from weft.delivery.results import read_results
from weft.errors import ConfigurationError
from weft.spark import Job, deliver, first_line, match, messages, rejected, run_batch

pytestmark = pytest.mark.slow
MB = 1024 * 1024
QUERIES = {"1": "/a/b/text()", "2": "//c"}
GOOD = {
    "plain.xml": b"<a><b>1</b><c/></a>",
    "news/latin.xml": "<?xml version='1.0' encoding='ISO-8859-1'?><a><b>é</b></a>".encode("latin-1"),
    "news/utf16.xml": "<?xml version='1.0' encoding='UTF-16'?><a><b>ø</b><c/></a>".encode("utf-16"),
    "news/nothing.xml": b"<other/>",
}
BAD = {
    "malformed.xml": b"<a>\n<b>1</c></a>",
    "empty.xml": b"",
    "news/undeclared.xml": "<a><b>é</b></a>".encode("latin-1"),
}


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Good and bad documents, one of them of 50 MB, and the subscriptions beside them."""
    folder = tmp_path_factory.mktemp("mixed")
    (folder / "inbox" / "news").mkdir(parents=True)
    for name, data in {**GOOD, **BAD}.items():
        (folder / "inbox" / name).write_bytes(data)
    with (folder / "inbox" / "large.xml").open("wb") as file:
        file.write(b"<a><b>large</b><d>")
        for _ in range(50):
            file.write(b"x" * MB)
        file.write(b"</d><c>last</c></a>")
    (folder / "subscriptions.xpath").write_text("".join(query + "\n" for query in QUERIES.values()))
    return folder


EXPECTED = sorted([*embedded(QUERIES, GOOD), ("large.xml", "1", 1, "large"), ("large.xml", "2", 1, "<c>last</c>")])


def delivered(output: Path) -> list[tuple[str, str, int, str]]:
    rows = read_results(output)
    return sorted((row["document"], row["subscription"], row["position"], row["message"]) for row in rows)


# -- the three modes


def test_bad_documents_among_good_ones_are_told_and_disturb_nobody(
    spark: SparkSession, mixed: Path, tmp_path: Path
) -> None:
    done = run_batch(spark, Job(mixed / "subscriptions.xpath", mixed / "inbox", tmp_path / "out"))

    assert (done.documents, done.rejected, done.messages) == (len(GOOD) + len(BAD) + 1, len(BAD), len(EXPECTED))
    assert delivered(tmp_path / "out") == EXPECTED
    told = {row["document"]: row for row in read_results(tmp_path / "out", only_rejected=True)}
    assert {name: row["source"] for name, row in told.items()} == BAD
    assert (told["malformed.xml"]["line"], told["malformed.xml"]["error"]) == (2, "mismatched tag")
    assert told["news/undeclared.xml"]["stream"] == "news"


def test_bad_documents_can_be_dropped(spark: SparkSession, mixed: Path, tmp_path: Path) -> None:
    job = Job(mixed / "subscriptions.xpath", mixed / "inbox", tmp_path / "out", mode="DROPMALFORMED")

    run_batch(spark, job)

    assert delivered(tmp_path / "out") == EXPECTED
    assert not (tmp_path / "out" / "rejected").exists()


def test_a_bad_document_can_end_the_job_with_one_line(mixed: Path, tmp_path: Path) -> None:
    done = weft(*arguments(mixed, tmp_path / "out"), "--mode", "FAILFAST", "--master", "local[2]")

    assert (done.returncode, done.stdout) == (2, "")
    assert is_one_line(done.stderr)
    assert any(f"{name}:" in done.stderr for name in BAD)
    assert str(tmp_path / "out" / "spark.log") in done.stderr


# -- what is wrong from the beginning


def arguments(folder: Path, output: Path, documents: str = "inbox") -> list[str]:
    options = {"subscriptions": folder / "subscriptions.xpath", "documents": folder / documents, "output": output}
    return ["run", *(part for name, value in options.items() for part in (f"--{name}", str(value)))]


def is_one_line(stderr: str) -> bool:
    told = without_progress(stderr)
    return told.startswith("weft: ") and told.count("\n") == 1 and told.endswith("\n")


@pytest.fixture
def small(tmp_path: Path) -> Path:
    (tmp_path / "inbox").mkdir()
    (tmp_path / "inbox" / "a.xml").write_text("<a/>")
    (tmp_path / "subscriptions.xpath").write_text("/a\n")
    return tmp_path


@pytest.mark.parametrize(
    ("documents", "output", "told"),
    [
        ("missing", "out", "missing: no such file or folder of documents"),
        ("inbox", "inbox/a.xml", "a.xml: cannot write there"),
        ("inbox", "inbox/a.xml/out", "a.xml/out: cannot write there: Not a directory"),
        ("inbox", "/proc/out", "/proc/out: cannot write there"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_a_path_that_cannot_be_is_told_in_one_line(
    small: Path, documents: str, output: str, told: str, stream: bool
) -> None:
    command = arguments(small, small / output, documents) + ["--stream"] * stream

    done = CliRunner().invoke(app, command)

    assert done.exit_code == 2
    assert is_one_line(done.stderr)
    assert told in done.stderr


def test_a_missing_java_is_told_in_one_line(small: Path) -> None:
    env = {**os.environ, "PATH": "", "JAVA_HOME": ""}

    found = [
        weft(*arguments(small, small / "out"), env=env),
        weft(*arguments(small, small / "out"), env={**env, "JAVA_HOME": str(small)}),
    ]

    assert [done.returncode for done in found] == [2, 2]
    assert [is_one_line(done.stderr) for done in found] == [True, True]
    assert "Spark needs Java 17 or newer: none is on the PATH" in found[0].stderr
    assert f"JAVA_HOME is {small}" in found[1].stderr


def test_a_checkpoint_in_use_is_told_in_one_line(small: Path) -> None:
    lock = small / "out" / "checkpoint" / "weft" / "lock"
    lock.parent.mkdir(parents=True)
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)

        done = weft(*arguments(small, small / "out"), "--stream", "--available-now")

    assert done.returncode == 2
    assert is_one_line(done.stderr)
    assert "out/checkpoint: another run is using this checkpoint" in done.stderr


@pytest.mark.usefixtures("spark")
def test_an_output_of_another_run_is_left_alone_unless_told_otherwise(small: Path) -> None:
    command = arguments(small, small / "out")
    first = CliRunner().invoke(app, command)
    (small / "subscriptions.xpath").write_text("/a\n//a\n")

    refused = [CliRunner().invoke(app, [*command, *more]) for more in ([], ["--stream", "--available-now"])]
    kept = delivered(small / "out")
    allowed = CliRunner().invoke(app, [*command, "--overwrite"])

    assert (first.exit_code, kept) == (0, [("a.xml", "1", 1, "<a/>")])
    assert [done.exit_code for done in refused] == [2, 2]
    assert [is_one_line(done.stderr) for done in refused] == [True, True]
    assert "out: has the messages of another run already; choose another, or --overwrite" in refused[0].stderr
    assert allowed.exit_code == 0
    assert delivered(small / "out") == [("a.xml", "1", 1, "<a/>"), ("a.xml", "2", 1, "<a/>")]


# -- options of the transforms


def told(row: Row) -> tuple[object, ...]:
    return row.subscription, row.message


def test_each_element_of_a_row_tag_is_a_document(spark: SparkSession, tmp_path: Path) -> None:
    items = b"<x:items xmlns:x='urn:x'><item n='1'><b/></item><!-- <item/> --><item n='2'><b/><b/></item></x:items>"
    (tmp_path / "items.xml").write_bytes(items)
    frame = spark.createDataFrame([(1, items), (2, b"<items><item n='3'><b/></item><item>")], "id int, value binary")

    out = frame.transform(deliver(["/item/@n", "/item[b[2]]/@n"], rowTag="item")).cache()
    files = spark.read.format("weft").option("rowTag", "item").load(str(tmp_path / "items.xml"))
    of_files = files.transform(deliver(["/item/@n", "/item[b[2]]/@n"]))

    assert sorted(map(told, messages(out).collect())) == [("1", f'n="{n}"') for n in (1, 2, 3)] + [("2", 'n="2"')]
    assert [(row.id, "item" in row.error) for row in rejected(out).collect()] == [(2, True)]
    assert sorted(map(told, messages(of_files).collect())) == [("1", 'n="1"'), ("1", 'n="2"'), ("2", 'n="2"')]


def test_namespaces_can_be_ignored(spark: SparkSession) -> None:
    frame = spark.createDataFrame([("<a xmlns='urn:a'><x:b xmlns:x='urn:b'/></a>",)], "value string")

    ignored = frame.transform(deliver(["/a/b"], ignoreNamespace=True)).collect()

    assert [row.message for row in ignored] == ["<x:b xmlns:x='urn:b'/>"]
    assert frame.transform(deliver(["/a/b"])).collect() == []
    (matched,) = frame.transform(match(["/a/b"], ignoreNamespace=True)).collect()
    assert matched.matches == ["1"]


@pytest.mark.parametrize("kind", ["string", "binary"])
def test_documents_may_be_text_or_bytes_in_any_column(spark: SparkSession, kind: str) -> None:
    texts = [(1, "<a>é</a>"), (2, "<a>"), (3, None)]
    frame = spark.createDataFrame(texts, "n int, xml string").selectExpr("n", f"CAST(xml AS {kind}) AS xml")
    options: dict[str, Any] = {"column": "xml", "columnNameOfCorruptRecord": "_corrupt.record"}

    out = frame.transform(deliver(["/a/text()"], **options))
    matched = frame.transform(match(["/a/text()"], **options)).orderBy("n").collect()

    assert [(row.n, row.message) for row in messages(out, "_corrupt.record").collect()] == [(1, "é")]
    (bad,) = rejected(out, "_corrupt.record").collect()
    assert (bad.n, bad.error, bad.line) == (2, "no element found", 1)
    assert bad.source == ("<a>" if kind == "string" else b"<a>")
    assert [row.matches for row in matched] == [["1"], None, None]
    assert [row["_corrupt.record"] is None for row in matched] == [True, False, True]


def test_a_frame_like_kafka_s_goes_through_as_it_is(spark: SparkSession) -> None:
    schema = (
        "key binary, value binary, topic string, partition int, offset bigint, timestamp timestamp, timestampType int"
    )
    now = datetime(2024, 5, 6, 7, 8, 9, 123456, UTC)
    rows = [(f"k{n}".encode(), f"<a><b>{n}</b></a>".encode(), "orders", 0, n, now, 0) for n in range(3)]
    frame = spark.createDataFrame([*rows, (None, b"<a>", "orders", 0, 3, now, 0)], schema)

    out = frame.transform(deliver(["/a/b[. > 0]/text()"]))
    few = frame.transform(deliver(["/a/b[. > 0]/text()"], keys=["topic", "offset"], version=7))

    kept = ["key", "topic", "partition", "offset", "timestamp", "timestampType"]
    added = ["subscription", "destination", "message", "position", "version", "rejected"]
    assert out.columns == [*kept, *added]
    expected = sorted(frame.where("offset in (1, 2)").select(*kept).collect(), key=lambda row: row.offset)
    assert sorted(out.where("rejected is null").select(*kept).collect(), key=lambda row: row.offset) == expected
    assert [row.offset for row in rejected(out).collect()] == [3]
    found = messages(few).select("topic", "offset", "message", "version").orderBy("offset").collect()
    assert found == [("orders", 1, "1", 7), ("orders", 2, "2", 7)]


def test_modes_of_the_transforms(spark: SparkSession) -> None:
    frame = spark.createDataFrame([("one", "<a/>"), ("two", "<a>"), ("three", None)], "document string, value string")

    dropped = frame.transform(deliver(["/a"], mode="DROPMALFORMED"))
    matched = frame.transform(match(["/a"], mode="DROPMALFORMED")).collect()

    assert "rejected" not in dropped.columns
    assert [row.document for row in dropped.collect()] == ["one"]
    assert [(row.document, row.matches) for row in matched] == [("one", ["1"]), ("three", None)]
    with pytest.raises(PySparkException) as ended:
        frame.transform(deliver(["/a"], mode="FAILFAST")).collect()
    assert first_line(ended.value).startswith("two:1:")
    with pytest.raises(PySparkException, match="no element found"):
        frame.transform(match(["/a"], mode="FAILFAST")).collect()


def streamed(spark: SparkSession, frame: DataFrame, folder: Path) -> DataFrame:
    """The same rows as a stream."""
    frame.write.parquet(str(folder))
    return spark.readStream.schema(frame.schema).parquet(str(folder))


def collected(spark: SparkSession, frame: DataFrame, name: str) -> list[Row]:
    """The rows of a frame, which may be a stream."""
    if not frame.isStreaming:
        return frame.collect()
    query = frame.writeStream.format("memory").queryName(name).trigger(availableNow=True).start()
    assert query.awaitTermination(240)
    return spark.table(name).collect()


@pytest.mark.parametrize("is_stream", [False, True])
@pytest.mark.parametrize("mode", ["PERMISSIVE", "DROPMALFORMED", "FAILFAST"])
def test_messages_and_rejected_are_there_in_every_mode(
    spark: SparkSession, tmp_path: Path, mode: Mode, is_stream: bool
) -> None:
    rows = [(1, "x", b"<a><b>1</b></a>")] + ([] if mode == "FAILFAST" else [(2, "y", b"<a>")])
    frame = spark.createDataFrame(rows, "id int, rest string, value binary")
    given = streamed(spark, frame, tmp_path / "in") if is_stream else frame

    for row_tag in (None, "a"):
        out = given.transform(deliver(["//b"], mode=mode, rowTag=row_tag))
        name = f"{mode}_{is_stream}_{row_tag}"
        made, bad = collected(spark, messages(out), f"made_{name}"), collected(spark, rejected(out), f"bad_{name}")

        assert [(row.id, row.rest, row.message) for row in made] == [(1, "x", "<b>1</b>")]
        assert [(row.id, row.rest, row.line, row.source) for row in bad] == (
            [(2, "y", 1, b"<a>")] if mode == "PERMISSIVE" else []
        )
        rows_tell = ["row"] if row_tag else []
        added = ["subscription", "destination", "message", "position", "version"]
        assert messages(out).columns == ["id", "rest", *added, *rows_tell]
        assert rejected(out).columns == ["id", "rest", *rows_tell, "subscription", "error", "line", "column", "source"]
        assert rejected(out).schema["source"].dataType.simpleString() == "binary"


def test_a_column_that_only_has_the_name_of_rejected_ones_is_passed_through(spark: SparkSession) -> None:
    frame = spark.createDataFrame([("<a/>", "no"), ("<a>", None)], "value string, rejected string")

    out = frame.transform(deliver(["/a"], mode="DROPMALFORMED"))

    assert [(row.message, row.rejected) for row in messages(out).collect()] == [("<a/>", "no")]
    assert rejected(out).collect() == []


def test_the_name_that_deliver_was_told_must_be_told_again(spark: SparkSession) -> None:
    frame = spark.createDataFrame([("<a>",)], "value string")

    out = frame.transform(deliver(["/a"], columnNameOfCorruptRecord="bad"))

    for part in (messages, rejected):
        with pytest.raises(ConfigurationError, match=r"columnNameOfCorruptRecord: expected 'bad', .* found 'rejected'"):
            part(out)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"column": "xml"}, "column: expected one of value, message, number, found 'xml'"),
        ({"column": "number"}, "column 'number': expected string or binary, found int"),
        ({}, "the frame has a column 'message', which is to be added; give a prefix"),
        ({"keys": ["id"]}, "keys: expected some of value, message, number, found 'id'"),
        ({"keys": [], "mode": "sometimes"}, "mode: expected one of PERMISSIVE, DROPMALFORMED, FAILFAST"),
        ({"keys": ["number"], "columnNameOfCorruptRecord": "number"}, "the frame has a column 'number'"),
    ],
)
def test_wrong_options_are_told_on_the_driver(spark: SparkSession, options: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        clashing(spark).transform(deliver(["/a"], **options))

    assert told in str(raised.value)


def test_a_column_of_the_same_name_can_be_left_out(spark: SparkSession) -> None:
    (row,) = clashing(spark).transform(deliver(["/a"], keys=["number"])).collect()

    assert (row.number, row.message) == (1, "<a/>")
    with pytest.raises(ConfigurationError, match="the frame has a column 'matches'"):
        clashing(spark).withColumnRenamed("message", "matches").transform(match(["/a"]))


def clashing(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([("<a/>", "hello", 1)], "value string, message string, number int")


def test_all_wrong_queries_are_told_at_once() -> None:
    with pytest.raises(ConfigurationError) as raised:
        deliver(["/a[", "/b", "]"])

    assert str(raised.value).count("XPath 1:") == 2
