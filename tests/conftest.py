"""How the tests run: Hypothesis has the same examples every time, and tests that need Spark carry the marker `spark`.

`--hypothesis-profile=thorough` looks for new examples. This file is also why tests can import `oracle` and
`strategies`: pytest puts its folder on the path.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from profiles import USUAL
from spark_classes import java_options

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_CALM = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
settings.register_profile("weft", _CALM, max_examples=USUAL, derandomize=True)
settings.register_profile("thorough", _CALM, max_examples=5_000, print_blob=True)
settings.register_profile("fast", _CALM, max_examples=15, derandomize=True)  # make test-fast
settings.load_profile("weft")
os.environ.setdefault("SPARK_SUBMIT_OPTS", java_options())
#: Of Spark's connector for Kafka, if there are any; another Spark has another connector.
_JARS = sorted(map(str, (Path(__file__).parents[1] / ".cache" / "kafka" / "connector").glob("*.jar")))
if _JARS and "WEFT_MATRIX" not in os.environ:  # whoever starts Java first: it takes none later
    os.environ.setdefault("PYSPARK_SUBMIT_ARGS", f"--jars {','.join(_JARS)} pyspark-shell")
_KILLED = "kill"  # the longest tests
_TIMED = "timed"
_RERUNS = 2  # of tests with limits on time: what is too slow is so each time, what waited on a busy machine is not
_SPARK_TESTS = Path(__file__).parent / "spark"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite the golden files from what the code does now"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what is in tests/spark or asks for the session; other tests that import pyspark say so themselves."""
    for item in items:
        if _SPARK_TESTS in item.path.parents or "spark" in getattr(item, "fixturenames", ()):
            item.add_marker("spark")
        if item.get_closest_marker(_TIMED):
            item.add_marker(pytest.mark.flaky(reruns=_RERUNS))
    processes = getattr(config, "workerinput", {}).get("workercount", 1)
    if processes > 1:
        items[:] = _dealt(items, processes)


def _dealt(items: list[pytest.Item], processes: int) -> list[pytest.Item]:
    """The tests of each process in turn: long ones, which wait a lot, come first, so that none is left over at the end.

    Files stay together, since their tests share what they set up.
    """
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    hands: list[list[pytest.Item]] = [[] for _ in range(processes)]
    seconds = [0.0] * processes
    for tests in sorted(files.values(), key=_seconds, reverse=True):
        is_long = _seconds(tests) > 1
        hand = min(range(processes), key=lambda each: seconds[each] if is_long else len(hands[each]))
        hands[hand] += tests
        seconds[hand] += _seconds(tests)
    return [test for hand in hands for test in hand]


def _seconds(tests: list[pytest.Item]) -> float:
    """About how long tests take, by their names and marks."""
    seconds = 0.0
    for test in tests:
        is_on_spark, is_slow = test.get_closest_marker("spark"), test.get_closest_marker("slow")
        seconds += 60 if _KILLED in test.name else 8 if is_on_spark else 3 if is_slow else 0.01
    return seconds


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """In tests with limits on time the collector goes over what they make, not over what tests before them left."""
    if item.get_closest_marker(_TIMED) is None:
        return (yield)
    gc.collect()
    gc.freeze()
    try:
        return (yield)
    finally:
        gc.unfreeze()


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One session for all tests of a process: starting one takes seconds."""
    from weft.spark.session import start_session  # noqa: PLC0415 here, so that other tests do not import pyspark

    session = start_session("local[2]")
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()
