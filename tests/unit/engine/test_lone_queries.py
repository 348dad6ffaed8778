"""Queries that are worked out alone: they come and go, share, keep to the limits, and disturb nobody."""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from random import Random

import pytest

import weft
from weft.documents import Document, read
from weft.documents.document import Limits, read_limits
from weft.engine import Engine
from weft.engine.index_entry import EnginePlan
from weft.languages import parse
from weft.plans.lone_query import LoneQuery
from weft.plans.xscl import Xscl
from xquery_grammar import documents, queries

BOOKS = "<bib><book k='1'><title>Warp</title></book><book k='2'><title>Weft</title></book></bib>"


def lone(query: str) -> LoneQuery:
    """The plan of a query that is worked out alone."""
    plan = parse(query, "xquery")
    assert isinstance(plan, LoneQuery)
    return plan


def plan_of(query: str, language: str = "xquery") -> EnginePlan:
    """The plan of a query that an engine takes."""
    plan = parse(query, language)
    assert not isinstance(plan, Xscl)
    return plan


def made(engine: Engine, texts: Iterable[str]) -> list[tuple[int, int, str]]:
    return list(engine.match(read(Document(text, str(at)) for at, text in enumerate(texts))).messages())


def test_equal_queries_are_worked_out_once_and_all_get_the_message() -> None:
    engine, plan = Engine(), lone("for $b at $i in /bib/book return <n>{ $i }</n>")
    for number in range(3):
        engine.add(number, plan)

    found = made(engine, [BOOKS])

    assert [(number, text) for _, number, text in found] == [
        (number, text) for number in range(3) for text in ("<n>1</n>", "<n>2</n>")
    ]
    assert engine.large.lone.sharing(0) == 3


def test_constants_of_different_types_make_different_queries() -> None:
    broker = weft.Broker()
    for constant in ("1", "1.0", "1e0"):
        broker.subscribe(f"for $b in /bib return ({constant} div 3) instance of xs:double", id=constant)

    found = {message.subscription: message.text for message in broker.publish(BOOKS)}

    assert found == {"1": "false", "1.0": "false", "1e0": "true"}


def test_a_query_is_not_worked_out_where_its_conditions_do_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    broker = weft.Broker()
    worked: list[object] = []
    broker.subscribe("for $b at $i in /bib/book where $b/@k = 'x' return <n>{ $i }</n>", id="x")

    def work(*given: object) -> list[str]:
        worked.append(given)
        return []

    monkeypatch.setattr("weft.engine.messages.alone.work_out", work)

    assert not broker.publish([BOOKS] * 5)
    assert not worked


@pytest.mark.slow
def test_subscriptions_come_and_go_while_documents_flow_as_in_an_engine_that_has_them_from_the_start() -> None:
    random, texts = Random(0), documents(0, 3)
    plans = {number: plan_of(asked.text) for number, asked in queries(0, 100).items()}
    engine, present = Engine(plan_of=plans.__getitem__), set[int]()
    for number, plan in plans.items():
        engine.add(number, plan)
        present.add(number)
        if random.random() < 0.3:
            gone = random.choice(sorted(present))
            engine.remove(gone)
            present.remove(gone)
        if number % 50 == 49:
            engine.sweep(plans.__getitem__)
            fresh = Engine()
            for kept in sorted(present):
                fresh.add(kept, plans[kept])
            assert made(engine, texts) == made(fresh, texts)
    engine.settle()

    assert made(engine, texts) == made(fresh, texts)


def test_a_pickled_engine_gives_the_same_messages() -> None:
    texts, engine = documents(1, 3), Engine()
    for number, asked in queries(1, 60).items():
        engine.add(number, plan_of(asked.text))
    before = made(engine, texts)

    assert made(pickle.loads(pickle.dumps(engine)), texts) == before
    assert before


def test_a_query_on_a_stream_sees_its_documents_and_those_of_none() -> None:
    broker = weft.Broker()
    broker.subscribe("for $b at $i in doc('books')/bib/book[1] return $i", id="books")

    found = broker.publish([weft.Document(BOOKS, str(at), stream) for at, stream in enumerate(("books", "", "news"))])

    assert [message.document for message in found] == ["0", "1"]


HOSTILE = {
    "steps": "for $a in 1 to 3000, $b in 1 to 3000 where $a * $b = -1 return <i>{ $a }</i>",
    "a long range": "for $a in /bib return count(1 to 99999999999)",
    "a text that doubles": "declare function local:d($s) { concat($s, $s) }; declare function local:e($s) "
    "{ local:d(local:d(local:d(local:d(local:d(local:d($s)))))) }; for $a in /bib return "
    "string-length(local:e(local:e(local:e(local:e(local:e('0123456789'))))))",
    "a number that grows": "declare function local:s($n) { $n * $n }; declare function local:t($n) "
    "{ local:s(local:s(local:s(local:s(local:s(local:s($n)))))) }; for $a in /bib return "
    "local:t(local:t(local:t(3)))",
    "bindings": "for $a in /bib let $n := 1 to 2000 for $b in $n, $c in $n return 1",
    "elements in elements": "declare function local:w($e) { <w>{ $e, $e, $e, $e }</w> }; declare function local:x($e) "
    "{ local:w(local:w(local:w(local:w(local:w($e))))) }; for $a in /bib return "
    "local:x(local:x(local:x($a)))",
    "paths in paths": "for $a in /bib//*, $b in (//*, //*), $c in (//*, //*), $d in 1 to 100000 where //*//*//* = 'no' "
    "return 1",
}


@pytest.mark.slow
@pytest.mark.parametrize("query", HOSTILE.values(), ids=HOSTILE)
def test_what_costs_too_much_is_refused_to_this_query_alone(query: str) -> None:
    broker = weft.Broker(limits=Limits(max_message_bytes=1_000_000, max_steps=200_000, max_messages=1_000_000))
    broker.subscribe(query, id="hostile", language="xquery")
    broker.subscribe("for $b at $i in /bib/book[1] return $i", id="fine")

    found = broker.publish(BOOKS)

    assert [message.subscription for message in found] == ["fine"]
    assert [error.subscription for error in broker.refused] == ["hostile"]
    assert "more than" in broker.refused[0].reason
    assert not broker.suspended


LIMITED = {
    "max_steps": ("for $b in /bib/book, $c in 1 to 100 return 1", "more than 50 steps"),
    "max_messages": ("for $b in /bib/book, $c in 1 to 100 return 1", "200 nodes or bindings, more than 50"),
    "max_message_bytes": ("for $b in /bib, $c in 1 to 20 return <i>{ $b }</i>", "more than 50 bytes from one document"),
    "max_output_bytes": (
        "for $b in /bib, $c in 1 to 20 return <i>{ $b }</i>",
        "more than 50 bytes from one document in all",
    ),
}


@pytest.mark.parametrize("name", LIMITED)
def test_limits_hold_for_queries_that_are_worked_out_alone(name: str) -> None:
    query, reason = LIMITED[name]
    broker = weft.Broker(limits=read_limits([f"{name}=50"]))
    broker.subscribe(query, id="much")

    assert not broker.publish(BOOKS)
    assert broker.refused[0].reason.startswith(reason)
    assert broker.matches(BOOKS) == [[]]


FOUND = {
    "<r>{ for $b in /bib/book where $b/@k = 'x' return $b }<i>{ 1 + 1 }</i></r>": [],
    "<r>{ for $b in /bib/book where $b/@k = '1' return () }<i>{ 1 + 1 }</i></r>": ["<r><i>2</i></r>"],
    "<r>{ count(/bib/paper) }</r>": [],
    "<r>{ count(/bib/paper) + count(/bib/book) }</r>": ["<r>2</r>"],
    "<r><a>{ count(/bib/paper) }</a><b>{ count(/bib/book) }</b></r>": ["<r><a>0</a><b>2</b></r>"],
    "let $p := /bib/paper return <r>{ count($p) }</r>": [],
    "if (/bib/paper) then <yes/> else <no/>": ["<no></no>"],
    "if (/bib/book) then () else <no/>": [],
    "exists(/bib/paper)": ["false"],
    "<r/>": ["<r></r>"],
    "/bib/paper/@k": [],
    "string-join(/bib/paper, ',')": [],
    "sum(/bib/book/@k)": ["3"],
}


@pytest.mark.parametrize("query", FOUND)
def test_a_message_is_made_where_something_is_found(query: str) -> None:
    broker = weft.Broker()
    broker.subscribe(query, id="q", language="xquery")

    found = [list(message.nodes) for message in broker.publish(BOOKS)]

    assert found == ([FOUND[query]] if FOUND[query] else [])
    assert broker.matches(BOOKS) == [["q"] if FOUND[query] else []]


REQUIRED = {
    "for $b at $i in /bib/book where $b/@k = '1' and $b/title return $i": "/bib/book[@k = '1'][title]",
    "let $d := doc('s') for $b at $i in $d//book[title = 'x'] return $i": "//book[title = 'x']",
    "<r>{ for $b at $i in /bib/book return $i }{ for $c in //c return $c }</r>": "/bib/book | //c",
    "for $b in /bib/book/.. where $b/book return 1": "/bib/book",
    "for $b in /bib for $b in $b/book where $b/x return 1": "/bib",
    "for $b at $i in /bib/book group by $k := $b/@k return $k": "/bib/book",
    "<r>{ count(/bib/book[@k > 1]) }</r>": "/bib/book[@k > 1]",
    "exists(//c)": "/*",
    "let $b := /bib/book return $b/title/string()": "/bib/book/title",
}


@pytest.mark.parametrize("query", REQUIRED)
def test_what_a_query_needs_is_a_selection_that_it_shares(query: str) -> None:
    engine = Engine()
    engine.add(0, lone(query).required)
    engine.add(1, plan_of(REQUIRED[query], "xpath"))
    texts = [BOOKS, *documents(3, 5), "<c/>", "<bib><book><title>x</title></book></bib>", "<bib><book k='1'/></bib>"]

    _, subscription, node = engine.match(read([Document(text) for text in texts])).nodes()

    assert node[subscription == 0].tolist() == node[subscription == 1].tolist()


def test_explain_says_that_a_query_is_worked_out_alone_and_why() -> None:
    broker = weft.Broker()
    broker.subscribe("for $b at $i in /bib/book where $b/@k = '1' return $i", id="q")

    told = broker.explain("q")

    assert "answered alone, in Python, in documents that pass the shared conditions below: at in a for clause" in told
    assert "query: 1 subscription with this one, worked out once for all" in told
