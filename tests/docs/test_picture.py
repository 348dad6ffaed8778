"""The picture of the rooms in ARCHITECTURE.md is what the imports and a running broker say."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_the_picture_of_the_rooms_is_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, "tools/rooms.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
