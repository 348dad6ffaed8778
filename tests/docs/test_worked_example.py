"""The worked example in ARCHITECTURE.md has the tables that the core makes."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_the_worked_example_is_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, "tools/worked_example.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
