"""Where no compiler is, one line says so; where Python's headers are missing too."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
# The stages that are in C alone: those in Cython take a minute to be translated, and are built by the same class.
CHILD = """
import runpy, sys
import Cython.Build, setuptools
real, given = setuptools.setup, {}
setuptools.setup, Cython.Build.cythonize = lambda **found: given.update(found), lambda *_, **__: []
runpy.run_path("setup.py")
real(**given, script_args=["-q", "build_ext", "--build-lib", sys.argv[1], "--build-temp", sys.argv[1]])
"""


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["no-such-compiler", "false"])
def test_one_line_says_that_no_compiler_is_there(compiler: str, tmp_path: Path) -> None:
    environment = {**os.environ, "CC": compiler, "LDSHARED": compiler}

    ran = subprocess.run(
        [sys.executable, "-c", CHILD, str(tmp_path)],
        cwd=ROOT,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
    )

    assert ran.returncode == 1
    told = [line for line in ran.stderr.splitlines() if line]
    assert len(told) == 1
    assert told[-1].startswith("weft: weft.kernel.")
    assert told[-1].endswith("install a C compiler and Python's headers, for example gcc and python3-dev")
    assert "Traceback" not in ran.stderr
    assert not list(tmp_path.rglob("*.so"))


@pytest.mark.slow
def test_with_a_compiler_the_stages_are_built(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", CHILD, str(tmp_path)], cwd=ROOT, check=True, capture_output=True)

    assert {path.name.partition(".")[0] for path in tmp_path.rglob("*.so")} >= {"headers", "offsets", "regions", "walk"}
