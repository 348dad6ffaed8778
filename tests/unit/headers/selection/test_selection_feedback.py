"""Feedback fades and is bounded; a new selection comes only where it is better by enough."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.headers.selection import (
    CandidateView,
    Conjunct,
    Feedback,
    Problem,
    SelectedViews,
    ServerLoad,
    Service,
    choose_again,
    learn,
)
from weft.headers.selection.feedback import FadingCounts

EXPRESSIONS = ("/a", "/b")
HOUR = 3_600.0


def problem() -> Problem:
    """Two servers, each with a query on an expression of its own, and room for one view."""
    servers = (
        ServerLoad(((Conjunct(0, None, "= 'x'"),),), name="north"),
        ServerLoad(((Conjunct(1, None, "= 'y'"),),), name="south"),
    )
    views = tuple(CandidateView(expression, 3.0) for expression in EXPRESSIONS)
    return Problem(servers, views, (Service(0, (0,), 0.01), Service(1, (1,), 0.01)), parse_cost=1.0)


def reported(north: float, south: float, now: float = 0.0) -> Feedback:
    feedback = Feedback(half_life=HOUR)
    feedback.arrived("north", now, north)
    feedback.arrived("south", now, south)
    return feedback


def test_the_view_that_more_documents_need_takes_over_as_the_next_version() -> None:
    chosen = choose_again(SelectedViews(7, (0,)), problem(), EXPRESSIONS, reported(100, 900), 0.0, size=1)

    assert chosen == SelectedViews(8, (1,))


@pytest.mark.parametrize(
    ("feedback", "why"),
    [
        (reported(900, 100), "it is the best already"),
        (reported(500, 520), "the other is hardly better"),
        (reported(5, 45), "there were few documents"),
        (Feedback(), "there were none"),
    ],
)
def test_a_selection_stays(feedback: Feedback, why: str) -> None:
    assert choose_again(SelectedViews(7, (0,)), problem(), EXPRESSIONS, feedback, 0.0, size=1) is None, why


def test_two_selections_that_are_about_as_good_do_not_take_turns() -> None:
    current, versions = SelectedViews(1, (0,)), []
    for turn in range(20):
        feedback = reported(500 + 20 * (-1) ** turn, 500 - 20 * (-1) ** turn)
        chosen = choose_again(current, problem(), EXPRESSIONS, feedback, 0.0, size=1)
        current = chosen or current
        versions.append(current.version)

    assert versions == [1] * 20


def test_what_was_long_ago_matters_less() -> None:
    feedback = reported(1_000, 0)
    feedback.arrived("south", 10 * HOUR, 300)

    assert feedback.documents("north", 10 * HOUR) == pytest.approx(1_000 / 2**10)
    assert choose_again(SelectedViews(1, (0,)), problem(), EXPRESSIONS, feedback, 10 * HOUR, size=1) == SelectedViews(
        2, (1,)
    )


def test_a_view_that_misses_makes_way_for_one_that_hits() -> None:
    feedback = reported(600, 500)
    feedback.asked("/a", "hit", 0.0, 300)
    feedback.asked("/a", "miss", 0.0, 300)
    feedback.asked("/b", "unserved", 0.0, 500)

    assert feedback.hit_rate("/a", 0.0) == pytest.approx(0.5, abs=0.01)
    assert feedback.hit_rate("/b", 0.0) is None
    assert feedback.times_asked("/b", 0.0) == 500
    assert choose_again(SelectedViews(1, (0,)), problem(), EXPRESSIONS, feedback, 0.0, size=1) == SelectedViews(2, (1,))


def test_hit_rates_are_learned_for_the_services_that_were_used() -> None:
    feedback = reported(10, 10)
    for expression in EXPRESSIONS:
        feedback.asked(expression, "miss", 0.0, 100)

    learned = learn(problem(), EXPRESSIONS, feedback, 0.0, views=(0,))

    assert learned.services[0].hit < 0.1
    assert learned.services[1].hit == 1.0


def test_selectivities_are_learned_where_enough_was_seen() -> None:
    feedback = reported(10, 10)
    for passed, times in ((True, 10), (False, 90)):
        feedback.tested("/a", "= 'x'", passed, 0.0, times)
    feedback.tested("/b", "= 'y'", True, 0.0)

    learned = learn(problem(), EXPRESSIONS, feedback, 0.0)

    assert learned.servers[0].queries[0][0].selectivity == pytest.approx(0.1, abs=0.01)
    assert learned.servers[1].queries[0][0].selectivity is None
    assert [server.weight for server in learned.servers] == [10, 10]


def test_a_server_of_which_nothing_was_heard_has_no_weight() -> None:
    feedback = Feedback()
    feedback.arrived("north", 0.0, 10)

    assert feedback.documents("south", 0.0) is None
    assert [server.weight for server in learn(problem(), EXPRESSIONS, feedback, 0.0).servers] == [10, 0]


Report = tuple[str, float, float]
reports = st.lists(st.tuples(st.sampled_from("abcdef"), st.floats(0, 10 * HOUR), st.floats(0.1, 100)), max_size=30)


@given(reports)
def test_reports_may_come_in_any_order_and_from_several(late: list[Report]) -> None:
    together, first, second = Feedback(HOUR), Feedback(HOUR), Feedback(HOUR)
    for server, now, documents in sorted(late, key=lambda report: report[1]):
        together.arrived(server, now, documents)
    for at, (server, now, documents) in enumerate(late):
        (first if at % 2 else second).arrived(server, now, documents)

    second.merge(first)

    for server in "abcdef":
        one, other = together.documents(server, 11 * HOUR), second.documents(server, 11 * HOUR)
        assert one == (None if other is None else pytest.approx(other))


@given(st.lists(st.tuples(st.integers(0, 60), st.floats(0, 5 * HOUR)), max_size=200))
def test_counts_are_bounded_and_the_smallest_go_first(counted: list[tuple[int, float]]) -> None:
    counts = FadingCounts(HOUR, most=8)
    for number, now in counted:
        counts.add((str(number),), 1.0, now)
        assert len(counts) <= 10


def test_what_is_counted_most_is_kept() -> None:
    counts = FadingCounts(HOUR, most=4)
    for turn in range(100):
        counts.add(("often",), 1.0, float(turn))
        counts.add((f"once {turn}",), 1.0, float(turn))

    assert len(counts) <= 5
    assert counts.get(("often",), 100.0) == pytest.approx(98, abs=2)
    assert counts.get(("once 1",), 100.0) is None
