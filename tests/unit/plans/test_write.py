"""Plans are written as XPath that is read as the same."""

from __future__ import annotations

import pytest
from hypothesis import given

from oracle import table_of, weft_answer
from profiles import examples
from strategies import PLAIN, Selection, documents, selections, written_selection
from weft.documents.kind import Kind
from weft.engine import Engine
from weft.languages.xpath import parse
from weft.plans.plan import Has, Link, Pattern, Rank, Step, Value
from weft.plans.write import write_links, write_xpath

EQUAL = [
    "/a/b//c",
    "//a[b][c = 'x']/@y",
    "//*[not(self::a or self::b)][2]",
    "//a[b][2][c]/text()[last()]",
    "//a[b and position() = 2][position() < 3]",
    "//a[not(contains(b, 'x')) or matches(., '^$') or matches(b/c, 'x*')]",
    "//a[count(b//c) > 2 or count(b) < 3]",
    "//a[b = 1.5][. > -0.000001][c != 'it''s \"so\"']",
    "//a[. > 'foo']",
    "//a[b >= xs:date('2026-01-01+14:00')][. != xs:time('24:00:00')]",
    "//a[not(@x < xs:dateTime('-0004-02-29T12:00:00.50-11:30'))]",
    "(//a | //b) except (//c intersect //a[x])",
    "//a[.//@x][self::a or not(b/text())]",
    "//a[string(b) = 'x' or string(b/c) lt 'x' or not(string(b) != '')]",
    "//a[number(b) > 1 or number(.//c) != 1 or xs:date(b) = xs:date('2026-01-01')]",
    "//a[. ge 'x'][@b lt 'y']",
    "//a[matches(b, '\\d+\\s.[^a-z]')]",
]


@pytest.mark.parametrize("query", EQUAL)
def test_what_is_written_is_read_as_the_same_plan(query: str) -> None:
    plan = parse(query)

    text, namespaces = write_xpath(plan)

    assert parse(text, namespaces) == plan


def test_namespaces_get_prefixes_of_their_own() -> None:
    plan = parse("/p:a/q:*[*:b or self::q:c]/@p:x[. = 1]", {"p": "urn:1", "q": "urn:2"})

    text, namespaces = write_xpath(plan)

    assert namespaces == {"n1": "urn:1", "n2": "urn:2"}
    assert parse(text, namespaces) == plan
    assert write_xpath(parse("//@xml:lang")) == ("//@xml:lang", {})


def test_what_xpath_has_no_words_for_is_refused() -> None:
    with pytest.raises(ValueError, match="a comparison that XPath has"):
        write_xpath(Pattern(None, (Step("a"),), Value("<", 1.0, is_double=True)))
    with pytest.raises(ValueError, match="expected a position"):
        write_xpath(Pattern(None, (Step("a"),), Rank(Value("=", "x"), "=", 1)))


def test_a_path_from_a_node_is_written_without_a_slash() -> None:
    assert write_links([]) == "."
    assert write_links([Link((), Has((Step("b"),))), Link((Step("c", deep=True),))]) == ".[b]//c"
    assert write_links([Link((Step("c", deep=True), Step("x", kind=Kind.ATTRIBUTE)))]) == ".//c/@x"


@given(selections(PLAIN), documents())
@examples(300)
def test_generated_queries_are_read_again_as_equal_or_as_ones_that_select_the_same(
    selection: Selection, document: bytes
) -> None:
    plan = parse(written_selection(selection))

    text, namespaces = write_xpath(plan)

    again = parse(text, namespaces)
    if again != plan:
        engine = Engine()
        engine.add(0, plan)
        engine.add(1, again)
        found = weft_answer(engine, table_of([document]))
        assert found[found[:, 1] == 0][:, 2].tolist() == found[found[:, 1] == 1][:, 2].tolist(), text
