"""The oracle of XSCL: the paper's example, each rule by hand, its paths against lxml's; and its strategies."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from lxml import etree

from oracle import Oracle, table_of
from profiles import examples
from strategies import Query, absolute_paths, documents
from weft.documents.document import Document
from weft.errors import UnsupportedError
from weft.languages.xscl import parse
from weft.plans.plan import On
from weft.plans.xscl import Term, Xscl
from xscl_oracle import Found, Place, holds, messages, number, oracle, outputs, place_in, trees_of
from xscl_paper import BLOG, BOOK
from xscl_strategies import MOST_ELEMENTS, document_lists, queries


def doc(name: str, data: str, timestamp: float, stream: str = "S") -> Document:
    return Document(data, name, stream, timestamp)


def found(query: str, *given: Document) -> set[Found]:
    return oracle([parse(query)], given)[0]


def joined(query: str, *given: Document) -> set[str]:
    """The documents that are found, as one text each."""
    return {" ".join(one.documents) for one in found(query, *given)}


# -- the paper's example: tables 1 and 2 on figures 1 and 2

Q1 = (
    "S//book->x1[.//author->x2][.//title->x3] FOLLOWED BY{x2=x5 AND x3=x6, 10 seconds}"
    " S//blog->x4[.//author->x5][.//title->x6]"
)
Q2 = (
    "S//book->x1[.//author->x2][.//category->x7] FOLLOWED BY{x2=x5 AND x7=x8, 20 seconds}"
    " S//blog->x4[.//author->x5][.//category->x8]"
)
Q3 = (
    "S//blog->x4[.//author->x5][.//title->x6] FOLLOWED BY{x5=x5' AND x6=x6', 30 seconds}"
    " S//blog->x4'[.//author->x5'][.//title->x6']"
)
D1, D2 = doc("d1", BOOK, 1), doc("d2", BLOG, 5)


def test_the_papers_queries_find_the_book_and_the_blog_but_no_cross_posting() -> None:
    pair = Found(("d1", "d2"), (Place(0), Place(0)))

    assert oracle([parse(query) for query in (Q1, Q2, Q3)], [D1, D2]) == [{pair}, {pair}, set()]


def test_the_papers_queries_bind_the_nodes_of_table_4f() -> None:
    first = found(f"SELECT <r>{{ $x1, $x2, $x3, $x4, $x5, $x6 }}</r> FROM {Q1}", D1, D2)
    second = found(f"SELECT <r>{{ $x1, $x2, $x7, $x4, $x5, $x8 }}</r> FROM {Q2}", D1, D2)

    assert first == {Found(("d1", "d2"), tuple(map(Place, (0, 2, 4, 0, 2, 3))))}
    assert second == {Found(("d1", "d2"), tuple(map(Place, (0, 2, 5, 0, 2, 5))))}


def test_a_blog_that_comes_again_is_a_cross_posting_within_the_window() -> None:
    assert joined(Q3, D1, D2, doc("d3", BLOG, 35)) == {"d2 d3"}
    assert joined(Q3, D1, D2, doc("d3", BLOG, 36)) == set()


# -- time


def test_followed_by_asks_for_a_later_timestamp_and_not_for_a_later_arrival() -> None:
    query = "S/a->x FOLLOWED BY{x = y, infinite} S/b->y"
    a, b = "<a>1</a>", "<b>1</b>"

    assert joined(query, doc("p", a, 1), doc("n", b, 2)) == {"p n"}
    assert joined(query, doc("p", a, 1), doc("n", b, 1)) == set()
    assert joined(query, doc("n", b, 2), doc("p", a, 1)) == {"p n"}


def test_join_goes_either_way_and_needs_two_documents() -> None:
    query = "S/a->x JOIN{x = y, infinite} S/a->y"

    assert joined(query, doc("p", "<a>1</a>", 1), doc("n", "<a>1</a>", 1)) == {"p n", "n p"}
    assert joined(query, doc("p", "<a>1</a>", 1), doc("n", "<a>2</a>", 2)) == set()


@pytest.mark.parametrize(
    ("window", "expected"), [("2 seconds", {"p n"}), ("1.5 seconds", set()), ("infinite", {"p n"})]
)
def test_a_window_in_seconds_has_its_end_in_it(window: str, expected: set[str]) -> None:
    query = f"S/a->x JOIN{{x = y, {window}}} S/b->y"

    assert joined(query, doc("p", "<a>1</a>", 1), doc("n", "<b>1</b>", 3)) == expected
    assert joined(query, doc("n", "<b>1</b>", 1), doc("p", "<a>1</a>", 3)) == expected


def test_a_window_in_documents_counts_those_between_in_the_stream_of_the_earlier_ones_block() -> None:
    between = [doc("1", "<c/>", 2, "S"), doc("2", "<c/>", 2, "T"), doc("3", "<c/>", 2, "T"), doc("4", "<c/>", 2, "T")]
    query = "S/a->x JOIN{x = y, %s documents} T/b->y"
    left, right = "<a>1</a>", "<b>1</b>"

    assert joined(query % 1, doc("p", left, 1), *between, doc("n", right, 3, "T")) == set()
    assert joined(query % 2, doc("p", left, 1), *between, doc("n", right, 3, "T")) == {"p n"}
    assert joined(query % 3, doc("n", right, 1, "T"), *between, doc("p", left, 3)) == set()
    assert joined(query % 4, doc("n", right, 1, "T"), *between, doc("p", left, 3)) == {"p n"}


def test_documents_with_one_timestamp_are_counted_in_the_order_of_their_arrival() -> None:
    same = [doc("p", "<a>1</a>", 1), doc("1", "<c/>", 1), doc("n", "<b>1</b>", 1), doc("2", "<c/>", 1)]

    assert joined("S/a->x JOIN{x = y, 1 document} S/b->y", *same) == set()
    assert joined("S/a->x JOIN{x = y, 2 documents} S/b->y", *same) == {"p n"}


def test_a_document_without_a_stream_is_for_every_block_and_a_block_without_one_for_every_document() -> None:
    three = [doc("p", "<a>1</a>", 1, "S"), doc("m", "<a>1</a>", 2, ""), doc("n", "<a>1</a>", 3, "T")]

    assert joined("S/a->x FOLLOWED BY{x = y, infinite} T/a->y", *three) == {"p m", "p n", "m n"}
    assert joined("S/a->x FOLLOWED BY{x = y, infinite} S/a->y", *three) == {"p m"}
    assert joined("/a->x FOLLOWED BY{x = y, infinite} S/a->y", *three) == {"p m"}


# -- absence and chains


def test_an_absence_is_a_binding_that_nothing_in_the_window_meets() -> None:
    query = "S//b->x NOT FOLLOWED BY{x = y, 2 seconds} T/c->y"
    first = doc("p", "<a><b>1</b><b>2</b></a>", 1)

    assert found(query, first) == {Found(("p",), (Place(1),)), Found(("p",), (Place(2),))}
    assert found(query, first, doc("n", "<c>1</c>", 3, "T")) == {Found(("p",), (Place(2),))}
    assert len(found(query, first, doc("n", "<c>1</c>", 4, "T"))) == 2
    assert len(found(query, first, doc("n", "<c>1</c>", 1, "T"))) == 2


def test_an_absence_that_holds_for_one_of_several_bindings_is_shown_once() -> None:
    query = "S/a->x[b->y] NOT FOLLOWED BY{y = z, infinite} S/c->z"
    first = doc("p", "<a><b>1</b><b>2</b><b>3</b></a>", 1)

    assert found(query, first, doc("n", "<c>1</c>", 2)) == {Found(("p",), (Place(0),))}
    assert found(query, first, *(doc(text, f"<c>{text}</c>", 2) for text in "123")) == set()


def test_a_chain_may_come_back_to_its_first_document_and_ask_for_any_block_before() -> None:
    two = [doc("p", '<a k="1">7</a>', 1), doc("n", '<a k="1">8</a>', 1)]
    query = "S/a->x JOIN{x/@k = y/@k, infinite} S/a->y JOIN{x = z, infinite} S/a->z"

    assert joined(query, *two) == {"p n p", "n p n"}


def test_the_window_of_a_chains_join_lies_between_the_blocks_at_its_sides() -> None:
    query = "S/a->x FOLLOWED BY{x = y, 2 seconds} S/b->y FOLLOWED BY{x = z, 2 seconds} S/c->z"
    three = [doc("p", "<a>1</a>", 1), doc("m", "<b>1</b>", 3), doc("n", "<c>1</c>", 5)]

    assert joined(query, *three) == {"p m n"}
    assert joined(query.replace("FOLLOWED BY{x = z", "NOT FOLLOWED BY{x = z"), *three) == set()
    assert joined(query.replace("FOLLOWED BY{x = z", "NOT FOLLOWED BY{x = z"), *three[:2]) == {"p m"}


# -- bindings, outputs and nodes


def test_variables_that_are_not_shown_do_not_multiply_messages() -> None:
    two = [doc("p", "<a><b>1</b><b>1</b></a>", 1), doc("n", "<a><b>1</b><b>1</b></a>", 2)]
    query = "S/a->x[b->y] FOLLOWED BY{y = w, infinite} S/a->v[b->w]"

    assert len(found(query, *two)) == 1
    assert len(found(f"SELECT <r>{{ $y }}</r> FROM {query}", *two)) == 2
    assert len(found(f"SELECT <r>{{ $w }}{{ $y }}</r> FROM {query}", *two)) == 4


def test_paths_from_a_variable_may_lead_to_different_nodes() -> None:
    left, right = doc("p", "<a><b>1</b><b>2</b></a>", 1), doc("n", "<e><c>1</c><d>2</d></e>", 2)

    assert joined("S/a->x JOIN{x/b = y/c AND x/b = y/d, infinite} S/e->y", left, right) == {"p n"}
    assert joined("S/a[b->x] JOIN{x = y/c AND x = y/d, infinite} S/e->y", left, right) == set()


def test_every_variable_of_a_block_must_have_a_node() -> None:
    assert (
        joined("S/a->x[c->z] JOIN{x/b = y, infinite} S/b->y", doc("p", "<a><b>1</b></a>", 1), doc("n", "<b>1</b>", 2))
        == set()
    )


def test_a_query_without_joins_finds_each_binding() -> None:
    given = [doc("p", '<a>1<b k="2"/>3<!-- -->4</a>', 1), doc("n", "<a/>", 1, "T")]

    assert found("S//b/@k", *given) == {Found(("p",), (Place(1, "@k"),))}
    assert found("S/a/text()", *given) == {Found(("p",), (Place(0, "text()", at),)) for at in range(3)}
    assert found("S", *given) == {Found(("p",), (Place(0),))}


def test_outputs_stand_in_the_order_of_the_plan_and_each_once() -> None:
    plan = parse("SELECT <r v='{ $y }'>{ $x/b }{ $y }{ count($x) }</r> FROM S/a->x JOIN{x/b = y, infinite} S/b->y")

    assert outputs(plan) == (Term(0, 0), Term(1, 0))


# -- values


@pytest.mark.parametrize(
    ("left", "comparison", "right", "expected"),
    [
        ("2", "=", "2.0", False),
        ("2", "!=", " 2 ", True),
        ("2", "<", "10", True),
        (" 2\n", "<=", "2.0", True),
        ("1e1", ">", "9", True),
        ("-.5", "<", "0", True),
        ("2024-01-02", "<", "2024-01-10", True),
        ("2024-01-02", ">=", " 2024-01-02T00:00:00Z ", True),
        ("2024-01-02T01:00+02:00", "<", "2024-01-02", True),
        ("2024-01-02", "<", "9999", False),
        ("2024-01-02", "<", "x", False),
        ("a", "<", "b", False),
        ("", "<=", "", False),
        ("1e999", ">", "1", False),
        ("Infinity", ">", "1", False),
        ("+2", ">", "1", False),
    ],
)
def test_values_are_compared_as_texts_numbers_or_instants(
    left: str, comparison: str, right: str, expected: bool
) -> None:
    assert holds(left, comparison, right) is expected


# -- messages


def test_a_message_is_the_output_or_the_outputs_in_a_new_root() -> None:
    p, n = doc("p", '<a><b k="1">1 &amp; 2</b> tail</a>', 1), doc("n", "<c>1 &amp; 2<!-- --></c>", 2)

    assert list(messages(parse("S//b"), [p]).values()) == ['<b k="1">1 &amp; 2</b>']
    assert messages(parse("S//b->x JOIN{x = y, infinite} S/c->y"), [p, n]) == {
        Found(("p", "n"), (Place(1), Place(0))): '<result><b k="1">1 &amp; 2</b><c>1 &amp; 2<!-- --></c></result>'
    }
    assert list(messages(parse("S//b->x NOT FOLLOWED BY{x = y, infinite} S/c->y"), [p]).values()) == [
        '<b k="1">1 &amp; 2</b>'
    ]


@pytest.mark.parametrize("query", ["SELECT <r>{ $x }</r> FROM S/a->x", "S/a/@k->x"])
def test_messages_that_are_not_defined_are_refused(query: str) -> None:
    with pytest.raises(NotImplementedError):
        messages(parse(query), [doc("p", '<a k="1"/>', 1)])


def test_a_test_that_no_query_of_one_document_has_is_refused() -> None:
    tree = trees_of([D1])[0]

    with pytest.raises(NotImplementedError):
        tree.passes(Place(0), On(0, None), None)  # type: ignore[arg-type]


# -- others agree


@pytest.mark.slow
@examples(150)
@given(documents(size=20), st.lists(absolute_paths(), min_size=1, max_size=8))
def test_blocks_find_the_nodes_that_lxml_finds(data: bytes, paths: list[Query]) -> None:
    lxml = Oracle(data)
    places = {place: at for at, place in enumerate(_places(lxml))}

    for path in paths:
        try:
            plan = parse(f"S{path.weft}") if path.weft.startswith("/") else None
            answer = oracle([plan], [Document(data, "d", "S", 0.0)])[0] if plan else None
        except (UnsupportedError, NotImplementedError):  # what a block may not have; matches()
            continue
        if answer is not None:
            assert sorted(places[one.nodes[0]] for one in answer) == lxml.nodes(path.lxml), path


def _places(lxml: Oracle) -> list[Place]:
    """The places of a document's nodes, in document order."""
    elements, texts, numbers = 0, Counter[int](), {}
    found = []
    for at, node in enumerate(lxml.described):
        if node.kind == "element":
            numbers[at] = elements
            elements += 1
            found.append(Place(numbers[at]))
            continue
        assert node.owner is not None
        owner = numbers[node.owner]
        if node.kind == "attribute":
            found.append(Place(owner, f"@{node.name}"))
        else:
            found.append(Place(owner, "text()", texts[owner]))
            texts[owner] += 1
    return found


@examples(50)
@given(st.lists(documents(size=20), min_size=1, max_size=3))
def test_the_places_of_a_node_table_are_those_of_lxml(several: list[bytes]) -> None:
    table = table_of(several)

    for at, data in enumerate(several):
        nodes = [node for node in range(table.nodes) if table.node_document[node] == at]
        by_weft = [place_in(table, node) for node in sorted(nodes, key=lambda node: table.order[node])]
        assert by_weft == _places(Oracle(data))


def test_names_in_namespaces_are_expanded() -> None:
    given = doc("p", '<a xmlns="urn:d" xmlns:p="urn:p" p:k="1"><p:b/><b xmlns=""/></a>', 1)
    spaces = {"d": "urn:d", "p": "urn:p"}

    def nodes(query: str) -> set[Place]:
        return {one.nodes[0] for one in oracle([parse(query, spaces)], [given])[0]}

    assert nodes("S/d:a") == {Place(0)}
    assert nodes("S/a") == set()
    assert nodes("S//b") == {Place(2)}
    assert nodes("S//*:b") == {Place(1), Place(2)}
    assert nodes("S//p:*") == {Place(1)}
    assert nodes("S//@p:k") == {Place(0, "@{urn:p}k")}


@examples(100)
@given(st.floats(allow_nan=False) | st.sampled_from([0.1, 1e16, math.pi]))
def test_numbers_are_read_as_python_writes_them(value: float) -> None:
    assume(math.isfinite(value))

    assert number(f" {value!r}\n") == value


# -- strategies


@examples(200)
@given(queries(least=1))
def test_every_text_is_a_query(text: str) -> None:
    plan = parse(text)

    assert isinstance(plan, Xscl)
    assert plan.publish is None
    assert len(plan.blocks) <= 3


@examples(60)
@given(document_lists(), document_lists(late=True))
def test_documents_are_few_and_small_and_come_in_order_unless_they_are_late(
    in_order: list[Document], late: list[Document]
) -> None:
    for several in (in_order, late):
        assert 2 <= len(several) <= 7
        assert all(len(list(etree.fromstring(document.data).iter("*"))) <= MOST_ELEMENTS for document in several)
    times = [document.nanoseconds or 0 for document in in_order]
    assert times == sorted(times)


@pytest.mark.slow
def test_examples_of_every_operator_find_something_and_find_nothing() -> None:
    hits: Counter[tuple[int, str, bool]] = Counter()

    @settings(max_examples=150, database=None)
    @given(document_lists(), st.lists(queries(), min_size=2, max_size=6))
    def collect(given: list[Document], texts: list[str]) -> None:
        plans = [parse(text) for text in texts]
        for plan, answer in zip(plans, oracle(plans, given), strict=True):
            hits[len(plan.blocks), plan.joins[-1].operator, bool(answer)] += 1

    collect()

    operators = ("JOIN", "FOLLOWED BY", "NOT FOLLOWED BY")
    assert {(2, operator, is_hit) for operator in operators for is_hit in (True, False)} <= set(hits)
    assert any(blocks == 3 and is_hit for blocks, _, is_hit in hits)
