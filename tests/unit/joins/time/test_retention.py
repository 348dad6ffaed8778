"""What windows reach is kept up as queries come and go, and is what looking at all of them would tell."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from weft.documents.build import read
from weft.documents.document import Document, is_in_stream
from weft.joins.joins import Joins
from weft.joins.match.state import State
from weft.languages.xscl import parse

STREAMS = ("S", "T", "")
WINDOWS = ("1 second", "5 seconds", "20 seconds", "1 documents", "3 documents")
QUERIES = [
    *(
        f"{first}/a[@k->k] FOLLOWED BY{{k = l, {window}}} {second}/b[@k->l]"
        for first in ("S", "T")
        for second in ("S", "T")
        for window in WINDOWS
    ),
    "S/a[@k->k] FOLLOWED BY{k = l, 5 seconds} T/b[@k->l] FOLLOWED BY{l = m, 2 documents} S/a[@k->m]",
    "S/a[@k->k] FOLLOWED BY{k = l, 1 second} T/b[@k->l] FOLLOWED BY{l = m, 20 seconds} S/a[@k->m]",
]
ACTIONS = st.lists(st.tuples(st.booleans(), st.integers(0, len(QUERIES) - 1)), max_size=12)


def reached_until(joins: Joins, document: Document, timestamp: int, state: State) -> float:
    """The latest moment that any window of any query leads to from a document; each window looked at anew."""
    latest = float("-inf")
    for shape in joins.queries.shared:
        for stream, way in shape.ways():
            end: float = timestamp
            for window, counted in way if is_in_stream(document, stream) else ():
                if window.nanoseconds is not None:
                    end += window.nanoseconds
                else:
                    assert window.documents is not None
                    last = state.history.later(counted, int(end), window.documents)
                    end = float("inf") if last is None else last[1]
                    if last is None:
                        break
            if is_in_stream(document, stream):
                latest = max(latest, end)
    return latest


@given(
    actions=ACTIONS,
    streams=st.lists(st.sampled_from(STREAMS), min_size=1, max_size=12),
    seconds=st.integers(0, 40),
)
def test_what_is_out_of_reach_is_what_no_window_of_any_query_leads_to(
    actions: list[tuple[bool, int]], streams: list[str], seconds: int
) -> None:
    joins = Joins()
    added: list[int] = []
    for number, (goes, query) in enumerate(actions):
        if goes and added:
            joins.remove(added.pop(query % len(added)))
        else:
            joins.add(number, parse(QUERIES[query]))
            added.append(number)
    documents = [Document(f"<a k='{at}'/>", str(at), stream, float(2 * at)) for at, stream in enumerate(streams)]
    joins.process(read(documents))
    watermark = seconds * 1_000_000_000

    is_over = joins.queries.reach.make_is_over(joins.state, watermark)

    for one in joins.state:
        until = reached_until(joins, one.document, one.timestamp, joins.state)
        assert is_over(one) == (until < watermark)
