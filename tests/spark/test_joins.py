"""XSCL on Spark: batch and stream give the messages of the broker, and find what nested loops find."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import Phase, given, seed, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import expr
from pyspark.sql.streaming.query import StreamingQuery
from typer.testing import CliRunner

from weft import Broker, Document
from weft.broker.subscriptions import Subscription
from weft.cli import app
from weft.delivery.output import Format
from weft.delivery.results import read_results
from weft.errors import ConfigurationError
from weft.languages.xscl import parse
from weft.spark import Job, compile_subscriptions, join, match, run_batch, run_stream
from xscl_oracle import oracle
from xscl_strategies import document_lists, queries

pytestmark = pytest.mark.slow
Row = tuple[str, tuple[str, ...], str]  # subscription, documents, message
Drawn = TypeVar("Drawn")
SCHEMA = "document string, stream string, timestamp double, value binary"
PAIR = "S//o->o[.//c->x] FOLLOWED BY{x = y, 6 seconds} S//o->p[.//c->y]"
CASCADE = {
    "pairs": "SELECT <pair>{ $x }{ $y }</pair> FROM S//o[c->x] FOLLOWED BY{x = y, 3 seconds} S//o[c->y] PUBLISH p",
    "alone": "S//o->o[.//c->x] NOT FOLLOWED BY{x = y, 4 seconds} S//o[.//c->y] PUBLISH q",
    "again": "p//pair->a[c->x] JOIN{x = y, 10 seconds} q//o->b[c->y]",
    "all": "//o->a[.//c->x] JOIN{x = y, 2 documents} //o->b[.//c->y]",
    "plain": PAIR,
    "titles": "/pair/c[1]",  # not XSCL: gets what is published, and the documents
}


def drawn(strategy: st.SearchStrategy[Drawn], number: int, start: int) -> list[Drawn]:
    """What Hypothesis draws, the same every time."""
    found: list[Drawn] = []

    @seed(start)
    @settings(max_examples=number, database=None, phases=[Phase.generate])
    @given(strategy)
    def collect(example: Drawn) -> None:
        found.append(example)

    collect()
    return found


def seconds(document: Document) -> float:
    return (document.nanoseconds or 0) / 1e9


@cache
def documents() -> list[Document]:
    """Documents in the order of their timestamps; many have the same, or nearly."""
    made: list[Document] = []
    for some in drawn(document_lists(3, 6), 9, 1):
        begin = seconds(made[-1]) if made else 1_000.0
        made += [
            replace(each, id=f"d{len(made) + at:03d}", timestamp=begin + seconds(each) / 2)
            for at, each in enumerate(some)
        ]
    return made


@cache
def subscriptions() -> list[Subscription]:
    """Queries of all kinds."""
    texts = dict.fromkeys([*drawn(queries(), 120, 2), *drawn(queries(1, 1), 8, 3)])
    return [Subscription(str(at), text, "xscl") for at, text in enumerate(texts, start=1)]


def orders(number: int) -> list[Document]:
    return [
        Document(f"<o n='{at}'><c>{at * at % 7}</c></o>".encode(), f"{at:03d}", "S", 1_000.0 + at)
        for at in range(number)
    ]


def embedded(given: Sequence[Subscription], published: Sequence[Document]) -> list[Row]:
    broker = Broker()
    for each in given:
        broker.subscribe(each)
    made = [*broker.publish(published), *broker.advance()]
    return sorted((each.subscription, each.documents or (each.document,), text) for each in made for text in each.nodes)


def embedded_streaming(given: Sequence[Subscription], parts: Sequence[Sequence[Document]]) -> list[Row]:
    """As in a broker that waits for late documents, and whose stream has not ended."""
    broker = Broker(lateness=600)
    for each in given:
        broker.subscribe(each)
    in_order = [sorted(part, key=lambda one: (seconds(one), one.id)) for part in parts]
    made = [message for part in in_order for message in broker.publish(part)]
    return sorted((each.subscription, each.documents or (each.document,), text) for each in made for text in each.nodes)


def named(texts: dict[str, str]) -> list[Subscription]:
    return [Subscription(id, text) for id, text in texts.items()]


def columns(given: Sequence[Document]) -> dict[str, Any]:
    return {
        "document": [each.id for each in given],
        "stream": [each.stream for each in given],
        "timestamp": [each.timestamp for each in given],
        "value": [each.data for each in given],
    }


def frame_of(spark: SparkSession, given: Sequence[Document]) -> DataFrame:
    return spark.createDataFrame(list(zip(*columns(given).values(), strict=True)), SCHEMA)


def as_rows(frame: DataFrame) -> list[Row]:
    return sorted((row.subscription, tuple(row.documents), row.message) for row in frame.collect())


# -- batch


def test_a_batch_finds_what_nested_loops_find_and_writes_what_the_broker_writes(spark: SparkSession) -> None:
    frame = frame_of(spark, documents()[::-1]).repartition(3)

    found = as_rows(frame.transform(join(subscriptions())))

    assert found == embedded(subscriptions(), documents())
    expected = [
        Counter(one.documents for one in some)
        for some in oracle([parse(each.query) for each in subscriptions()], documents())
    ]
    assert [Counter(row[1] for row in found if row[0] == each.id) for each in subscriptions()] == expected
    compiled = compile_subscriptions(subscriptions()).joins
    assert compiled is not None
    assert min(compiled.pairwise, compiled.gathered) > 20
    assert len(found) > 1_000


@pytest.mark.parametrize("kind", ["double", "timestamp"])
@pytest.mark.parametrize(("apart", "number"), [(0.1, 100), (0.101, 0)])
def test_what_is_exactly_a_window_apart_is_within_it_at_today_s_dates(
    spark: SparkSession, kind: str, apart: float, number: int
) -> None:
    window = "{x = y, 100 milliseconds}"
    queries = {
        "pair": f"S//a->x FOLLOWED BY{window} S//b->y",
        "chain": f"S//a->x FOLLOWED BY{window} S//b->y JOIN{{y = z, 0 seconds}} S//c->z",
    }
    given = [
        Document(f"<{name}>{at}</{name}>".encode(), f"{name}{at}", "S", round(1.7e9 + 10.1 * at + later, 3))
        for at in range(100)
        for name, later in (("a", 0.0), ("b", apart), ("c", apart))
    ]
    frame = frame_of(spark, given)
    if kind == "timestamp":
        frame = frame.withColumn("timestamp", expr("timestamp_micros(bigint(round(timestamp * 1e6)))"))

    rows = frame.transform(join(named(queries))).collect()

    assert Counter(row.subscription for row in rows) == ({"pair": number, "chain": number} if number else {})
    if kind == "double":
        assert {row.timestamp for row in rows} <= {each.timestamp for each in given}


def test_a_row_whose_time_is_of_no_age_takes_no_part(spark: SparkSession) -> None:
    frame = frame_of(spark, orders(20))
    odd = [("odd", "S", moment, b"<o/>") for moment in (1e300, -1e12, float("inf"), float("nan"))]
    far = spark.createDataFrame([("far", "S", b"<o/>")], "document string, stream string, value binary")
    timed = frame.withColumn("timestamp", expr("timestamp_micros(bigint(timestamp * 1e6))"))

    more = frame.union(spark.createDataFrame(odd, SCHEMA))
    further = timed.unionByName(far.withColumn("timestamp", expr("timestamp '9999-01-01'")))

    assert as_rows(more.transform(join([PAIR]))) == as_rows(frame.transform(join([PAIR])))
    assert as_rows(further.transform(join([PAIR]))) == as_rows(timed.transform(join([PAIR])))


def test_a_batch_has_cascades_and_gives_what_is_published_to_others(spark: SparkSession) -> None:
    frame = frame_of(spark, orders(40))

    found = as_rows(frame.transform(join(named(CASCADE))))

    alone = set(embedded(named({"titles": CASCADE["titles"]}), orders(40)))
    assert found == [row for row in embedded(named(CASCADE), orders(40)) if row not in alone]
    assert {row[0] for row in found} == set(CASCADE)


def test_other_names_and_types_of_columns_make_the_same_messages(spark: SparkSession) -> None:
    frame = frame_of(spark, orders(20)).selectExpr(
        "int(document) AS `the.id`", "timestamp_micros(bigint(timestamp * 1e6)) AS at", "string(value) AS xml", "stream"
    )
    nulls = frame.selectExpr("CAST(NULL AS int)", "at", "xml", "stream").union(
        frame.selectExpr("`the.id` + 1000", "at", "'<o><c>1</c>'", "stream")  # no XML
    )

    out = frame.union(nulls).transform(join([PAIR], "xml", id="the.id", timestamp="at", version=7))
    rows = out.orderBy("documents").collect()

    expected = [
        (tuple(id.lstrip("0") or "0" for id in ids), text) for _, ids, text in embedded(named({"1": PAIR}), orders(20))
    ]
    assert sorted((tuple(row.documents), row.message) for row in rows) == sorted(expected)
    assert out.schema["timestamp"].dataType.simpleString() == "timestamp"
    assert {(row.subscription, row.destination, row.position, row.version) for row in rows} == {("1", None, 1, 7)}
    assert [row.timestamp.timestamp() for row in rows] == [1_000.0 + int(row.documents[1]) for row in rows]


def test_messages_of_the_same_documents_are_numbered(spark: SparkSession) -> None:
    query = "S//o[c->x] FOLLOWED BY{x = y, infinite} S//o->p[c->y]/n->n"
    given = [
        Document(f"<o><c>{at}</c><c>1</c><n>{at}</n><n>b</n></o>".encode(), str(at), "S", float(at)) for at in range(2)
    ]

    rows = frame_of(spark, given).transform(join([query])).orderBy("position").collect()

    assert [(row.position, row.documents) for row in rows] == [(1, ["0", "1"]), (2, ["0", "1"])] * (len(rows) // 2)
    assert len(rows) == len(embedded(named({"1": query}), given)) > 1


# -- streams


def read_stream(spark: SparkSession, folder: Path, parts: Sequence[Sequence[Document]]) -> DataFrame:
    """A part is a micro-batch."""
    folder.mkdir(parents=True)
    for at, part in enumerate(parts):
        pq.write_table(pa.table(columns(part)), folder / f"{at:02d}.parquet")
        os.utime(folder / f"{at:02d}.parquet", (1_000 + at, 1_000 + at))  # Spark takes the oldest first
    return spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(folder))


def run(frame: DataFrame, folder: Path) -> StreamingQuery:
    writer = frame.writeStream.option("checkpointLocation", str(folder / "checkpoint")).format("parquet")
    query = writer.trigger(availableNow=True).start(str(folder / "out"))
    assert query.awaitTermination(240)
    return query


def test_a_stream_gives_the_messages_of_the_broker_whatever_the_order_of_its_documents(
    spark: SparkSession, tmp_path: Path
) -> None:
    end = replace(documents()[-1], id="end", data=b"<end/>", timestamp=1e6)  # every window has closed
    # In a stream those of one moment are in no order that is told, so each has a moment of its own.
    told_apart = [replace(each, timestamp=seconds(each) + at / 1_000) for at, each in enumerate(documents())]
    shuffled = Random(5).sample(told_apart, len(told_apart))
    third = len(shuffled) // 3
    parts = [shuffled[:third], shuffled[third : 2 * third], shuffled[2 * third :], [end]]

    run(read_stream(spark, tmp_path / "in", parts).transform(join(subscriptions())), tmp_path)

    assert as_rows(spark.read.parquet(str(tmp_path / "out"))) == embedded_streaming(subscriptions(), parts)


def test_a_stream_forgets_what_no_window_reaches_and_does_not_join_what_is_late(
    spark: SparkSession, tmp_path: Path
) -> None:
    given = orders(60)
    late = replace(given[0], id="late")
    parts = [given[:20], given[20:40], [*given[40:], late]]

    query = run(read_stream(spark, tmp_path / "in", parts).transform(join([PAIR], lateness=1.0)), tmp_path)

    assert as_rows(spark.read.parquet(str(tmp_path / "out"))) == embedded(named({"1": PAIR}), given)
    assert query.recentProgress[-1].stateOperators[0].numRowsTotal < 40  # changes, and the last documents


# -- what is refused


def test_matching_single_documents_refuses_xscl() -> None:
    with pytest.raises(ConfigurationError) as told:
        match(["/o", PAIR, PAIR])
    assert str(told.value) == (
        "expected subscriptions that ask for one document at a time, found XSCL, which joins documents: 2, 3; "
        "give these to weft.spark.join"
    )


def test_wrong_arguments_are_told_on_the_driver(spark: SparkSession) -> None:
    frame = frame_of(spark, orders(1))
    wrong: dict[str, tuple[list[str], dict[str, Any]]] = {
        "join: expected XSCL subscriptions, found none; the others are for weft.spark.deliver": (["/o"], {}),
        "lateness: expected a number of seconds, at least 0, or a timedelta, found -1.0": ([PAIR], {"lateness": -1.0}),
        "id: expected one of document, stream, timestamp, value, found 'offset'; to be joined, each document needs a "
        "name of its own": ([PAIR], {"id": "offset"}),
        "timestamp: expected one of document, stream, timestamp, value, found 'time'; to be joined, each document "
        "needs the time when it came": ([PAIR], {"timestamp": "time"}),
        "column 'stream': expected timestamp or a number of seconds, found string": ([PAIR], {"timestamp": "stream"}),
        "column: expected one of document, stream, timestamp, value, found 'xml'": ([PAIR], {"column": "xml"}),
    }
    for reason, (texts, options) in wrong.items():
        with pytest.raises(ConfigurationError) as told:
            frame.transform(join(texts, **options))
        assert str(told.value) == reason


# -- the whole job

MIXED = {"pairs": PAIR, "late": "/o[@n > 20]/c"}
BROKEN = "S/broken.xml"


def fill(inbox: Path, given: Sequence[Document]) -> None:
    (inbox / "S").mkdir(parents=True, exist_ok=True)
    for each in given:
        file = inbox / "S" / f"{each.id}.xml"
        file.write_bytes(each.data if isinstance(each.data, bytes) else each.data.encode())
        os.utime(file, (seconds(each), seconds(each)))


def write(path: Path, texts: dict[str, str]) -> Path:
    path.write_text("".join(json.dumps({"id": id, "query": query}) + "\n" for id, query in texts.items()))
    return path


def written(output: Path) -> list[Row]:
    rows = read_results(output)
    return sorted(
        (row["subscription"], tuple(row.get("documents") or (row["document"],)), row["message"]) for row in rows
    )


def expected_of(texts: dict[str, str], given: Sequence[Document]) -> list[Row]:
    return embedded(named(texts), [replace(each, id=f"S/{each.id}.xml") for each in given])


def test_a_job_writes_the_messages_of_all_languages(spark: SparkSession, tmp_path: Path) -> None:
    fill(tmp_path / "inbox", [*orders(30), Document(b"<o>", "broken")])
    texts = {**CASCADE, **MIXED}

    done = run_batch(spark, Job(write(tmp_path / "all.jsonl", texts), tmp_path / "inbox", tmp_path / "out"))

    expected = expected_of(texts, orders(30))
    assert written(tmp_path / "out") == expected
    assert (done.documents, done.rejected, done.messages) == (31, 1, len(expected))
    assert dict(done.per_subscription) == Counter(row[0] for row in expected)
    shown = CliRunner().invoke(app, ["show", str(tmp_path / "out"), "-n", "0"]).stdout
    first = next(row for row in expected if row[0] == "pairs" and len(row[1]) == 2)
    assert f"-- pairs from {', '.join(first[1])} 1\n{first[2]}\n" in shown
    assert shown.count("-- ") == len(expected)


@pytest.mark.parametrize("format", ["parquet", "files"])
def test_a_stream_goes_on_where_it_was_and_keeps_its_joins(spark: SparkSession, tmp_path: Path, format: Format) -> None:
    file = write(tmp_path / "mixed.jsonl", MIXED)
    fill(tmp_path / "inbox", [*orders(20), Document(b"<o>", "broken", timestamp=1_000.0)])
    job = Job(file, tmp_path / "inbox", tmp_path / "out", format=format, max_files_per_trigger=12)
    refused: list[str] = []

    def go_on() -> None:
        tell = lambda error: refused.append(str(error))  # noqa: E731
        with run_stream(spark, job, available_now=True, on_refused=tell) as query:
            assert query.awaitTermination(240)

    go_on()
    fill(tmp_path / "inbox", orders(30)[20:])
    write(file, {**MIXED, "more": PAIR})
    go_on()

    later = expected_of({"more": PAIR}, orders(30)[20:])  # it sees the documents from then on
    expected = sorted([*expected_of(MIXED, orders(30)), *later])
    assert later
    if format == "files":
        found = [(row["subscription"], row["message"]) for row in read_results(tmp_path / "out")]
        assert sorted(found) == sorted((row[0], row[2]) for row in expected)
    else:
        assert written(tmp_path / "out") == expected
        assert {row["version"] for row in read_results(tmp_path / "out")} == {1, 2}
    assert [row["document"] for row in read_results(tmp_path / "out", only_rejected=True)] == [BROKEN]
    assert refused == []


# -- other processes

NUMBERS = """
import json, sys
from weft.documents import Document, read
from weft.joins.joins import Joins
from weft.joins.pairs import PairJoins
from weft.languages.xscl import parse
joins = Joins()
for number, text in enumerate(json.loads(sys.argv[1])):
    joins.add(number, parse(text))
pairs = PairJoins(joins)
occurrences = pairs.occurrences(read([Document(sys.argv[2])]))
print(pairs.predicates, pairs.needs, pairs.openings, [column.tolist() for column in occurrences])
"""


def test_predicates_have_the_same_numbers_in_every_process_for_they_are_in_the_state_of_a_stream() -> None:
    texts = json.dumps([each.query for each in subscriptions()])
    told = [
        subprocess.run(
            [sys.executable, "-c", NUMBERS, texts, "<a><b>1</b><c>1</c></a>"],
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
        ).stdout
        for hash_seed in ("1", "2")
    ]
    assert told[0] == told[1] != b""
