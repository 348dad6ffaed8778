"""A job with topics in, the settings of Spark that bring its connector for Kafka out; and why it cannot be had."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

import pyspark

_JARS = ("spark.jars", "spark.jars.packages", "spark.driver.extraClassPath")
_NAME = "spark-sql-kafka-0-10"
_UNRESOLVED = re.compile(r"(?:unresolved dependency|download failed): (\S+?)#(\S+?);([\w.-]+)")


def connector_settings(jars: str | None, conf: Mapping[str, str], is_needed: bool) -> dict[str, str]:
    """The settings given, with the jars given; without any Spark fetches the connector of its own version by Maven.

    A Spark that has the connector already, as those of vendors do, is left alone.
    """
    settings = dict(conf)
    if jars:
        settings["spark.jars"] = ",".join(filter(None, (settings.get("spark.jars"), jars)))
    is_named = any(_NAME in settings.get(name, "") for name in _JARS)
    if is_needed and not is_named and not _is_installed():
        settings["spark.jars.packages"] = ",".join(filter(None, (settings.get("spark.jars.packages"), connector())))
    return settings


def connector() -> str:
    """The coordinates of the connector that the installed Spark needs."""
    return f"org.apache.spark:{_NAME}_{_scala()}:{pyspark.__version__}"


def unresolved(log: str) -> str | None:
    """What of the connector could not be fetched, as one line, if a log of Spark tells that."""
    found = _UNRESOLVED.search(log)
    if found is None:
        return None
    advice = "give the connector's jars with --jars, or another version with --conf spark.jars.packages=…"
    return f"the repository of jars has no {':'.join(found.groups())}; {advice}"


def _jars() -> Path:
    home = os.environ.get("SPARK_HOME")
    return (Path(home) if home else Path(pyspark.__file__).parent) / "jars"


def _is_installed() -> bool:
    return any(_jars().glob(f"{_NAME}_*.jar"))


def _scala() -> str:
    for jar in _jars().glob("scala-library-*.jar"):
        if found := re.search(r"-(\d+\.\d+)\.", jar.name):
            return found[1]
    return "2.13"
