"""Where nobody asks for more than paths no nodes are read, and the answers are those of lxml all the same."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from profiles import examples
from weft import Broker

NAMES = ("a", "b", "c")


@st.composite
def elements(draw: st.DrawFn, depth: int = 4) -> str:
    name = draw(st.sampled_from(NAMES))
    attributes = "".join(f' {each}="1"' for each in draw(st.sets(st.sampled_from(NAMES), max_size=2)))
    inside = draw(st.lists(st.one_of(elements(depth - 1), st.just("t")), max_size=3)) if depth else []
    return f"<{name}{attributes}>{''.join(inside)}</{name}>"


STEPS = st.tuples(st.sampled_from(("/", "//")), st.sampled_from((*NAMES, "*"))).map("".join)
ENDS = st.sampled_from(("", "", "", "/@a", "//@b", "/@*", "/text()", "//text()"))
PATHS = st.tuples(st.lists(STEPS, min_size=1, max_size=4).map("".join), ENDS).map("".join)


@given(queries=st.lists(PATHS, min_size=1, max_size=8), batches=st.lists(st.lists(elements(), max_size=4), max_size=4))
@examples(300)
def test_paths_alone_find_what_lxml_finds(queries: list[str], batches: list[list[str]]) -> None:
    broker = Broker()
    for number, query in enumerate(queries):
        broker.subscribe(query, id=str(number))
    broker.matches("<first/>")  # what is compiled is made with the first document

    for batch in batches:
        read = [str(number) for number in range(len(queries))]
        expected = [[id for id in read if etree.fromstring(text).xpath(queries[int(id)])] for text in batch]
        assert broker.matches(batch) == expected


@given(queries=st.lists(PATHS, min_size=1, max_size=6), documents=st.lists(elements(), min_size=1, max_size=6))
@examples(100)
def test_subscriptions_that_share_come_and_go(queries: list[str], documents: list[str]) -> None:
    broker, kept = Broker(), list[str]()
    for round_, text in enumerate(documents):
        for number, query in enumerate(queries):
            broker.subscribe(query, id=f"{round_}.{number}")
            kept.append(f"{round_}.{number}")
        if round_ % 2:
            broker.unsubscribe(kept.pop(len(kept) // 2))

        found = [id for id in kept if etree.fromstring(text).xpath(queries[int(id.partition(".")[2])])]
        assert broker.matches([text, text]) == [found, found]


def test_no_nodes_are_read_where_label_paths_are_enough() -> None:
    broker = Broker()
    broker.subscribe("/a/b", id="path")
    broker.matches("<a/>")
    engine = broker._matcher.engine

    assert engine.asks_only_paths
    broker.subscribe("/a[b = 1]", id="value")
    broker.matches("<a/>")
    assert not engine.asks_only_paths
