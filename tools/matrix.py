"""Versions of PySpark in, for each the core set of tests run in an environment of its own out: `make test-matrix`.

    python tools/matrix.py .cache/matrix [VERSION …]

Environments stay, so that the next run begins with the tests.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
_VERSIONS = ("3.5.8", "4.0.0", "4.1.1", "4.2.0", "4.3.0")
#: What the tests need beside PySpark, and what PySpark itself needs for Arrow.
_BESIDE = ("pyarrow>=18", "pandas<3", "numpy>=2", "lxml", "networkx", "pyahocorasick", "google-re2", "rich", "typer")
_TESTS = ("xxhash", "pytest", "hypothesis")
_CORE = "tests/spark/test_any_spark.py"


def environment(folder: Path, version: str) -> Path:
    """The Python that has a version of PySpark, and Weft as it is here."""
    python = folder / version / "bin" / "python"
    ready = folder / version / "ready"
    if not ready.exists():
        venv.create(folder / version, with_pip=True, clear=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, f"pyspark=={version}", *_BESIDE, *_TESTS], check=True)
        ready.touch()
    return python


def run(folder: Path, version: str) -> int:
    """Pytest's exit code."""
    python = environment(folder, version)
    paths = {
        "WEFT_MATRIX": version,
        "PYTHONPATH": str(_ROOT / "src"),
        "PYSPARK_PYTHON": str(python),
        "PYSPARK_DRIVER_PYTHON": str(python),
    }
    command = [str(python), "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", _CORE]
    clean = {name: value for name, value in os.environ.items() if name not in ("SPARK_HOME", "SPARK_SUBMIT_OPTS")}
    return subprocess.run(command, cwd=_ROOT, env={**clean, **paths}, check=False).returncode


def main() -> None:
    """All versions, one after the other; the exit code is that of the last that failed."""
    folder, versions = Path(sys.argv[1]), sys.argv[2:] or _VERSIONS
    failed = 0
    for version in versions:
        print(f"PySpark {version}", flush=True)
        failed = run(folder, version) or failed
    sys.exit(failed)


if __name__ == "__main__":
    main()
