"""The unit tests stand where what they test stands: a folder for each room, and no name twice."""

from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE, UNIT = ROOT / "src" / "weft", ROOT / "tests" / "unit"
#: `tests/spark` are the tests of that room.
ROOMS = sorted(
    str(init.parent.relative_to(SOURCE))
    for init in SOURCE.rglob("__init__.py")
    if init.parent not in (SOURCE, SOURCE / "spark")
)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_has_tests_of_its_own(room: str) -> None:
    assert list((UNIT / room).rglob("test_*.py"))


def test_a_folder_of_tests_is_that_of_a_room_or_of_the_experiments() -> None:
    folders = {str(test.parent.relative_to(UNIT)) for test in UNIT.rglob("test_*.py")}

    assert folders <= {*ROOMS, "bench", "."}


def test_no_two_files_of_tests_have_the_same_name() -> None:
    """Tests are no package, so that they import what they share by its name; two of one name would be one module."""
    names = Counter(file.name for file in (ROOT / "tests").rglob("*.py") if file.parent.name != "fuzz")

    assert [name for name, number in names.items() if number > 1] == []
