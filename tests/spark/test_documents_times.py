"""Times and ids inside documents: every surface finds what nested loops find, however the files are dated."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from payment_files import ID, SETTLED, TIMESTAMP, UNANSWERED, papers, right_answers, write_papers
from weft.delivery.results import read_results
from weft.errors import ConfigurationError
from weft.spark import Job, deliver, join, match, messages, rejected, run_batch, run_stream

pytestmark = pytest.mark.slow
SOME = papers()
RIGHT = right_answers(SOME)
Found = dict[str, set[tuple[str, ...]]]


@pytest.fixture(scope="module")
def inbox(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("event_times")
    write_papers(folder / "in", SOME)
    (folder / "in" / "answers" / "bad.xml").write_text("<Sts>\n  <CreDtTm>soon</CreDtTm></Sts>")
    queries = {"settled": SETTLED, "unanswered": UNANSWERED}
    lines = [json.dumps({"id": name, "query": query, "language": "xscl"}) for name, query in queries.items()]
    lines.append(json.dumps({"id": "amounts", "query": "//Amt"}))
    (folder / "options.jsonl").write_text("\n".join(lines))
    rule = {"timestamp": TIMESTAMP, "id": ID}
    rules = [json.dumps({"stream": stream, **rule}) for stream in ("payments", "answers")]
    (folder / "rules.jsonl").write_text("\n".join([*rules, *lines]))
    return folder


def found(rows: Iterator[dict[str, object]]) -> Found:
    joined = [row for row in rows if row.get("documents")]
    return {
        name: {tuple(row["documents"]) for row in joined if row["subscription"] == name}  # type: ignore[arg-type]
        for name in RIGHT
    }


def collected(frame: DataFrame) -> Found:
    return found(row.asDict() for row in frame.collect())


def test_a_batch_goes_by_the_times_inside(spark: SparkSession, inbox: Path, tmp_path: Path) -> None:
    run_batch(spark, Job(inbox / "options.jsonl", inbox / "in", tmp_path, timestamp=TIMESTAMP, id=ID))

    assert found(read_results(tmp_path)) == RIGHT
    (bad,) = read_results(tmp_path, only_rejected=True)
    assert (bad["document"], bad["line"], bad["column"]) == ("answers/bad.xml", 2, 3)
    assert bad["error"] == "expected a time at //CreDtTm, found 'soon'"
    assert bad["source"].startswith(b"<Sts>")


def test_a_stream_goes_by_the_rules_of_its_subscription_file(spark: SparkSession, inbox: Path, tmp_path: Path) -> None:
    job = Job(inbox / "rules.jsonl", inbox / "in", tmp_path, max_files_per_trigger=31, lateness=7 * 86_400)
    with run_stream(spark, job, available_now=True) as query:
        query.awaitTermination()
    made = found(read_results(tmp_path))

    assert made["settled"] == RIGHT["settled"]
    assert made["unanswered"] == set(), "their windows are open: later documents may come for a week"
    assert job.metrics.rejected == 1


def test_deliver_takes_all_languages_and_the_times_inside(spark: SparkSession, inbox: Path) -> None:
    documents = spark.read.format("weft").load(str(inbox / "in"))

    out = documents.transform(deliver(str(inbox / "options.jsonl"), timestamp=TIMESTAMP, id=ID)).cache()

    assert collected(messages(out)) == RIGHT
    amounts = {(row.document, row.timestamp) for row in messages(out).where("subscription = 'amounts'").collect()}
    moments = {each.key: each.moment.replace(tzinfo=None) for each in SOME}
    assert {key for key, _ in amounts} == {each.key for each in SOME if each.stream == "payments"}
    assert all(moments[key] == moment.replace(tzinfo=None) for key, moment in amounts)
    assert [row.document for row in rejected(out).collect()] == ["answers/bad.xml"]


def test_join_takes_columns_or_paths(spark: SparkSession, inbox: Path) -> None:
    rows = [(each.key, each.stream, each.moment.timestamp(), each.text) for each in SOME]
    documents = spark.createDataFrame(rows, "key string, stream string, sent double, value string")

    by_column = documents.transform(join(inbox / "options.jsonl", id="key", timestamp="sent"))
    by_path = documents.drop("key", "sent").transform(join(inbox / "rules.jsonl", id="document"))

    assert collected(by_column) == RIGHT
    assert collected(by_path) == RIGHT


def test_what_xscl_needs_is_asked_for_by_name(spark: SparkSession, inbox: Path) -> None:
    documents = spark.createDataFrame([("<a/>",)], "value string")

    with pytest.raises(ConfigurationError, match="no column 'document': settled, unanswered; say where"):
        documents.transform(deliver(inbox / "options.jsonl"))
    with pytest.raises(ConfigurationError, match="found XSCL, which joins documents: settled, unanswered; give"):
        match(inbox / "options.jsonl")


def test_columns_that_clash_get_a_prefix_and_modes_any_case(spark: SparkSession) -> None:
    documents = spark.createDataFrame([("m", "<a><b/></a>"), ("n", "<a>")], "message string, value string")

    with pytest.raises(ConfigurationError, match="give a prefix"):
        documents.transform(deliver(["//b"]))
    out = documents.transform(deliver(["//b"], prefix="in_", mode="dropMalformed"))
    matched = documents.withColumnRenamed("message", "matches").transform(
        match(["//b"], prefix="in_", mode="permissive")
    )

    assert [(row.in_message, row.message) for row in out.collect()] == [("m", "<b/>")]
    assert [(row.in_matches, row.matches) for row in matched.collect()] == [("m", ["1"]), ("n", None)]
    with pytest.raises(ConfigurationError, match="expected one of PERMISSIVE"):
        deliver(["//b"], mode="sometimes")


def test_failfast_names_the_key_columns(spark: SparkSession) -> None:
    documents = spark.createDataFrame([("orders", 17, "<a>")], "topic string, offset long, value string")

    with pytest.raises(Exception, match=r"topic=orders, offset=17:1:4"):
        documents.transform(deliver(["//b"], mode="failfast")).collect()


def test_documents_that_are_not_valid_are_rejected_with_their_path(spark: SparkSession, tmp_path: Path) -> None:
    schema = tmp_path / "a.xsd"
    schema.write_text(
        '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="a"><xs:complexType><xs:sequence>'
        '<xs:element name="n" type="xs:int" maxOccurs="2"/></xs:sequence></xs:complexType></xs:element></xs:schema>'
    )
    documents = spark.createDataFrame(
        [(1, "<a><n>1</n></a>"), (2, "<a>\n<n>1</n>\n<n>x</n></a>")], "number int, value string"
    )

    out = documents.transform(deliver(["//n"], schema=schema)).cache()
    matched = documents.transform(match(["//n"], schema=schema)).orderBy("number").collect()

    assert [(row.number, row.message) for row in messages(out).collect()] == [(1, "<n>1</n>")]
    (bad,) = rejected(out).collect()
    assert (bad.number, bad.line, bad.error.split(": ")[0]) == (2, 3, "not valid")
    assert bad.error.endswith("(/a/n[2])")
    assert [row.matches for row in matched] == [["1"], None]
