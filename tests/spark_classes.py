"""Spark's classes in an archive, from which Java loads them far faster: `make test` has it made once.

Java takes nothing from an archive that another Java made, or for other libraries: then it starts as without one.
"""

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

_ROOT = Path(__file__).resolve().parents[1]
_EXAMPLES = _ROOT / "examples"
ARCHIVE = _ROOT / ".cache" / "spark.jsa"
#: Most of what Spark does in a test is to start: let Java compile less.
_QUICKLY = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def java_options() -> str:
    """What Java is told in tests, and in the processes that tests start."""
    return f"{_QUICKLY} -XX:SharedArchiveFile={ARCHIVE} -Xlog:disable" if ARCHIVE.exists() else _QUICKLY


def make_archive(archive: Path) -> None:
    """Run a stream with joins, and keep the classes that Java has loaded at its end."""
    from pyspark import SparkContext  # noqa: PLC0415 tests that need no Spark import this module too

    from weft.cli import app  # noqa: PLC0415
    from weft.spark.session import session  # noqa: PLC0415

    archive.parent.mkdir(parents=True, exist_ok=True)
    part = archive.with_name(f"{archive.name}.part")
    os.environ["SPARK_SUBMIT_OPTS"] = f"{_QUICKLY} -XX:ArchiveClassesAtExit={part} -Xlog:disable"
    with TemporaryDirectory() as folder, session("local[2]"):
        files = ["--subscriptions", str(_EXAMPLES / "demo.jsonl"), "--documents", str(_EXAMPLES / "payments")]
        app(["run", "--stream", "--available-now", *files, "--output", f"{folder}/out"], standalone_mode=False)
    java = SparkContext._gateway.proc  # type: ignore[union-attr]
    java.stdin.close()  # its sign to end
    java.wait()
    if part.exists():  # not every Java can do this
        part.replace(archive)  # as a whole: Java does not survive half of one


if __name__ == "__main__":
    make_archive(Path(sys.argv[1]))
