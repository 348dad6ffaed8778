"""The broker's joins and time: windows to the nanosecond, clocks that go backwards, documents from the future."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from math import inf
from pathlib import Path
from typing import Any

import pytest

from weft import Broker, ConfigurationError, Document
from weft.documents.moment import SECOND, Moment, Span

FOLLOWED = "S//a->x FOLLOWED BY{x = y, infinite} S//b->y"
HOUR, DAY = 3_600, 86_400
NOW = 1_700_000_000


class Clock:
    """A clock that is set by hand."""

    def __init__(self, seconds: int = NOW) -> None:
        self.seconds = seconds

    def __call__(self) -> int:
        return self.seconds * SECOND


def dated(name: str, at: Moment | None, value: object = 1) -> Document:
    return Document(f"<{name}>{value}</{name}>", f"{name}@{at}", "S", at)


def broker_of(query: str, **options: Any) -> Broker:
    broker = Broker(**options)
    broker.subscribe(query, id="q")
    return broker


def pairs_found(window: str, apart: Callable[[float], Moment], join: str = "FOLLOWED BY") -> int:
    """How many of a hundred pairs are found, each ten seconds behind the one before."""
    broker = broker_of(f"S//a->x {join}{{x = y, {window}}} S//b->y")
    firsts = [round(1.7e9 + 10.1 * at, 1) for at in range(100)]
    documents = [
        one for at, first in enumerate(firsts) for one in (dated("a", first, at), dated("b", apart(first), at))
    ]
    return len(broker.publish(documents))


# -- windows


@pytest.mark.parametrize("window", ["100 milliseconds", "0.1 seconds"])
@pytest.mark.parametrize("join", ["FOLLOWED BY", "JOIN"])
def test_what_is_exactly_a_window_apart_is_within_it_at_today_s_dates(window: str, join: str) -> None:
    # As floats of today's dates 40 of the first are further apart than 0.1.
    assert pairs_found(window, lambda first: round(first + 0.1, 1), join) == 100
    assert pairs_found(window, lambda first: round(first + 0.101, 3), join) == 0
    assert pairs_found(window, lambda first: round(first + 0.100001, 6), join) == 0
    assert pairs_found(window, lambda first: round(first + 0.099999, 6), join) == 100


def test_a_nanosecond_more_than_a_window_is_outside_it() -> None:
    assert pairs_found("2 seconds", lambda first: Decimal(str(first)) + 2) == 100
    assert pairs_found("2 seconds", lambda first: Decimal(str(first)) + 2 + Decimal("1e-9")) == 0


def test_an_absence_is_over_one_nanosecond_behind_its_window() -> None:
    broker = broker_of("S//a->x NOT FOLLOWED BY{x = y, 0.1 seconds} S//b->y")
    broker.publish(dated("a", 1.7e9))

    assert broker.advance(Decimal("1700000000.1")) == []
    assert len(broker.advance(Decimal("1700000000.100000001"))) == 1


def test_moments_are_seconds_or_datetimes_everywhere() -> None:
    start = datetime(2026, 1, 2, 3, 4, 5, 100_000, tzinfo=UTC)
    broker = broker_of("S//a->x NOT FOLLOWED BY{x = y, 100 milliseconds} S//b->y", lateness=timedelta(seconds=2))

    broker.publish(
        [dated("a", start), dated("a", start.timestamp() + 1, 2), dated("b", start + timedelta(seconds=1.1), 2)]
    )

    assert broker.advance(start + timedelta(milliseconds=100)) == []
    assert [message.text for message in broker.advance(start.replace(tzinfo=None) + timedelta(seconds=5))] == [
        "<a>1</a>"
    ]
    assert broker.advance(inf) == broker.advance() == []


@pytest.mark.parametrize("moment", [float("nan"), -inf, "soon", datetime(9999, 1, 1), datetime(1, 1, 1), 1e12, True])
def test_what_is_no_time_of_this_age_is_refused_and_changes_nothing(moment: Moment) -> None:
    broker = broker_of(FOLLOWED)
    broker.publish(dated("a", NOW))

    with pytest.raises(ConfigurationError, match="timestamp: expected"):
        broker.advance(moment)
    with pytest.raises(ConfigurationError, match="timestamp: expected"):
        dated("b", moment)

    assert len(broker.publish(dated("b", NOW + 1))) == 1


def test_the_longest_window_closes_at_the_end_of_the_stream() -> None:
    broker = broker_of("S//a->x NOT FOLLOWED BY{x = y, 7000 weeks} S//b->y", ahead=inf)
    broker.publish(dated("a", 4.6e9))

    assert len(broker.advance()) == 1


# -- clocks


def test_a_clock_that_goes_backwards_does_not_matter() -> None:
    times = iter([NOW, NOW - 500, NOW - 1_000, NOW - 1_000, 0, 0])
    broker = broker_of(FOLLOWED, clock=lambda: next(times) * SECOND)

    made = [broker.publish(f"<{name}>1</{name}>") for name in "abab"]

    assert [len(messages) for messages in made] == [0, 1, 0, 2]
    assert broker.late == broker.ahead == 0


def test_a_clock_that_goes_backwards_does_not_bound_dated_documents_more() -> None:
    clock = Clock()
    broker = broker_of(FOLLOWED, clock=clock, ahead=10)
    broker.publish(dated("a", NOW))

    clock.seconds = NOW - DAY

    assert len(broker.publish(dated("b", NOW + 10))) == 1


# -- documents from the future


def test_a_document_dated_in_the_future_does_not_make_the_others_late() -> None:
    clock = Clock()
    broker = broker_of(FOLLOWED, clock=clock)
    broker.subscribe("/z", id="path")
    broker.publish(dated("a", NOW))

    seen = broker.publish(dated("z", NOW + DAY + 1))

    assert [message.subscription for message in seen] == ["path"], "other languages see it all the same"
    assert len(broker.publish(dated("b", NOW + 1))) == 1
    assert (broker.late, broker.ahead) == (0, 1)
    assert [(error.document, error.reason) for error in broker.rejected] == [
        (f"z@{NOW + DAY + 1}", "dated 1 day, 0:00:01 ahead of the clock, by more than 1 day, 0:00:00: not joined")
    ]


def test_a_day_ahead_of_the_clock_is_not_too_far() -> None:
    broker = broker_of(FOLLOWED, clock=Clock())

    broker.publish([dated("a", NOW), dated("a", NOW + DAY)])

    assert len(broker.publish(dated("b", NOW + DAY))) == 1
    assert broker.ahead == 0


def test_without_a_bound_of_its_own_the_past_may_be_played_at_any_speed() -> None:
    broker = broker_of(FOLLOWED, clock=Clock())

    messages = broker.publish([dated("a", 0), dated("b", 10 * 365 * DAY), dated("b", 50 * 365 * DAY)])

    assert (len(messages), broker.ahead) == (2, 0)


@pytest.mark.parametrize("ahead", [60, timedelta(minutes=1)])
def test_documents_may_run_ahead_of_the_time_that_has_passed_by_so_much(ahead: Span) -> None:
    clock = Clock()
    broker = broker_of(FOLLOWED, clock=clock, ahead=ahead)

    broker.publish([dated("a", 1_000), dated("z", 1_061), dated("z", 1_060)])
    clock.seconds += 100
    broker.publish([dated("z", 1_221), dated("z", 1_220)])

    assert (broker.ahead, broker.late) == (2, 0)
    assert [error.reason for error in broker.rejected] == [
        "dated 0:01:01 ahead of what has passed since the latest document, by more than 0:01:00: not joined"
    ] * 2


def test_the_first_document_is_held_against_the_clock() -> None:
    broker = broker_of(FOLLOWED, clock=Clock(), ahead=60)

    broker.publish([dated("z", NOW + 61), dated("a", NOW + 60)])

    assert (broker.ahead, len(broker.publish(dated("b", NOW + 61)))) == (1, 1)


def test_a_document_without_a_timestamp_is_never_ahead() -> None:
    clock = Clock()
    broker = broker_of(FOLLOWED, clock=clock, ahead=0)
    broker.publish(dated("a", NOW))

    clock.seconds += 10 * DAY
    broker.publish([Document("<a>1</a>"), Document("<z/>"), Document("<b>1</b>")])

    assert broker.ahead == 0


def test_messages_that_are_documents_are_never_ahead() -> None:
    broker = broker_of("S//a->x NOT FOLLOWED BY{x = y, 3 weeks} S//b->y PUBLISH T", clock=Clock(), ahead=0)
    broker.subscribe("T//a", id="published", language="xscl")
    broker.publish(dated("a", NOW))

    messages = broker.advance()

    assert [message.subscription for message in messages] == ["q", "published"]
    assert broker.ahead == 0


def test_time_that_was_told_to_have_passed_has_passed() -> None:
    broker = broker_of(FOLLOWED, clock=Clock(), ahead=60)
    broker.publish(dated("a", NOW))
    broker.advance(NOW + HOUR)

    broker.publish([dated("a", NOW + HOUR + 60), dated("a", NOW + HOUR + 121)])

    assert (broker.ahead, broker.late) == (1, 0)


def test_with_an_infinite_bound_nothing_is_ahead() -> None:
    broker = broker_of(FOLLOWED, clock=Clock(), ahead=inf)

    messages = broker.publish([dated("a", 0), dated("b", 4.6e9)])

    assert (len(messages), broker.ahead) == (1, 0)


@pytest.mark.parametrize("ahead", [-1, float("nan"), "a day"])
def test_ahead_is_a_length_of_time(ahead: Span) -> None:
    with pytest.raises(ConfigurationError, match="ahead: expected a number of seconds"):
        Broker(ahead=ahead)


@pytest.mark.parametrize(("passed", "ahead"), [(0, 1), (1, 0)])
def test_after_a_restart_as_much_time_has_passed_as_the_clock_says(tmp_path: Path, passed: int, ahead: int) -> None:
    clock = Clock()
    broker = broker_of(FOLLOWED, clock=clock, ahead=60)
    broker.publish([dated("a", 1_000), dated("z", 2_000)])
    broker.checkpoint(tmp_path / "state")

    clock.seconds += passed
    again = broker_of(FOLLOWED, clock=clock, ahead=60)
    again.restore(tmp_path / "state")
    again.publish(dated("b", 1_061))

    assert again.ahead == 1 + ahead
