"""The suites that lxml and Saxon have judged, on Spark: batch and stream give the messages of the broker."""

from functools import cache
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

import xquery_grammar
from shapes import FLWR_EXTRAS, FLWR_SHAPES, FLWR_VALUES, XPATH_SHAPES
from weft import Broker, Document
from weft.spark import compile_subscriptions, deliver, match, messages, rejected
from weft.workload import SHIPPED, generate_documents, generate_flwr, generate_queries, shipped

pytestmark = pytest.mark.slow
Row = tuple[str, str, int, str]  # document, subscription, position, message
BROKEN = {"broken": b"<a><b></a>", "empty": b"", "latin": "<a>é</a>".encode("latin-1")}


@cache
def documents(name: str) -> dict[str, bytes]:
    dtd = shipped(name)
    made = [
        *generate_documents(dtd, number=40, elements=40, values=5, words=2, seed=1),
        *generate_documents(dtd, number=40, depth=6, repeats=2, elements=60, values=5, words=2, seed=2),
    ]
    return {**{f"{at:03d}": data for at, data in enumerate(made)}, **BROKEN}


@cache
def queries(name: str) -> list[str]:
    dtd = shipped(name)
    texts = [
        text for seed, shape in enumerate(XPATH_SHAPES) for text in generate_queries(dtd, number=60, seed=seed, **shape)
    ]
    if name in FLWR_SHAPES:
        shape = {**FLWR_VALUES, **FLWR_SHAPES[name][1], "descendant": 0.3}
        texts += generate_flwr(dtd, number=40, seed=1, **shape, **FLWR_EXTRAS)
    return texts


@cache
def embedded(name: str) -> tuple[list[Row], dict[str, list[str]]]:
    broker = Broker()
    for number, query in enumerate(queries(name), start=1):
        broker.subscribe(query, id=str(number))
    batch = [Document(data, id) for id, data in documents(name).items()]
    rows = [
        (message.document, message.subscription, position, text)
        for message in broker.publish(batch)
        for position, text in enumerate(message.nodes, start=1)
    ]
    return sorted(rows), dict(zip(documents(name), (found.tolist() for found in broker.matches(batch)), strict=True))


def as_rows(frame: DataFrame) -> list[Row]:
    wanted = frame.select("document", "subscription", "position", "message")
    return sorted((row[0].removesuffix(".xml"), *row[1:]) for row in wanted.collect())


@pytest.mark.parametrize("name", SHIPPED)
def test_a_batch_on_spark_gives_the_messages_of_the_broker(spark: SparkSession, name: str) -> None:
    frame = spark.createDataFrame(list(documents(name).items()), "document string, value binary").repartition(3)

    out = frame.transform(deliver(queries(name)))

    assert as_rows(messages(out)) == embedded(name)[0]
    assert {row.document for row in rejected(out).collect()} == set(BROKEN)


@pytest.mark.parametrize("name", SHIPPED)
def test_matching_on_spark_gives_the_ids_of_the_broker(spark: SparkSession, name: str) -> None:
    frame = spark.createDataFrame(list(documents(name).items()), "document string, value binary")

    out = {row.document: row.matches for row in frame.transform(match(queries(name))).collect()}

    expected = embedded(name)[1]
    assert out == {id: None if id in BROKEN else ids for id, ids in expected.items()}


@pytest.mark.parametrize("name", SHIPPED)
def test_a_stream_on_spark_gives_the_messages_of_the_broker(spark: SparkSession, name: str, tmp_path: Path) -> None:
    for id, data in documents(name).items():
        (tmp_path / "in" / f"{id}.xml").parent.mkdir(exist_ok=True)
        (tmp_path / "in" / f"{id}.xml").write_bytes(data)
    stream = spark.readStream.format("weft").option("maxFilesPerTrigger", 30).load(str(tmp_path / "in"))
    compiled = compile_subscriptions(queries(name))

    out = stream.transform(deliver(compiled)).writeStream.option("checkpointLocation", str(tmp_path / "checkpoint"))
    out.format("parquet").trigger(availableNow=True).start(str(tmp_path / "out")).awaitTermination()

    written = spark.read.parquet(str(tmp_path / "out"))
    assert as_rows(messages(written)) == embedded(name)[0]
    assert {row.document.removesuffix(".xml") for row in rejected(written).collect()} == set(BROKEN)


def test_queries_that_are_worked_out_alone_give_the_messages_of_the_broker(spark: SparkSession) -> None:
    texts = {f"{at:02d}": text for at, text in enumerate(xquery_grammar.documents(0, 20))}
    asked = [each.text for each in xquery_grammar.queries(0, 60).values()]
    broker = Broker()
    for number, query in enumerate(asked, start=1):
        broker.subscribe(query, id=str(number))
    expected = [
        (message.document, message.subscription, position, text)
        for message in broker.publish([Document(text, id) for id, text in texts.items()])
        for position, text in enumerate(message.nodes, start=1)
    ]

    out = spark.createDataFrame(list(texts.items()), "document string, value string").transform(deliver(asked))

    assert as_rows(messages(out)) == sorted(expected)
    assert len(expected) > len(texts)
