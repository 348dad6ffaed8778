"""Queries and documents that were made to be dear together: what they cost is bounded, and what is too much is told."""

from __future__ import annotations

import random
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import weft
from weft.engine.evaluation.navigate import Navigation
from weft.engine.shared import effort
from weft.engine.shared.effort import TOO_DEAR, Effort
from weft.engine.shared.word_machine import WordMachine


@contextmanager
def within(seconds: float, megabytes: int) -> Iterator[None]:
    """What is done inside takes no more processor time, and no more memory at once."""
    tracemalloc.start()
    before = time.process_time()
    try:
        yield
        spent, (_, peak) = time.process_time() - before, tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert spent < seconds
    assert peak < megabytes << 20


def broker_of(*queries: str) -> weft.Broker:
    broker = weft.Broker()
    for query in queries:
        broker.subscribe(query, id=query)
    return broker


def nested(depth: int, inner: str) -> str:
    return "<a>" * depth + inner + "</a>" * depth


NESTED = [
    "//a[.//b]",
    "//a[.//b = 1 and .//b != 2 and .//b > 0]//b[. = 1]/text()",
    "//a[@x or .//b[c or . = '1']]//b[.//text() = '1']",
    "//a[count(.//b) = 20000]",
    "//a[contains(.//b, '1')]",
    "//a[.//a//b]",
    "//a[not(.//a//b) and .//b]//b",
]


@pytest.mark.timed
@pytest.mark.parametrize("query", NESTED)
def test_elements_nested_in_elements_cost_what_they_are_not_what_their_pairs_are(query: str) -> None:
    broker = broker_of(query)

    with within(seconds=8, megabytes=150):
        found = broker.matches(nested(900, "<b>1</b>" * 20_000))

    assert found == [[query]]
    assert broker.refused == ()


def random_tree(draw: random.Random, depth: int = 0) -> str:
    name = draw.choice("aab" if depth < 7 else "bc")
    inner = "".join(
        draw.choice("12 ") if draw.random() < 0.4 else random_tree(draw, depth + 1)
        for _ in range(draw.randint(0, 3 if depth < 9 else 0))
    )
    attribute = draw.choice(["", "", " x='1'", " y='2'"])
    return f"<{name}{attribute}>{inner}</{name}>"


PATHS = [".//b", ".//a//b", "a//b", ".//b/@x", ".//@x", ".//text()", ".//a/text()", ".//*", "b", "*//a/b"]
SWEPT = [f"//a[{path}]" for path in PATHS] + [f"//a[not({path})]//b[{path}]" for path in PATHS]
SWEPT += [f"//a[@x and {path}]" for path in PATHS] + [f"//a[{path} = '1']//*[@x]" for path in PATHS]
SWEPT += [f"//a[count({path}) > 1]" for path in PATHS] + [f"//a[contains({path}, '1')]" for path in PATHS]
SWEPT += [f"//a[count(.//b[{path}]) = 1]//a[. = '1']" for path in PATHS]
SWEPT += [f"//a[b]{path[1:]}" for path in PATHS if path.startswith(".")]


def test_sweeps_find_what_pairs_find(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(7)
    documents = [f"<r>{random_tree(draw)}{random_tree(draw)}</r>" for _ in range(60)]
    pairs = broker_of(*SWEPT).publish(documents)

    monkeypatch.setattr(Navigation, "_is_wide", lambda _, groups, deep, __: np.isin(np.arange(groups.size), deep))
    swept = broker_of(*SWEPT).publish(documents)

    assert len(pairs) > 1000
    assert [message.nodes for message in swept] == [message.nodes for message in pairs]
    assert [message.subscription for message in swept] == [message.subscription for message in pairs]


@pytest.mark.slow
def test_what_is_too_much_for_the_pairs_of_a_count_is_told_and_the_others_are_answered() -> None:
    broker = broker_of("//a[count(.//a//b) = 5]", "//a[count(.//b) = 3000]", "//b[. = '1']")

    found = broker.matches([nested(900, "<b>1</b>" * 3_000), nested(3, "<b>1</b>" * 5)])

    assert found == [["//a[count(.//b) = 3000]", "//b[. = '1']"], ["//a[count(.//a//b) = 5]", "//b[. = '1']"]]
    assert [one.subscription for one in broker.refused] == ["//a[count(.//a//b) = 5]"]
    assert "combinations at once" in broker.refused[0].reason
    assert not broker.suspended


@pytest.mark.timed
@pytest.mark.slow
def test_a_query_that_is_too_much_again_and_again_costs_the_others_nothing() -> None:
    broker = broker_of("//a[count(.//a//b) = 5]", *(f"/r/s{number}[t = '{number}']" for number in range(3_000)))
    document = nested(900, "<b>1</b>" * 3_000)
    broker.matches("<r/>")
    engine = broker._matcher.engine

    with within(seconds=20, megabytes=600):
        for _ in range(2):
            broker.matches(document)

    assert broker.refused_count == 2
    assert broker._matcher.engine is engine


@pytest.mark.timed
@pytest.mark.slow
def test_the_values_of_nested_elements_are_not_held_at_once() -> None:
    text = "x" * 100_000
    queries = ["//a[contains(., 'q')]", "//a[contains(., 'xy')]", "//b[. = '']", "//a[. = 'y']"]
    queries.append('<m>{for $a in //a where $a > "x" return <y/>}</m>')
    broker = broker_of(*queries)

    with within(seconds=12, megabytes=120):
        found = broker.matches(nested(900, text + "<b/>y"))

    assert found == [[queries[1], queries[2], queries[4]]]
    assert broker.refused == ()


@pytest.mark.timed
def test_values_that_are_too_much_to_read_are_refused_to_those_who_ask_for_them_alone() -> None:
    equal, numbers = "//a[. = 'y7' or . = 'y']", "//b[. = 7]"
    inside, without = "//a[contains(., 'q')]", "//a[not(contains(., 'q'))]//b"
    pattern, no_pattern = "//a[matches(., 'q')]", "//a[not(matches(., 'q'))]//b"
    broker = broker_of(inside, equal, numbers, "//a[. > 5]", without, pattern, no_pattern)

    with within(seconds=12, megabytes=500):
        found = broker.matches([nested(900, "x" * 2_000_000 + "<b>7</b>y"), "<a>y<b>7</b></a>"])

    assert found == [[numbers, without], [equal, numbers, without, no_pattern]]
    refused = [one.subscription for one in broker.refused]
    # `. > 5` is not among them: the first character of a value tells that it is no number. Nor is what lies inside of
    # values: the text is gone over once for all of them.
    assert sorted(refused) == sorted([pattern, no_pattern])
    assert "characters to read, more than" in broker.refused[0].reason


@pytest.mark.timed
def test_values_to_sort_by_are_not_held_where_they_are_too_much() -> None:
    query = "<m>{for $a in //a order by $a return <x/>}</m>"
    broker = broker_of(query, "//b")

    with within(seconds=12, megabytes=300):
        found = broker.publish(nested(900, "x" * 200_000 + "<b/>y"))

    assert [message.subscription for message in found] == ["//b"]
    assert "characters to sort by" in broker.refused[0].reason


@pytest.mark.timed
def test_words_within_words_cost_no_step_for_each_of_their_places() -> None:
    words = ["a" * length for length in range(1, 301)]
    query = "//a[" + " or ".join(f"contains(., '{word}')" for word in words) + "]"
    broker = broker_of(query, "//a[contains(., 'b') or contains(., 'aaac')]")

    with within(seconds=8, megabytes=100):
        found = broker.matches(["<a>" + "a" * 100_000 + "</a>", "<r>" + ("<a>" + "a" * 100 + "</a>") * 300 + "</r>"])

    assert found == [[query], [query]]


@given(st.lists(st.text("ab", min_size=1, max_size=6), min_size=1, unique=True), st.text("ab", max_size=3000))
def test_words_are_found_in_a_text_however_dense_they_are(words: list[str], text: str) -> None:
    text += "a" * 500

    found = WordMachine({word: word for word in words}).inside(text)

    assert sorted(found) == sorted(word for word in words if word in text)


@pytest.mark.timed
@pytest.mark.slow
def test_patterns_that_may_take_too_long_are_given_up_and_the_others_are_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(effort, "_IN_ALL", 1.0)
    draw = random.Random(1)
    text = "".join(draw.choice("ab") for _ in range(8_000))
    dear = "//a[" + " or ".join(f"matches(., 'a[ab]{{{900 - number}}}c')" for number in range(50)) + "]"
    broker = broker_of(dear, "//a[matches(., 'x$')]", "//a[matches(., '(a|b)*y')]", "//a[contains(., 'x')]")

    with within(seconds=12, megabytes=100):
        found = broker.matches([f"<a>{text}x</a>", f"<a>{'a' * 1000}c</a>"])

    assert found == [["//a[matches(., 'x$')]", "//a[contains(., 'x')]"], [dear]]
    assert [(one.subscription, one.reason) for one in broker.refused] == [(dear, TOO_DEAR)]


@pytest.mark.timed
def test_a_pattern_on_the_first_node_of_a_path_may_not_take_too_long_either() -> None:
    draw = random.Random(1)
    text = "".join(draw.choice("ab") for _ in range(200_000))
    dear = "//r[matches(a[b]/c, 'a[ab]{900}c')]"
    broker = broker_of(dear, "//c[matches(., '[ab]$')]")

    with within(seconds=12, megabytes=100):
        found = broker.matches(f"<r><a><b/><c>{text}</c></a></r>")

    assert found == [["//c[matches(., '[ab]$')]"]]
    assert [(one.subscription, one.reason) for one in broker.refused] == [(dear, TOO_DEAR)]


class Clock:
    """A clock that a search of a dear pattern moves."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


class Searched:
    """A search that takes as long as it can."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock, self._seconds = clock, seconds
        self.nanoseconds = int(seconds * 1e9)

    def matching(self, _: str) -> list[int]:
        self._clock.now += self._seconds
        return []


def test_a_cheap_search_is_made_also_where_others_have_taken_all_the_time() -> None:
    spent = Effort(clock := Clock())
    dear, cheap = Searched(clock, 0.9), Searched(clock, 0.0003)

    made = [spent.search(dear, "x") for _ in range(3)]  # type: ignore[arg-type]
    made += [spent.search(cheap, "x") for _ in range(3)]  # type: ignore[arg-type]

    assert made == [[], [], None, [], [], []]


RETURNED = [
    "<m>{for $a in //a return <x>{$a//b}</x>}</m>",
    "<m>{for $a in //a, $b in $a//b return <x/>}</m>",
    "<m>{for $a in //a order by $a/@n return <x>{$a//b}</x>}</m>",
]


@pytest.mark.timed
def test_nested_elements_that_are_returned_for_each_other_are_refused_without_a_new_engine() -> None:
    others = ["//b[. = '1']", "<m>{for $a in /a return <y>{$a/@n}</y>}</m>"]
    broker = broker_of(*RETURNED, *others)
    broker.matches("<r/>")
    engine = broker._matcher.engine

    with within(seconds=16, megabytes=600):
        found = broker.publish([nested(900, "<b>1</b>" * 10_000), "<a n='1'><b>1</b></a>"])

    assert sorted(one.subscription for one in broker.refused) == sorted(RETURNED)
    assert [message.subscription for message in found] == [*others, *RETURNED, *others]
    assert broker._matcher.engine is engine
