"""How Hypothesis runs here: the same examples every time. `--hypothesis-profile=thorough` looks for new ones.

This file is also why tests can import `oracle` and `strategies`: pytest puts its folder on the path.
"""

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings
from pyspark.sql import SparkSession

from weft.spark.session import start_session

_CALM = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}
settings.register_profile("weft", max_examples=300, derandomize=True, **_CALM)
settings.register_profile("thorough", max_examples=10_000, print_blob=True, **_CALM)
settings.load_profile("weft")
# Most of what Spark does in a test is to start: let Java compile less, here and in the processes that tests start.
os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite the golden files from what the code does now"
    )


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One session for all tests of a process: starting one takes seconds."""
    session = start_session("local[2]")
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()
