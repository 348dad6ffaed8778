"""Documents in the order of their timestamps: who waits for whom, who is late, and who is too far ahead."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from weft.documents.build import read
from weft.documents.document import Document
from weft.documents.moment import SECOND
from weft.joins.match.witness import FirstStage
from weft.joins.time.arrivals import ANY_TIME, Arrival, Arrivals

NOW, DAY = 1_700_000_000, 86_400
NONE = FirstStage().read(read([]))  # what documents have in them does not matter here


class Clock:
    """A clock that is set by hand."""

    def __init__(self, seconds: int = NOW) -> None:
        self.seconds = seconds

    def __call__(self) -> int:
        return self.seconds * SECOND


def dated(*timestamps: int | None) -> list[Document]:
    return [Document("<a/>", str(timestamp), timestamp=timestamp) for timestamp in timestamps]


def names(arrivals: Iterable[Arrival]) -> list[str]:
    return [arrival.document.id for arrival in arrivals]


def come(arrivals: Arrivals, *timestamps: int | None) -> list[str]:
    """Those whose turn it is."""
    return names(arrivals.come(dated(*timestamps), NONE)[0])


def test_a_document_waits_until_no_earlier_one_can_come() -> None:
    arrivals = Arrivals(lateness=5 * SECOND)

    assert come(arrivals, 10, 8, 12) == []
    assert come(arrivals, 13) == ["8"]
    assert names(arrivals) == ["10", "12", "13"]
    assert come(arrivals, 17) == ["10", "12"]
    assert names(arrivals.advance()) == ["13", "17"]


def test_a_document_before_the_watermark_is_late_and_one_at_it_is_not() -> None:
    arrivals = Arrivals(lateness=5 * SECOND)
    come(arrivals, 10)

    assert come(arrivals, 4) == []
    assert arrivals.progress.late == 1
    assert come(arrivals, 5) == ["5"]
    assert arrivals.progress.late == 1


def test_documents_of_one_timestamp_come_as_they_came() -> None:
    arrivals = Arrivals()
    given = [replace(document, id=name) for document, name in zip(dated(7, 7, 7), "cab", strict=True)]

    ripe, _ = arrivals.come(given, NONE)

    assert names(ripe) == ["c", "a", "b"]
    assert [arrival.number for arrival in ripe] == [0, 1, 2]


def test_behind_the_end_of_the_stream_everything_is_late() -> None:
    arrivals = Arrivals()
    come(arrivals, 1)
    arrivals.advance()

    assert come(arrivals, 2, None, NOW) == []
    assert arrivals.progress.late == 3


def test_what_is_told_to_have_passed_makes_what_comes_before_it_late() -> None:
    arrivals = Arrivals(lateness=100 * SECOND)
    come(arrivals, 10, 30)

    assert names(arrivals.advance(20 * SECOND)) == ["10"]
    assert come(arrivals, 19, 20) == ["20"]
    assert arrivals.progress.late == 1


def test_a_document_without_a_timestamp_gets_the_clocks_and_is_later_than_all_before_it() -> None:
    clock = Clock()
    arrivals = Arrivals(clock=clock)
    first, _ = arrivals.come(dated(None, None), NONE)
    clock.seconds -= 60  # the clock is set back

    second, _ = arrivals.come(dated(None), NONE)

    moments = [arrival.timestamp for arrival in (*first, *second)]
    assert moments == [NOW * SECOND, NOW * SECOND + 1, NOW * SECOND + 2]


def test_a_document_more_than_a_day_ahead_of_the_clock_does_not_move_time() -> None:
    arrivals = Arrivals(clock=Clock())

    ripe, refused = arrivals.come(dated(NOW + DAY + 1, NOW + DAY, NOW), NONE)

    assert names(ripe) == [str(NOW + DAY)]
    assert [(error.document, error.reason) for error in refused] == [
        (str(NOW + DAY + 1), "dated 1 day, 0:00:01 ahead of the clock, by more than 1 day, 0:00:00: not joined")
    ]
    assert (arrivals.progress.ahead, arrivals.progress.late) == (1, 1)


def test_with_a_bound_of_its_own_a_document_may_be_ahead_by_what_has_passed_and_so_much_more() -> None:
    clock = Clock()
    arrivals = Arrivals(ahead=10 * SECOND, clock=clock)
    first = NOW - 1_000_000  # long ago: only the first is held against the clock
    come(arrivals, first)
    clock.seconds += 20

    ripe, refused = arrivals.come(dated(first + 31, first + 30), NONE)

    assert names(ripe) == [str(first + 30)]
    assert [error.document for error in refused] == [str(first + 31)]


def test_who_takes_any_time_refuses_nothing() -> None:
    arrivals = Arrivals(ahead=ANY_TIME, clock=Clock())

    assert come(arrivals, NOW + 50 * 365 * DAY) == [str(NOW + 50 * 365 * DAY)]


def test_arrivals_go_on_where_others_were() -> None:
    whole, first, second = (Arrivals(lateness=5 * SECOND, clock=Clock()) for _ in range(3))
    come(whole, 10, 8)
    come(first, 10, 8)

    second.restore(first.progress, list(first))

    assert come(second, 2, 14) == come(whole, 2, 14) == ["8"]
    assert second.progress == whole.progress


@given(st.lists(st.lists(st.integers(0, 30), max_size=4), max_size=8), st.integers(0, 40))
def test_in_whatever_batches_documents_come_all_that_are_not_late_come_out_once_and_in_order(
    batches: list[list[int]], lateness: int
) -> None:
    arrivals = Arrivals(lateness=lateness * SECOND)

    ripe = [arrival for batch in batches for arrival in arrivals.come(dated(*batch), NONE)[0]]
    ripe += arrivals.advance()

    order = [(arrival.timestamp, arrival.number) for arrival in ripe]
    assert order == sorted(order)
    assert len(ripe) + arrivals.progress.late == sum(map(len, batches))
    if lateness >= 30:
        assert arrivals.progress.late == 0
