"""Regular expressions of very many subscriptions in sets: none fails, and none disturbs another."""

import random

import pytest
import re2

import weft
from weft.engine.shared import constants
from weft.engine.shared.constants import Patterns
from weft.plans import regex
from weft.plans.regex import compile_pattern, instructions, translate

ORDINARY = [rf"^[A-Z]{{2}}-\d{{1,10}}-{number}$" for number in range(400)]
ADVERSARIAL = [
    r"\w{0,60}",
    r"(\w+\s){1,20}",
    r"\W{50}",
    r"(a|b)*a(a|b){15}",
    "(x{1,30}){1,30}",
    "[a-z]{0,1000}",
    r"\p{L}{0,60}é",
    "^$",
    "",
    ".*",
]
VALUES = ["AB-123-7", "AB-1-399", "ab" * 200, "x" * 500, "", "é" * 70, "AB-123-7 AB-1-8", "one two three ", "!" * 60]


def test_a_pattern_that_no_set_can_serve_is_refused_and_the_others_go_on() -> None:
    broker = weft.Broker()
    broker.subscribe("//b", id="b")

    with pytest.raises(weft.UnsupportedError) as caught:
        broker.subscribe(r"//b[matches(.,'\w{0,200}')]")

    assert (caught.value.line, caught.value.column) == (1, 15)
    assert "too large" in caught.value.reason
    assert broker.matches("<a><b>x</b></a>") == [["b"]]


def test_hundreds_of_ordinary_patterns_are_served_together_and_while_they_change() -> None:
    broker = weft.Broker()
    ids = [broker.subscribe(f"//b[matches(., '{pattern}')]", id=pattern) for pattern in ORDINARY]
    broker.subscribe("//b[contains(., '-7')]", id="contains")
    found = [broker.matches("<a><b>AB-123-7</b><b>AB-1-399</b></a>")[0]]
    for pattern in ids[5:10]:
        broker.unsubscribe(pattern)
    broker.subscribe("//b[matches(., '[7-9]$')]", id="late")
    found.append(broker.matches("<a><b>AB-123-7</b><b>AB-1-399</b></a>")[0])

    assert found == [[ORDINARY[7], ORDINARY[399], "contains"], [ORDINARY[399], "contains", "late"]]


def test_sets_find_what_each_pattern_finds_alone() -> None:
    patterns = [translate(pattern) for pattern in ADVERSARIAL + ORDINARY[:150]]
    random.Random(1).shuffle(patterns)
    alone = [compile_pattern(pattern) for pattern in patterns]

    index = Patterns(list(zip(patterns, range(len(patterns)), strict=True)))

    for value in VALUES:
        expected = {at for at, pattern in enumerate(alone) if pattern.search(value) is not None}
        assert {test for tests in index.probe(value) for test in tests} == expected


def test_patterns_that_fail_together_are_split_until_none_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "MOST_INSTRUCTIONS", 10**9)
    patterns = [translate(pattern) for pattern in ORDINARY]
    assert sum(map(instructions, patterns)) > 300_000  # RE2 refuses more than about 200,000 in a set

    index = Patterns(list(zip(patterns, range(len(patterns)), strict=True)))

    assert list(index.probe("AB-1-398")) == [[398]]


class Failing:
    """A set whose automaton has no memory left: it finds nothing, or raises."""

    def __init__(self, raises: bool) -> None:
        self._raises = raises

    def Match(self, _: str) -> None:  # noqa: N802 - as re2 names it
        if self._raises:
            raise re2.error("out of memory")


@pytest.mark.parametrize("raises", [False, True])
def test_a_set_that_fails_while_matching_is_searched_one_by_one(raises: bool) -> None:
    patterns = [translate(pattern) for pattern in ("^a", "b$", "c")]
    compiled = regex.PatternSet(patterns)
    compiled._set = Failing(raises)

    found = [compiled.matching(value) for value in ("ab", "c", "x")]

    assert found == [[0, 1], [2], []]


def test_sets_are_compiled_again_only_where_something_is_new() -> None:
    broker = weft.Broker()
    for pattern in ORDINARY[:250]:
        broker.subscribe(f"/a[matches(b, '{pattern}')]")
    broker.matches("<a><b>AB-1-7</b></a>")
    before = dict(constants._compiled)
    broker.subscribe("/a[matches(b, 'new')]", id="new")
    broker.matches("<a><b>new</b></a>")

    assert len(before) >= 2
    assert all(constants._compiled.get(patterns) is compiled for patterns, compiled in before.items())
