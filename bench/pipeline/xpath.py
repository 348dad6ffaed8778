"""XPath expressions and sets of documents in, documents a second of Spark's own `xpath_boolean` and of Weft out."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import count_if, explode

from bench.contest import DisagreementError
from bench.news import news_queries
from bench.pipeline.documents import count_set
from bench.pipeline.session import Session, load, time_match, to_nowhere, unload
from weft.spark.compiled import Compiled, compile_subscriptions
from weft.spark.transform import match

EXPRESSIONS = 100
_SEED = 5  # other queries than in the other parts, whose workers have seen these documents
_MANY, _FEW = "many", "few"


@dataclass(frozen=True, slots=True)
class Beside:
    """Documents a second, by round, and how many there were of each; `matched` is the ids for each document."""

    predicates: bool
    spark: list[float]
    weft: list[float]
    spark_documents: int
    weft_documents: int
    matched: float

    @property
    def speedup(self) -> float:
        """How many times as fast Weft is, the median of the rounds."""
        return median(ours / theirs for ours, theirs in zip(self.weft, self.spark, strict=True))


def measure_beside(session: Session, predicates: bool, warm_up: Path, sets: list[Path], few: int) -> Beside:
    """Both on each set, Spark's way on the first `few` of its documents; before, they must agree on the warm-up's."""
    queries = news_queries(EXPRESSIONS, predicates=predicates, seed=_SEED)
    compiled = compile_subscriptions(queries)
    _load(session, warm_up, few)
    session.do(partial(time_match, compiled, _MANY))
    matched = _agree(session, queries, compiled) / few
    _unload(session)
    spark, weft = [], []
    for path in sets:
        _load(session, path, few)
        spark.append(few / session.do(partial(time_xpath, queries, _FEW)))
        weft.append(count_set(path) / session.do(partial(time_match, compiled, _MANY)))
        _unload(session)
    return Beside(predicates, spark, weft, few * len(sets), sum(map(count_set, sets)), matched)


def _load(session: Session, path: Path, few: int) -> None:
    session.do(partial(load, _MANY, path, text=True))
    session.do(partial(load, _FEW, path, text=True, rows=few))


def _unload(session: Session) -> None:
    for name in (_MANY, _FEW):
        session.do(partial(unload, name))


def _agree(session: Session, queries: list[str], compiled: Compiled) -> int:
    """How many ids both deliver, and Spark's way is warm after it; raises DisagreementError."""
    theirs = session.do(partial(count_xpath, queries, _FEW))
    ours = session.do(partial(count_match, compiled, _FEW))
    check_counts(queries, ours, theirs)
    return sum(theirs)


def check_counts(queries: list[str], ours: list[int], theirs: list[int]) -> None:
    """Raise DisagreementError unless each expression is true for as many documents both ways."""
    for query, our, their in zip(queries, ours, theirs, strict=True):
        if our != their:
            raise DisagreementError(f"{query}: matches {our} documents with Weft, {their} with xpath_boolean")


def time_xpath(queries: list[str], name: str, spark: SparkSession) -> float:
    """The seconds of a column of `xpath_boolean` for each expression."""
    started = perf_counter()
    to_nowhere(_with_xpath(queries, spark.table(name)))
    return perf_counter() - started


def count_xpath(queries: list[str], name: str, spark: SparkSession) -> list[int]:
    """For how many documents each expression is true, by Spark."""
    columns = _with_xpath(queries, spark.table(name))
    row = columns.select(*(count_if(column).alias(column) for column in columns.columns)).first()
    return [] if row is None else list(row)


def count_match(compiled: Compiled, name: str, spark: SparkSession) -> list[int]:
    """For how many documents each subscription matches, by Weft; their ids are the places from 1 on."""
    found = spark.table(name).transform(match(compiled)).select(explode("matches").alias("id")).collect()
    counts = Counter(row["id"] for row in found)
    return [counts[str(number)] for number in range(1, compiled.count + 1)]


def _with_xpath(queries: list[str], frame: DataFrame) -> DataFrame:
    quoted = [query.replace("\\", "\\\\").replace("'", "\\'") for query in queries]
    return frame.selectExpr(*(f"xpath_boolean(value, '{query}') AS q{at}" for at, query in enumerate(quoted)))
