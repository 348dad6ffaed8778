"""A message that would break a limit is refused on Spark too, and told in the column of what is rejected."""

from __future__ import annotations

import pytest
from pyspark.errors import PythonException
from pyspark.sql import DataFrame, Observation, SparkSession

from weft import Limits
from weft.spark import deliver, match, messages, rejected
from weft.spark.metrics import observed

LIMITS = Limits(max_messages=3)
SUBSCRIPTIONS = ["//b", "/a/@k"]
GREEDY = "<a k='2'>" + "<b/>" * 4 + "</a>"


@pytest.fixture
def documents(spark: SparkSession) -> DataFrame:
    rows = [("modest", "<a k='1'><b/></a>"), ("greedy", GREEDY), ("torn", "<a>")]
    return spark.createDataFrame(rows, "document string, value string")


def test_what_is_refused_is_told_and_all_else_is_delivered(documents: DataFrame) -> None:
    out = documents.transform(deliver(SUBSCRIPTIONS, limits=LIMITS))

    made = {(row.document, row.subscription, row.message) for row in messages(out).collect()}
    bad = {row.document: (row.subscription, row.error, row.source) for row in rejected(out).collect()}

    assert made == {("modest", "1", "<b/>"), ("modest", "2", 'k="1"'), ("greedy", "2", 'k="2"')}
    assert bad["torn"] == (None, "no element found", "<a>")
    assert (bad["greedy"][0], bad["greedy"][2]) == ("1", None)
    assert bad["greedy"][1].startswith("subscription 1: ")


def test_what_is_refused_ends_a_job_that_fails_fast(documents: DataFrame) -> None:
    whole = documents.where("document != 'torn'")

    with pytest.raises(PythonException, match="subscription 1: "):
        whole.transform(deliver(SUBSCRIPTIONS, limits=LIMITS, mode="FAILFAST")).collect()


def test_a_column_of_matches_has_those_that_could_be_found(documents: DataFrame) -> None:
    out = documents.transform(match(SUBSCRIPTIONS, columnNameOfCorruptRecord="bad", limits=LIMITS))

    assert {row.document: row.matches for row in out.collect()} == {
        "modest": ["1", "2"],
        "greedy": ["1", "2"],  # that it matches is known without its messages
        "torn": None,
    }


def test_refused_messages_count_as_rejected_and_not_as_messages(documents: DataFrame) -> None:
    before, after = Observation(), Observation()
    documents.transform(observed(deliver(SUBSCRIPTIONS, limits=LIMITS), before, after)).collect()

    seen = after.get
    assert (seen["messages"], seen["rejected"], seen["refused"]) == (3, 2, 1)
    assert {row["item"]: row["count"] for row in seen["top"] if row["item"] is not None} == {"1": 1, "2": 2}
