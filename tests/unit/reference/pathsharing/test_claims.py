"""Claims 1 to 5: they hold where the paper says so, plans become what they allow, and no stream ever refutes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lxml import etree

from flwr_strategies import World, worlds
from oracle import table_of
from profiles import examples
from weft.documents.dtd import Dtd
from weft.documents.kind import Kind
from weft.engine.paths.states import States
from weft.languages import parse
from weft.plans.flwr import Flwr
from weft.plans.plan import Path, Pattern, Step
from weft.plans.show import show_path
from weft.plans.walk import walk
from weft.reference.pathsharing.claims import is_ordered, no_duplicate_pairs, no_duplicates
from weft.reference.pathsharing.operators import DupElim, JoinedList, PathStream, ReturnSelect, Semijoin
from weft.reference.pathsharing.optimize import optimize
from weft.reference.pathsharing.streams import PathMatcher, Streams
from weft.workload import generate_flwr, shipped

BOOK, BIBLIOGRAPHY = shipped("book"), shipped("bibliography")
QUERY_1 = """<sections> {
    for $s in document("doc.xml")//section
    where $s//figure/title = "XML processing"
    return <section> { $s/title } { $s//figure } </section> } </sections>"""
QUERY_2 = """<figures> {
    for $f in document("doc.xml")//section[@id <= 2]//figure
    where $f/title = "XML processing"
    return <figure> { $f/image } </figure> } </figures>"""
QUERY_3 = """<sections> {
    for $s in document("doc.xml")//section
    where $s/title = "XML" and $s/figure/title = "XML processing"
    return <section> { $s//section//title } { $s/figure } </section> } </sections>"""


def path(text: str) -> Path:
    selection = parse(text)
    assert isinstance(selection, Pattern)
    assert selection.parent is None
    return selection.path


def plan(query: str, dtd: Dtd | None) -> ReturnSelect:
    flwr = parse(query)
    assert isinstance(flwr, Flwr)
    return optimize(flwr, "FWR", dtd)


def parts(physical: ReturnSelect, kind: type) -> list[Any]:
    return [part for part in walk(physical) if isinstance(part, kind)]


def eliminated(physical: ReturnSelect) -> dict[str, str]:
    """The paths whose streams still go through a DupElim, and how it works."""
    found = {}
    for part in parts(physical, DupElim):
        stream = part.input if isinstance(part.input, PathStream) else part.input.input
        found[show_path(stream.path)] = part.by
    return found


# -- the claims


@pytest.mark.parametrize(
    ("text", "by_query", "with_dtd"),
    [
        ("/book/section/figure", 1, 1),  # no //
        ("//section", 1, 1),  # one //
        ("/book/section//figure", 1, 1),
        ("//section//figure", None, None),  # section is on a loop
        ("//section//section//title", None, None),
        ("//figure//image", None, 2),  # figure is not
        ("//figure/title//section", None, 2),
        ("//section/figure//image", None, None),
        ("/book//figure//section", None, 2),  # the last may be on a loop
    ],
)
def test_no_node_comes_twice_by_claim_1_or_2(text: str, by_query: int | None, with_dtd: int | None) -> None:
    assert no_duplicates(path(text)) == by_query
    assert no_duplicates(path(text), BOOK) == with_dtd


@pytest.mark.parametrize(
    ("text", "field", "by_query", "with_dtd"),
    [
        ("//section/title", 1, 3, 3),
        ("//section//figure", 1, 3, 3),  # one // in each part
        ("//section//section//title", 1, None, None),  # two // behind the binding field, and section on a loop
        ("//section//figure/image", 2, None, None),  # two // before it
        ("//section//figure//image", 1, None, 3),  # figure is on no loop
        ("/book/section//section//image", 1, None, None),
        ("//figure//image//title", 1, None, 3),
        ("/book//figure//image//title", 2, None, 3),
    ],
)
def test_no_pair_comes_twice_by_claim_3(text: str, field: int, by_query: int | None, with_dtd: int | None) -> None:
    assert no_duplicate_pairs(path(text), field) == by_query
    assert no_duplicate_pairs(path(text), field, BOOK) == with_dtd


@pytest.mark.parametrize(
    ("text", "field", "by_query", "with_dtd"),
    [
        ("/book/section//figure", 2, 4, 4),  # no // up to the field
        ("/book//figure//image", 1, 4, 4),
        ("//section/figure/title", 1, None, None),  # section is on a loop with itself
        ("//section//figure/title", 2, None, 5),  # figure is on none with section
        ("//figure/title", 1, None, 5),
        ("//figure//section/title", 2, None, None),
        ("//section/section/title", 2, None, None),
    ],
)
def test_a_stream_is_in_order_by_claim_4_or_5(
    text: str, field: int, by_query: int | None, with_dtd: int | None
) -> None:
    assert is_ordered(path(text), field) == by_query
    assert is_ordered(path(text), field, BOOK) == with_dtd


def test_two_elements_on_two_loops_are_not_on_the_same_loop() -> None:
    dtd = Dtd.parse("<!ELEMENT a (a | b)*><!ELEMENT b (b | c)*><!ELEMENT c EMPTY>", root="a")

    assert is_ordered(path("//a/b//c"), 2, dtd) == 5
    assert is_ordered(path("//a//b/c"), 2, dtd) is None


# -- the paper's queries


def test_query_1_needs_no_duplicate_elimination_but_hashing() -> None:
    physical = plan(QUERY_1, BOOK)

    assert eliminated(physical) == {}
    assert physical.claims == (1,)
    assert [(each.by, each.claims) for each in parts(physical, JoinedList)] == [("hash", (3,)), ("hash", (3,))]
    assert [(each.by, each.claim) for each in parts(physical, Semijoin)] == [("hash", None)]


def test_query_2_keeps_its_duplicate_elimination_and_is_merged_and_scanned_by_claim_5() -> None:
    physical = plan(QUERY_2, BOOK)

    assert eliminated(physical) == {"//section//figure": "scan", "//section//figure/image": "scan"}
    assert physical.claims == ()
    assert [(each.by, each.claims) for each in parts(physical, JoinedList)] == [("merge", (5,))]
    assert [(each.by, each.claim) for each in parts(physical, Semijoin)] == [("merge", 5)]


def test_query_2_without_the_dtd_is_hashed() -> None:
    physical = plan(QUERY_2, None)

    assert eliminated(physical) == {"//section//figure": "scan", "//section//figure/image": "hash"}
    assert [each.by for each in parts(physical, JoinedList)] == ["hash"]
    assert [each.by for each in parts(physical, Semijoin)] == ["hash"]


@pytest.mark.parametrize("dtd", [BOOK, None], ids=["with DTD", "by the query alone"])
def test_query_3_keeps_the_duplicate_elimination_of_one_return_path(dtd: Dtd | None) -> None:
    physical = plan(QUERY_3, dtd)

    assert eliminated(physical) == {"//section//section//title": "hash"}
    assert physical.claims == (1,)
    assert [each.claims for each in parts(physical, JoinedList)] == [(), (3,)]
    assert {each.by for each in parts(physical, Semijoin)} == {"hash"}


@pytest.mark.slow
@pytest.mark.parametrize("depth", [2, 3])
def test_a_bibliography_needs_neither_duplicate_elimination_nor_hashing(depth: int) -> None:
    shape: dict[str, Any] = {"number": 300, "depth": depth, "descendant": 0.5, "predicate_paths": 2}
    extras: dict[str, Any] = {
        "binding_predicates": 0.5,
        "second_variable": 0.3,
        "let": 0.3,
        "texts": 0.5,
        "counts": 0.5,
    }

    for query in [*generate_flwr(BIBLIOGRAPHY, **shape), *generate_flwr(BIBLIOGRAPHY, **shape, **extras)]:
        physical = plan(query, BIBLIOGRAPHY)

        assert eliminated(physical) == {}
        assert {each.by for each in parts(physical, JoinedList) + parts(physical, Semijoin)} <= {"merge"}


# -- soundness


@st.composite
def random_paths(draw: st.DrawFn, names: str) -> Path:
    """Up to four steps, the last perhaps to attributes."""
    step = st.builds(Step, st.sampled_from(names), st.booleans())
    steps = draw(st.lists(step, min_size=1, max_size=4))
    attribute = st.builds(Step, st.just("x"), st.booleans(), st.just(Kind.ATTRIBUTE))
    return (*steps, *draw(st.lists(attribute, max_size=1)))


def enumerated(document: str, steps: Path) -> list[tuple[int, ...]]:
    """The stream of a path, by trying every node at every step; a node is its place among elements and attributes."""
    root = etree.fromstring(document)
    elements = list(root.iter())
    attributes = [(element, name) for element in elements for name in element.attrib]
    place: dict[Any, int] = {node: at for at, node in enumerate([*elements, *attributes])}

    def reached(above: Any, step: Step) -> Iterator[Any]:
        if step.kind is Kind.ATTRIBUTE:
            inside = set(elements if above is None else above.iter()) if step.deep else {above}
            yield from (each for each in attributes if each[0] in inside and each[1] == step.label)
            return
        below = [root] if above is None else list(above)
        deep = elements if above is None else list(above.iter())[1:]
        yield from (each for each in (deep if step.deep else below) if step.label in ("*", each.tag))

    ways: list[tuple[Any, ...]] = [()]
    for step in steps:
        ways = [(*way, node) for way in ways for node in reached(way[-1] if way else None, step)]
    return sorted((tuple(place[node] for node in way) for way in ways), key=lambda way: way[-1])


def assert_claims_hold(steps: Path, dtd: Dtd | None, documents: tuple[str, ...]) -> None:
    for document in documents:
        stream = enumerated(document, steps)
        if no_duplicates(steps, dtd):
            assert is_distinct([way[-1] for way in stream])
        for field in range(1, len(steps)):
            if no_duplicate_pairs(steps, field, dtd):
                assert is_distinct([(way[field - 1], way[-1]) for way in stream])
            if is_ordered(steps, field, dtd):
                assert is_increasing(stream, field)


def is_distinct(keys: list[Any]) -> bool:
    return len(keys) == len(set(keys))


def is_increasing(stream: list[tuple[int, ...]], field: int) -> bool:
    """In whichever order the tuples with the same last node come."""
    up, down = (sorted(stream, key=lambda way: (way[-1], sign * way[field - 1])) for sign in (1, -1))
    fields = [[way[field - 1] for way in ways] for ways in (up, down)]
    return fields[0] == fields[1] == sorted(fields[0])


several_paths = st.lists(random_paths("abc"), min_size=1, max_size=5)
with_wildcards = st.lists(random_paths("abc**"), min_size=1, max_size=5)


@examples(100)
@given(worlds(), with_wildcards)
def test_streams_are_what_trying_every_node_gives(world: World, several: list[Path]) -> None:
    matcher = PathMatcher(States())
    states = [matcher.add(steps) for steps in several]

    for document in world.documents:
        streams = Streams(table_of([document]), matcher)
        for state, steps in zip(states, several, strict=True):
            found = streams.tuples(state, len(steps)).tolist()

            assert [row[-1] for row in found] == sorted(row[-1] for row in found)
            assert sorted(map(tuple, found)) == sorted(enumerated(document, steps))


@examples(150)
@given(worlds(), with_wildcards)
def test_claims_by_the_query_alone_hold_for_every_document(world: World, several: list[Path]) -> None:
    for steps in several:
        assert_claims_hold(steps, None, world.documents)


@examples(150)
@given(worlds(), several_paths)
def test_claims_by_the_dtd_hold_for_every_document_that_keeps_to_it(world: World, several: list[Path]) -> None:
    for steps in several:
        assert_claims_hold(steps, world.dtd, world.documents)


@examples(150)
@given(worlds(), with_wildcards)
@example(World((("b",), ("c",), ()), ("<a><b><c/></b></a>",)), [path("//*//c")])
@example(World((("b", "c"), ("c",), ()), ("<a><b><c/></b><c/></a>",)), [path("//*/c")])
def test_claims_by_the_dtd_hold_for_paths_with_wildcards(world: World, several: list[Path]) -> None:
    for steps in several:
        assert_claims_hold(steps, world.dtd, world.documents)
