"""What C prints unasked while views are chosen does not stand among what a command prints."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CODE = """
import ctypes
from weft.cli.standard_output import kept_clean
with kept_clean():
    ctypes.CDLL(None).printf(b"unasked\\n")
print("last")
"""


@pytest.mark.slow
def test_a_line_that_c_prints_goes_to_stderr() -> None:
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", CODE], cwd=root, capture_output=True, text=True, check=True)

    assert (done.stdout, done.stderr) == ("last\n", "unasked\n")
