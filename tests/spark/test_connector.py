"""Spark's connector for Kafka is asked for where nobody gave it, and what cannot be fetched is told in one line."""

import pyspark
import pytest

from weft.spark.connector import connector, connector_settings, unresolved
from weft.spark.failures import first_line

LOG = """
:: problems summary ::
RuntimeException: [unresolved dependency: org.apache.spark#spark-sql-kafka-0-10_2.13;4.3.0: not found]
	at org.apache.spark.util.MavenUtils$.resolveMavenCoordinates(MavenUtils.scala:539)
"""


def test_the_connector_has_the_version_of_spark() -> None:
    settings = connector_settings(None, {"spark.jars.packages": "a:b:1"}, True)

    assert connector() == f"org.apache.spark:spark-sql-kafka-0-10_2.13:{pyspark.__version__}"
    assert settings == {"spark.jars.packages": f"a:b:1,{connector()}"}
    assert connector_settings(None, {"spark.executor.cores": "2"}, False) == {"spark.executor.cores": "2"}


@pytest.mark.parametrize(
    ("jars", "conf"),
    [
        ("x/spark-sql-kafka-0-10_2.13-4.2.0.jar,x/kafka-clients-3.9.1.jar", {}),
        (None, {"spark.jars.packages": "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0"}),
        (None, {"spark.driver.extraClassPath": "x/spark-sql-kafka-0-10_2.13-4.2.0.jar"}),
    ],
)
def test_what_is_given_is_taken(jars: str | None, conf: dict[str, str]) -> None:
    settings = connector_settings(jars, conf, True)

    assert settings == conf | ({"spark.jars": jars} if jars else {})


def test_what_cannot_be_fetched_is_told_in_one_line() -> None:
    told = unresolved(LOG)

    assert told is not None
    assert told.startswith("the repository of jars has no org.apache.spark:spark-sql-kafka-0-10_2.13:4.3.0; give ")
    assert unresolved("all is well") is None


def test_a_module_that_a_worker_lacks_is_told_in_one_line() -> None:
    text = (
        'Job aborted: Traceback (most recent call last):\n  File "worker.py", line 1, in main\n'
        "ModuleNotFoundError: No module named 'weft'\n\n\tat org.apache.spark.api.python"
    )

    assert first_line(Exception(text)).startswith("a worker of Spark has no module 'weft': install weft[spark] for")
