"""Subscriptions that come and go while documents flow: at every moment the answers are those of a fresh broker.

Thresholds are so small, and slices so short, that indexes join and are swept all the time, with changes in between.
"""

from collections.abc import Iterator
from unittest.mock import patch

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from weft import Broker, Dtd
from weft.broker import matcher
from weft.broker.subscriptions import Subscription
from weft.engine import engine

QUERIES = (
    "/a/b",
    "//b",
    "//c/@x",
    "//*[@x = '1']",
    "//b[c = '2']/c",
    "//b[c > 1]",
    "//b[not(c)]",
    "//a[b/c and @x]",
    "//b[contains(., '1')]",
    "//b[2]",
    "//b | //c[@x]",
    "//b except //b[@x = '1']",
    "//* intersect //*[c = '1']",
    "(//b except //b[c]) | //c[. = '2']",
    "//text()",
    "<m>{for $b in //b return <n>{$b/c}</n>}</m>",
    "<m>{for $b in //b where $b/@x = '1' return $b}</m>",
    "<m>{for $b in //b for $c in $b/c return <n>{$c/text()}</n>}</m>",
)
JOINS = (
    "S//b->v[c->w] JOIN{w = u, 10 documents} S//c->u",
    "S//c->u FOLLOWED BY{u = w, 10 documents} S//b->v[c->w]",
)
DOCUMENTS = (
    "<a x='1'><b x='1'><c>1</c></b><b><c x='1'>2</c></b></a>",
    "<a><b>1</b><b x='2'/></a>",
    "<a><b><c>2</c><c>1</c></b></a>",
    "<b><c>1</c></b>",
    "<c x='2'>2</c>",
)
DTD = Dtd.parse("<!ELEMENT a (b*)> <!ELEMENT b (#PCDATA|c)*> <!ELEMENT c (#PCDATA)>", root="a")

CHANGES = st.one_of(
    st.tuples(st.just("subscribe"), st.integers(0, len(QUERIES) - 1)),
    st.tuples(st.just("subscribe"), st.integers(0, len(QUERIES) - 1)),
    st.tuples(st.just("unsubscribe"), st.integers(0, 1_000)),
    st.tuples(st.just("suspend"), st.integers(0, 1_000)),
    st.tuples(st.just("match"), st.integers(0, len(DOCUMENTS) - 1)),
    st.tuples(st.just("match"), st.integers(0, len(DOCUMENTS) - 1)),
)


@pytest.fixture(autouse=True)
def small() -> Iterator[None]:
    with (
        patch.object(engine, "_LATEST", 2),
        patch.object(engine, "_SMALL", 4),
        patch.object(engine, "_SLICE", 0.0),  # one step a call
        patch.object(matcher, "_SWEEP", 3),
    ):
        yield


class Both:
    """A broker that changes, and what a fresh one must know to answer the same."""

    def __init__(self, dtd: Dtd | None = None) -> None:
        self.dtd = dtd
        self.changed = Broker(dtd=dtd)
        self.living: dict[str, str] = {}
        self.made = 0

    def apply(self, change: str, number: int) -> None:
        if change == "subscribe":
            self.made += 1
            self.living[f"s{self.made}"] = QUERIES[number]
            self.changed.subscribe(QUERIES[number], id=f"s{self.made}")
        elif change == "match":
            self.compare(DOCUMENTS[number])
        elif self.living:
            gone = sorted(self.living)[number % len(self.living)]
            del self.living[gone]
            if change == "unsubscribe":
                self.changed.unsubscribe(gone)
            else:
                self.changed._matcher.suspend({self.changed._matcher.numbers[gone]: "it failed"})

    def compare(self, document: str) -> None:
        fresh = Broker(dtd=self.dtd)
        for name, query in self.living.items():
            fresh.subscribe(query, id=name)
        assert self.changed.matches(document) == fresh.matches(document)
        assert told(self.changed, document) == told(fresh, document)


def told(broker: Broker, document: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(message.subscription, message.nodes) for message in broker.publish(document)]


@given(st.lists(CHANGES, max_size=60))
@example([("subscribe", 0), ("match", 0), *[("subscribe", at) for at in range(12)], *[("match", 0)] * 30])
@settings(deadline=None)
def test_answers_are_those_of_a_fresh_broker(changes: list[tuple[str, int]]) -> None:
    both = Both()
    for change, number in changes:
        both.apply(change, number)
    both.compare(DOCUMENTS[0])


@pytest.mark.slow
@given(st.lists(CHANGES, max_size=40))
@settings(deadline=None)
def test_also_with_a_dtd_and_documents_that_do_not_keep_to_it(changes: list[tuple[str, int]]) -> None:
    both = Both(DTD)
    for change, number in changes:
        both.apply(change, number)
    both.compare(DOCUMENTS[0])
    both.compare(DOCUMENTS[3])


@given(st.lists(CHANGES, max_size=40))
@settings(deadline=None)
def test_joins_are_not_disturbed(changes: list[tuple[str, int]]) -> None:
    """Numbers of subscriptions stay what they are, and with them what joins remember."""
    mixed, alone = Broker(), Broker()
    for broker in (mixed, alone):
        for name, query in zip(("j0", "j1"), JOINS, strict=True):
            broker.subscribe(query, id=name)
    living: list[str] = []
    for at, (change, number) in enumerate(changes):
        if change == "subscribe":
            living.append(mixed.subscribe(QUERIES[number], id=f"s{at}"))
        elif change == "match":
            found = [each for each in told(mixed, DOCUMENTS[number]) if each[0] in ("j0", "j1")]
            assert found == told(alone, DOCUMENTS[number])
        elif living:
            mixed.unsubscribe(living.pop(number % len(living)))


@pytest.mark.slow
def test_indexes_are_few_and_everything_joins_the_large_one_in_the_end() -> None:
    broker = Broker()
    for number in range(200):
        broker.subscribe(Subscription(f"s{number}", f"//b[@x = '{number}']"))
        broker.matches(DOCUMENTS[0])
        assert len(broker._matcher.engine.indexes) <= 7
    for _ in range(2_000):
        broker.matches(DOCUMENTS[0])

    assert len(broker._matcher.engine.large) > 190
    assert broker.matches("<b x='150'/>") == [["s150"]]


def test_what_nobody_wants_is_swept_out_while_documents_flow() -> None:
    broker = Broker()
    for number in range(100):
        broker.subscribe(f"//b[@x = '{number}']", id=f"s{number}")
    broker.matches(DOCUMENTS[0])
    old = broker._matcher.engine.large

    for number in range(90):
        broker.unsubscribe(f"s{number}")
    for _ in range(500):
        broker.matches(DOCUMENTS[0])

    assert broker._matcher.engine.large is not old
    assert len(broker._matcher.engine.large.subscribers) < 60
    assert broker.matches("<b x='95'/>") == [["s95"]]


def test_what_goes_while_the_large_index_is_swept_is_gone_behind_it_too() -> None:
    broker = Broker()
    living = [broker.subscribe("//b", id=f"s{number}") for number in range(60)]
    living += [broker.subscribe(f"//b[@x = '{number}']", id=f"t{number}") for number in range(60)]
    assert broker.matches("<b/>") == [living[:60]]
    old = broker._matcher.engine.large

    for number in range(59, -1, -1):  # the sweep begins on its way, and has taken in many that still go
        broker.unsubscribe(f"t{number}")
        broker.unsubscribe(f"s{number}")
        assert broker.matches("<b/>") == [living[:number]]
    for _ in range(200):
        assert broker.matches("<b/>") == [[]]

    assert broker._matcher.engine.large is not old


def test_an_answer_that_is_read_late_has_the_names_of_those_that_went() -> None:
    broker = Broker()
    broker.subscribe("//b", id="first")
    (found,) = broker.matches("<b/>")

    broker.unsubscribe("first")
    for number in range(50):
        broker.unsubscribe(broker.subscribe("//b", id=f"passing {number}"))
    broker.subscribe("//b", id="last")

    assert found == ["first"]
    assert broker.matches("<b/>") == [["last"]]


def test_what_fails_while_indexes_join_is_confined() -> None:
    broker = Broker()
    broker.subscribe("//b", id="first")
    broker.matches("<b/>")

    with patch.object(engine, "join", side_effect=RuntimeError("a fault")):
        for number in range(10):
            broker.subscribe(f"//b[not(c{number})]", id=f"s{number}")
            assert len(broker.matches("<b/>")[0]) == number + 2

    assert broker.suspended == {}
