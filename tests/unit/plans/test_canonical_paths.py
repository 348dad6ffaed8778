"""Canonical paths: a `//` that can lead one way only is written out, wherever it stands, and no other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flwr_strategies import World, paths, worlds
from oracle import table_of, weft_answer
from profiles import examples
from weft.documents.dtd import Dtd
from weft.engine import Engine
from weft.languages import parse, xpath
from weft.plans.canonical_paths import canonical_path
from weft.plans.plan import Step
from weft.plans.show import show
from weft.reference.pathsharing.optimize import canonical_paths
from weft.workload import shipped

BOOK, BIBLIOGRAPHY = shipped("book"), shipped("bibliography")
LOOP_AT_THE_ROOT = Dtd.parse("<!ELEMENT a (a | b)*><!ELEMENT b (c)><!ELEMENT c EMPTY>", root="a")
TWO_WAYS = Dtd.parse("<!ELEMENT a (b, c)><!ELEMENT b (d?)><!ELEMENT c (d?)><!ELEMENT d (e)><!ELEMENT e EMPTY>")


@pytest.mark.parametrize(
    ("dtd", "query", "canonical"),
    [
        (BOOK, "//figure//image", "//figure/image"),
        (BOOK, "/book//author", "/book/author"),
        (BOOK, "//section/figure//image/@source", "//section/figure/image/@source"),
        (BIBLIOGRAPHY, "/bib//affiliation", "/bib/book/editor/affiliation"),
        (BIBLIOGRAPHY, "//book//author//last", "/bib/book/author/last"),
        (TWO_WAYS, "//b//e", "/a/b/d/e"),
        (TWO_WAYS, "//d//e", "//d/e"),
        (LOOP_AT_THE_ROOT, "//b//c", "//b/c"),
    ],
)
def test_a_superfluous_descendant_step_is_written_out(dtd: Dtd, query: str, canonical: str) -> None:
    assert show(canonical_paths(xpath.parse(query), dtd)) == f"pattern {canonical}"


@pytest.mark.parametrize(
    ("dtd", "query"),
    [
        (BOOK, "/book//title"),  # of the book, of a section, of a figure
        (BOOK, "//section//title"),  # section is on a loop
        (BOOK, "//section//image"),
        (BOOK, "/book//figure"),  # the way leads through sections
        (BIBLIOGRAPHY, "/bib//last"),  # of an author or of an editor
        (TWO_WAYS, "/a//e"),
        (BOOK, "/book/author"),  # nothing to write out
        (BOOK, "//figure//@width"),  # also that of what is in the figure
        (BOOK, "//p//text()"),
        (BOOK, "/book/*//image"),  # from who knows where
        (BOOK, "//figure//*"),
        (BOOK, "//figure//zebra"),  # not in the DTD
        (BOOK, "//zebra//image"),
        (BOOK, "//image//figure"),  # no way at all
    ],
)
def test_a_descendant_step_that_means_more_stays_and_so_does_the_plan(dtd: Dtd, query: str) -> None:
    plan = parse(query)

    assert canonical_paths(plan, dtd) is plan


@pytest.mark.parametrize(
    ("dtd", "query", "canonical"),
    [
        (BOOK, "//book", "/book"),
        (BOOK, "//author", "/book/author"),
        (BOOK, "//section", "//section"),
        (BOOK, "//figure", "//figure"),
        (TWO_WAYS, "//c", "/a/c"),
        (TWO_WAYS, "//d", "//d"),
        (LOOP_AT_THE_ROOT, "//a", "//a"),  # a root that may be in itself
        (LOOP_AT_THE_ROOT, "//b", "//b"),
    ],
)
def test_from_the_document_the_way_leads_through_the_root(dtd: Dtd, query: str, canonical: str) -> None:
    assert show(canonical_paths(xpath.parse(query), dtd)) == f"pattern {canonical}"


@pytest.mark.parametrize(
    ("query", "canonical"),
    [
        ("//figure[.//image]", "//figure[image]"),
        ("//figure[.//image/@source = 'x']/title", "//figure[image/@source = 'x']/title"),
        ("//figure[@width]//image", "//figure[@width]/image"),
        ("//figure[not(.//image)]", "//figure[not(image)]"),
        ("//figure[.//title = 'x' or .//image]", "//figure[title = 'x' or image]"),
        ("//figure[count(.//image) > 1]", "//figure[count(image) > 1]"),
        ("//figure[contains(.//title, 'x')]", "//figure[contains(title, 'x')]"),
        ("//figure[.//image][2]", "//figure[image][2]"),
        ("//section[.//figure[.//image]]", "//section[.//figure[image]]"),
        ("//section[figure[1]//image = 'x']", "//section[figure[1]/image = 'x']"),
        ("//section[*[.//image]//title]", None),
        ("//section[.//title]", None),
        ("//*[.//image]", None),
    ],
)
def test_paths_in_predicates_start_from_the_step_that_they_stand_at(query: str, canonical: str | None) -> None:
    assert canonical_paths(parse(query), BOOK) == parse(canonical or query)


@pytest.mark.parametrize(
    ("query", "canonical"),
    [
        (
            "<r>{ for $f in //section//figure return <i>{ $f//image }</i> }</r>",
            "<r>{ for $f in //section//figure return <i>{ $f/image }</i> }</r>",
        ),
        (
            "<r>{ for $b in //book[.//author = 'x'] return $b }</r>",
            "<r>{ for $b in /book[author = 'x'] return $b }</r>",
        ),
        (
            "<r>{ for $f in //figure where $f//title = 'x' and not($f//image) return $f }</r>",
            "<r>{ for $f in //figure where $f/title = 'x' and not($f/image) return $f }</r>",
        ),
        (
            "<r>{ for $s in //section, $f in $s//figure, $i in $f//image where $i//title return $i }</r>",
            "<r>{ for $s in //section, $f in $s//figure, $i in $f/image where $i//title return $i }</r>",
        ),
        (
            "<r>{ for $f in //figure let $t := $f//title return <i>{ $t, $t/text() }</i> }</r>",
            "<r>{ for $f in //figure let $t := $f/title return <i>{ $t, $t/text() }</i> }</r>",
        ),
        (
            "<r>{ for $f in //figure order by $f//title descending return <i>{ count($f//image) }</i> }</r>",
            "<r>{ for $f in //figure order by $f/title descending return <i>{ count($f/image) }</i> }</r>",
        ),
        (
            "<r>{ for $f in //figure return <i k='{ $f//title }'><j>{ $f//image[.//title]/@source }</j></i> }</r>",
            "<r>{ for $f in //figure return <i k='{ $f/title }'><j>{ $f/image[.//title]/@source }</j></i> }</r>",
        ),
    ],
    ids=["slot", "binding", "where", "second variable", "let", "order and count", "attribute and nested element"],
)
def test_a_flwr_plan_is_rewritten_in_every_clause(query: str, canonical: str) -> None:
    assert canonical_paths(parse(query), BOOK) == parse(canonical)


def test_a_flwr_plan_without_a_superfluous_step_stays_the_same_object() -> None:
    plan = parse("<r>{ for $s in //section where $s//title = 'x' return <i>{ $s//figure }</i> }</r>")

    assert canonical_paths(plan, BOOK) is plan


def test_without_a_dtd_nothing_changes() -> None:
    plan = parse("//figure//image")

    assert canonical_paths(plan, None) is plan


def test_a_path_tells_from_which_element_it_starts() -> None:
    path = (Step("image", deep=True),)

    assert canonical_path(path, "figure", BOOK) == (Step("image"),)
    assert canonical_path(path, "section", BOOK) is path
    assert canonical_path(path, None, BOOK) is path


def test_queries_that_mean_the_same_become_one_result() -> None:
    engine = Engine(dtd=BOOK)
    for number, query in enumerate(["//figure//image", "//figure/image", "//figure/image[true()]"]):
        engine.add(number, xpath.parse(query))

    assert len(engine.large.subscribers) == 1


@examples(200)
@given(worlds(), st.lists(paths(3, predicates=3), min_size=1, max_size=5))
def test_canonical_paths_lead_to_the_same_nodes_in_documents_that_keep_to_the_dtd(
    world: World, several: list[str]
) -> None:
    plain, canonical = Engine(), Engine(dtd=world.dtd)
    for number, query in enumerate(several):
        plain.add(number, xpath.parse(query))
        canonical.add(number, xpath.parse(query))
    table = table_of(world.documents)

    assert weft_answer(canonical, table).tolist() == weft_answer(plain, table).tolist()
