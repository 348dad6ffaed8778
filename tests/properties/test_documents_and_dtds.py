"""With a DTD every document gets the same answers as without: one that does not keep to it is matched without it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import weft
from profiles import examples
from weft.broker.answers import deliver, match
from weft.documents.build import read
from weft.documents.document import as_documents
from weft.engine import Engine
from weft.languages.xpath import parse

NAMES = ["a", "b", "c", "d"]
OTHERS = [*NAMES, "e", "p:a", "p:x"]  # what a DTD does not declare, or what is in a namespace
BOOK = "<!ELEMENT book (title, section*)><!ELEMENT section (title, p*)><!ELEMENT title (#PCDATA)><!ELEMENT p (#PCDATA)>"


@st.composite
def dtds(draw: st.DrawFn) -> weft.Dtd:
    lines = []
    for name in NAMES:
        children = draw(st.lists(st.sampled_from(NAMES), max_size=3, unique=True))
        lines.append(f"<!ELEMENT {name} (#PCDATA{''.join(f'|{child}' for child in children)})*>")
    return weft.Dtd.parse("".join(lines), root=draw(st.sampled_from(NAMES)))


def tree(draw: st.DrawFn, name: str, allowed: Any, depth: int) -> str:
    """An element whose children are drawn from what is allowed in it."""
    children = draw(st.lists(st.sampled_from(allowed(name)), max_size=3)) if depth and allowed(name) else []
    inner = "".join(tree(draw, child, allowed, depth - 1) for child in children)
    return f"<{name}>{draw(st.sampled_from(['', '1', 'x']))}{inner}</{name}>"


@st.composite
def worlds(draw: st.DrawFn) -> tuple[weft.Dtd, list[str]]:
    dtd = draw(dtds())
    documents = []
    for is_valid in draw(st.lists(st.booleans(), min_size=1, max_size=5)):
        if is_valid:
            documents.append(tree(draw, dtd.root, dtd.children, 4))
        else:
            wild = tree(draw, draw(st.sampled_from(OTHERS)), lambda _: OTHERS, 3)
            documents.append(wild.replace(">", " xmlns:p='urn:p'>", 1))
    return dtd, documents


steps = st.sampled_from(["/", "//"]).flatmap(lambda axis: st.sampled_from([*NAMES, "*"]).map(lambda name: axis + name))
paths = st.lists(steps, min_size=1, max_size=3).map("".join)
queries = st.one_of(
    paths,
    st.builds("{}[.{} = '1']".format, paths, paths),
    st.builds("{}[not(.{})]".format, paths, paths),
    st.builds("<r>{{for $v in {}, $w in $v{} return <x>{{$v{}}}{{$w}}</x>}}</r>".format, paths, paths, paths),
)


@pytest.mark.parametrize("approach", [None, "F", "FW", "FWR"])
@given(worlds(), st.lists(queries, min_size=1, max_size=6, unique=True))
@examples(60)
def test_a_dtd_changes_no_answer(approach: Any, world: tuple[weft.Dtd, list[str]], wanted: list[str]) -> None:
    dtd, documents = world
    with_dtd, without = weft.Broker(dtd=dtd, approach=approach), weft.Broker()
    for broker in (with_dtd, without):
        for query in wanted:
            broker.subscribe(query, id=query)

    answers = [
        ([(m.document, m.subscription, m.nodes) for m in broker.publish(batch)], broker.matches(batch))
        for broker in (with_dtd, without)
        for batch in [[weft.Document(data, id=str(at)) for at, data in enumerate(documents)]]
    ]

    assert answers[0] == answers[1]
    assert with_dtd.rejected == without.rejected == ()


def test_documents_that_do_not_keep_to_the_dtd_are_counted_and_matched_without_it() -> None:
    broker = weft.Broker(dtd=weft.Dtd.parse(BOOK))
    broker.subscribe("//p", id="p")
    broker.subscribe("/book//title", id="title")
    good = "<book><title/><section><title/><p/></section></book>"
    bad = ["<book><p/></book>", "<section><p/></section>", "<shelf><book><title/></book></shelf>"]
    strange = "<book><title/><extra/></book>"

    found = broker.matches([good, *bad, strange])
    broker.subscribe("//section", id="section")
    broker.unsubscribe("title")

    assert found == [["p", "title"], ["p"], ["p"], [], ["title"]]
    assert broker.matches([good, *bad]) == [["p", "section"], ["p"], ["p", "section"], []]
    assert broker.invalid == 6


def test_a_worker_rejects_documents_that_do_not_keep_to_the_dtd() -> None:
    engine = Engine(dtd=weft.Dtd.parse(BOOK))
    engine.add(0, parse("//p"))
    good = "<book><title/><section><title/><p/></section></book>"
    table = read(as_documents([good, "<book><p/></book>", good, "<p/>"]), weft.Limits())

    rows, matched = deliver(engine, table), match(engine, table)

    expected = [
        (1, "does not keep to the DTD: <p> is not allowed in <book>"),
        (3, "does not keep to the DTD: <p> is not its root"),
    ]
    assert rows.rejected == matched.rejected == expected
    assert rows.document.tolist() == [0, 2]
    assert [numbers.tolist() for numbers in matched.subscriptions] == [[0], [], [0], []]


def test_joins_see_documents_that_do_not_keep_to_the_dtd() -> None:
    broker = weft.Broker(dtd=weft.Dtd.parse(BOOK))
    broker.subscribe("S//p->x FOLLOWED BY{x = y, 1 day} S//p->y", id="same")

    broker.publish(weft.Document("<book><p>1</p></book>", stream="S"))
    messages = broker.publish(weft.Document("<p>1</p>", stream="S"))

    assert [message.subscription for message in messages] == ["same"]
