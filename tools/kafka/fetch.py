"""A folder in, the jars of a Kafka broker and of Spark's connector in it out, by Maven; or one line that says why not.

FOLDER/broker      what a broker runs from
FOLDER/connector   what `weft run --jars` and `spark.jars` take
FOLDER/versions    which there are; or, if they cannot be had, FOLDER/missing says why
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

_POM = Path(__file__).with_name("pom.xml")
#: Not every repository has the connector of every Spark at once: older ones are tried when that of this one is missing.
_OLDER = ("4.3.0", "4.2.1", "4.2.0", "4.1.1", "4.1.0", "4.0.1", "4.0.0")
_PATIENCE = 300  # seconds
_FIRST_ERROR = re.compile(r"\[ERROR\]\s+(.*)")


def fetch(folder: Path) -> str:
    """What there is now, in one line; raises RuntimeError if it cannot be had."""
    found = folder / "versions"
    spark = version("pyspark")
    if found.exists() and found.read_text().startswith(f"Spark {spark}:"):
        return found.read_text().strip()
    if shutil.which("mvn") is None:
        raise RuntimeError("there is no mvn")
    for part in ("broker", "connector"):
        shutil.rmtree(folder / part, ignore_errors=True)
    _maven("dependency:copy-dependencies", "-P", "broker", f"-DoutputDirectory={(folder / 'broker').absolute()}")
    connector = _newest("spark-sql-kafka-0-10_2.13", spark)
    tokens = _newest("spark-token-provider-kafka-0-10_2.13", connector)
    chosen = (f"-Dconnector={connector}", f"-Dtokens={tokens}")
    place = f"-DoutputDirectory={(folder / 'connector').absolute()}"
    _maven("dependency:copy-dependencies", "-P", "connector", *chosen, place)
    told = f"Spark {spark}: connector {connector}"
    told += "" if connector == spark else f" (Maven has none of {spark})"
    told += "" if tokens == connector else f", token provider {tokens} (Maven has none of {connector})"
    found.write_text(told + "\n")
    (folder / "missing").unlink(missing_ok=True)
    return told


def _newest(artifact: str, most: str) -> str:
    """The newest version of an artifact that Maven has, up to one."""
    for each in dict.fromkeys((most, *(older for older in _OLDER if _number(older) < _number(most)))):
        try:
            _maven("dependency:get", "-Dtransitive=false", f"-Dartifact=org.apache.spark:{artifact}:{each}")
        except RuntimeError as error:
            failed = str(error)
        else:
            return each
    raise RuntimeError(failed)


def _number(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text))


def _maven(*arguments: str) -> None:
    command = ["mvn", "--batch-mode", "--quiet", "--no-transfer-progress", "--file", str(_POM), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"Maven did not answer within {_PATIENCE} seconds") from None
    if done.returncode:
        told = _FIRST_ERROR.search(done.stdout + done.stderr)
        raise RuntimeError("Maven: " + (told[1] if told else f"ended with {done.returncode}")[:300])


def main() -> None:
    """`python tools/kafka/fetch.py FOLDER`: never fails, so that tests without Kafka run all the same."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    try:
        print(f"Kafka: {fetch(folder)}")
    except RuntimeError as error:
        (folder / "missing").write_text(f"{error}\n")
        print(f"Kafka: its tests are skipped: {error}")


if __name__ == "__main__":
    main()
