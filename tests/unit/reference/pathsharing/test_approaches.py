"""The three approaches: what each has the path matching engine do, and that all make the messages told by hand."""

from typing import get_args

import pytest

from oracle import table_of
from weft.documents import read
from weft.documents.document import Document
from weft.languages.xquery import parse_flwr
from weft.plans.show import show_link, show_path
from weft.plans.walk import walk
from weft.reference.pathsharing.approaches import Approach, plan_by
from weft.reference.pathsharing.operators import DupElim, JoinedList, PathStream, SearchedList, Semijoin, WhereFilter
from weft.reference.pathsharing.pathsharing import PathSharing
from weft.workload import shipped

APPROACHES: tuple[Approach, ...] = get_args(Approach)
QUERY = """<r>{ for $s in //section where $s/title = "XML" and not($s/p)
    return <i>{ $s//figure }{ count($s/title) }{ $s/figure[1] }</i> }</r>"""
DOCUMENT = (
    "<section><title>XML</title><section><title>XML</title><figure>1</figure><figure>2</figure></section></section>"
)
MESSAGE = (
    "<r><i><figure>1</figure><figure>2</figure>1</i><i><figure>1</figure><figure>2</figure>1<figure>1</figure></i></r>"
)


def messages(engine: PathSharing, *documents: str) -> list[tuple[int, int, str]]:
    return sorted(engine.match(table_of(documents)).messages())


@pytest.mark.parametrize(
    ("approach", "streams"),
    [
        ("F", {"//section"}),
        ("FW", {"//section", "//section/title"}),
        ("FWR", {"//section", "//section/title", "//section//figure"}),
    ],
)
def test_an_approach_retrieves_the_paths_of_its_clauses_and_searches_the_rest(
    approach: Approach, streams: set[str]
) -> None:
    plan = plan_by(approach, parse_flwr(QUERY))
    parts = list(walk(plan))

    assert {show_path(part.path) for part in parts if isinstance(part, PathStream)} == streams
    assert any(isinstance(part, Semijoin) for part in parts) is (approach != "F")
    assert isinstance(plan.input, WhereFilter), "not($s/p) is no predicate path, so it is always searched"
    joined = [part.slot.links for part in plan.lists if isinstance(part, JoinedList)]
    assert ["".join(map(show_link, links)) for links in joined] == (["//figure", "/title"] if approach == "FWR" else [])
    assert isinstance(plan.lists[-1], SearchedList), "a path with a position is not in the path matching engine"


def test_without_optimization_every_stream_is_made_distinct_and_every_join_hashes() -> None:
    parts = list(walk(plan_by("FWR", parse_flwr(QUERY))))

    joins = [part for part in parts if isinstance(part, Semijoin | JoinedList)]
    assert len([part for part in parts if isinstance(part, DupElim)]) == 3
    assert {part.by for part in joins} == {"hash"}


@pytest.mark.parametrize("approach", APPROACHES)
@pytest.mark.parametrize("optimized", [False, True])
@pytest.mark.parametrize("with_dtd", [False, True])
def test_every_approach_makes_the_message_told_by_hand(approach: Approach, optimized: bool, with_dtd: bool) -> None:
    engine = PathSharing(approach, shipped("book") if with_dtd else None, optimized)
    engine.add(4, parse_flwr(QUERY))

    assert messages(engine, "<section><title>SQL</title></section>", DOCUMENT) == [(1, 4, MESSAGE)]


@pytest.mark.parametrize("approach", APPROACHES)
def test_queries_that_come_and_go_leave_the_others_as_they_are(approach: Approach) -> None:
    engine = PathSharing(approach)
    engine.add(1, parse_flwr(QUERY))
    engine.add(2, parse_flwr("<t>{ for $t in //title return $t }</t>"))
    both = messages(engine, DOCUMENT)

    engine.remove(1)
    alone = messages(engine, DOCUMENT)
    engine.add(3, parse_flwr("<f>{ for $s in //section return $s/figure/text() }</f>"))

    title = (0, 2, "<t><title>XML</title><title>XML</title></t>")
    assert both == [(0, 1, MESSAGE), title]
    assert alone == [title]
    assert messages(engine, DOCUMENT) == [title, (0, 3, "<f>12</f>")]


@pytest.mark.parametrize("approach", APPROACHES)
def test_several_variables_are_bound_and_tested_together(approach: Approach) -> None:
    engine = PathSharing(approach)
    engine.add(
        0,
        parse_flwr(
            """<r>{ for $a in /x/a, $b in $a/b where $a/@k = "1" or $b = "u" order by $b descending
            return <p>{ $a/@k }{ $b/text() }</p> }</r>"""
        ),
    )

    assert messages(engine, "<x><a k='1'><b>t</b><b>v</b></a><a k='2'><b>u</b><b>w</b></a></x>") == [
        (0, 0, '<r><p k="1">v</p><p k="2">u</p><p k="1">t</p></r>')
    ]


@pytest.mark.parametrize("approach", APPROACHES)
def test_a_query_on_a_stream_sees_its_documents_and_those_of_none(approach: Approach) -> None:
    engine = PathSharing(approach)
    engine.add(0, parse_flwr('<r>{ for $a in stream("s")//a return <i/> }</r>'))

    run = engine.match(read([Document("<a/>", str(at), stream) for at, stream in enumerate(("s", "t", ""))]))

    assert [numbers.tolist() for numbers in run.subscriptions()] == [[0], [], [0]]
    assert [(at, number) for at, number, _ in run.messages()] == [(0, 0), (2, 0)]


def test_a_batch_that_fails_leaves_no_half_made_label_path(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = PathSharing("FWR")
    engine.add(0, parse_flwr(QUERY))
    before = messages(engine, DOCUMENT)

    def failing(*_: object) -> None:
        raise MemoryError("no room")

    with monkeypatch.context() as patched:
        patched.setattr("weft.reference.pathsharing.pathsharing.TreeSearch", failing)
        with pytest.raises(MemoryError, match="no room"):
            engine.match(table_of(["<new><section/></new>"]))

    assert messages(engine, DOCUMENT) == before
    assert messages(engine, "<new><section><title>XML</title></section></new>") == [(0, 0, "<r><i>1</i></r>")]
