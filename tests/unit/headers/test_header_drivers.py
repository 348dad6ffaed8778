"""Drivers: the conditions that the values of a document's entries bring up, found for all constants at once."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from weft.headers.conditions import LookUp
from weft.headers.drivers import Drivers
from weft.headers.header import ABSENT, HIDDEN, SEVERAL
from weft.plans.comparisons import holds
from weft.plans.instants import instant
from weft.plans.plan import Value

TEXTS = (
    "",
    "1",
    "2",
    "1.0",
    " 1 ",
    "x",
    "xy",
    "yx",
    "xyxy",
    "NaN",
    "INF",
    "-1",
    "+1",
    "1e0",
    "é",
    "2026-01-01",
    " 2026-01-02Z",
    "10:00:00",
)
INSTANTS = [one for text in ("2026-01-01", "2026-01-02", "10:00:00", "2026-01-01T10:00:00") if (one := instant(text))]
NUMBERS = (0.0, 1.0, 2.0, -1.0, 1.5, math.nan, math.inf, -math.inf)
tests = st.one_of(
    st.builds(Value, st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), st.sampled_from(NUMBERS), st.booleans()),
    st.builds(Value, st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), st.sampled_from(TEXTS)),
    st.builds(Value, st.sampled_from(["contains", "starts-with", "ends-with"]), st.sampled_from(TEXTS)),
    st.builds(Value, st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), st.sampled_from(INSTANTS)),
    st.builds(Value, st.just("matches"), st.sampled_from(["x", "^x", "y$", "[0-9]", "^$", "."])),
)


@given(
    st.lists(st.tuples(st.integers(0, 2), tests), max_size=25),
    st.tuples(*[st.sampled_from((*TEXTS, ABSENT, SEVERAL, HIDDEN))] * 3),
    st.sets(st.integers(0, 24)),
)
def test_what_values_bring_up_is_what_their_tests_say(
    conditions: list[tuple[int, Value]], values: tuple[str | int, ...], removed: set[int]
) -> None:
    drivers = Drivers()
    for condition, (entry, test) in enumerate(conditions):
        drivers.add(condition, LookUp(entry, test))
    drivers.candidates([values[entry] for entry in drivers.entries], 100)  # so that indexes are there, and must change
    for condition in removed:
        drivers.remove(condition)
    left = {at: each for at, each in enumerate(conditions) if at not in removed}

    found = drivers.candidates([values[entry] for entry in drivers.entries], 100)

    known = {at: values[entry] for at, (entry, _) in left.items()}
    assert found is not None
    assert sorted(found[0]) == [
        at for at, value in known.items() if isinstance(value, str) and holds(left[at][1], value)
    ]
    assert sorted(found[1]) == [at for at, value in known.items() if value in (SEVERAL, HIDDEN)]
    assert set(drivers.entries) == {entry for entry, _ in left.values()}


def test_a_value_brings_up_a_condition_once_however_often_its_constant_is_in_it() -> None:
    drivers = Drivers()
    drivers.add(7, LookUp(0, Value("contains", "ab")))

    assert drivers.candidates(["abababab"], 10) == ([7], [])


def test_where_more_are_unknown_than_are_asked_one_by_one_the_document_must_be_parsed() -> None:
    drivers = Drivers()
    for condition in range(5):
        drivers.add(condition, LookUp(0, Value("=", str(condition))))

    assert drivers.candidates([SEVERAL], 5) == ([], [0, 1, 2, 3, 4])
    assert drivers.candidates([SEVERAL], 4) is None
    assert drivers.candidates([ABSENT], 4) == ([], [])


def test_entries_that_drive_nothing_any_more_are_not_read() -> None:
    drivers = Drivers()
    drivers.add(1, LookUp(4, Value("=", "x")))
    drivers.add(2, LookUp(2, Value(">", 1.0)))

    drivers.remove(1)
    drivers.remove(1)

    assert drivers.entries == (2,)
    assert drivers.candidates(["5"], 10) == ([2], [])
