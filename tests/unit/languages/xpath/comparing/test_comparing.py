"""Every rule turns a comparison as it is written into one that means the same, and leaves what it does not know."""

from __future__ import annotations

import pytest

from weft import Broker, QueryError
from weft.languages import parse
from weft.languages.xpath.comparing import RULES

#: By rule: what is written, and what it becomes.
SAME = {
    "nodes": ("//a[b | c = 'x']", "//a[b[. = 'x'] or c[. = 'x']]"),
    "counts": ("//a['2' < count(b)]", "//a[count(b) > 2]"),
    "first_items": ("//a[number(b) > '3']", "//a[3 < number(b)]"),
    "names": ("//*[local-name() = 'a']/b", "//*[self::*:a]/b"),
    "constants": ("//a[1 < 2]", "//a[true()]"),
    "lists": ("//a[b = ('x', 'y')]", "//a[b = 'x' or b = 'y']"),
}
#: What is written, and the documents of DOCUMENTS that it selects something in.
DOCUMENTS = (
    "<a><b>1</b><b>7</b></a>",
    "<a><b>7</b><c>x</c></a>",
    "<r xmlns='urn:u'><a/></r>",
)
FOUND: tuple[tuple[str, list[int]], ...] = (
    ("//a[number(b) > 3]", [1]),
    ("//a[string(b) = '1']", [0]),
    ("//a[b = (7, 9)]", [0, 1]),
    ("//a[b != (1, 7)]", [0, 1]),
    ("//a[count(b) = 1 to 1]", [1]),
    ("//*[namespace-uri() = 'urn:u']", [2]),
    ("//*[local-name() != 'a'][. = 'x']", [1]),
    ("//a['b' = 'b']", [0, 1]),
    ("//a['b' = 'c']", []),
)


def test_every_rule_is_tried_here() -> None:
    assert {rule.__name__ for rule in RULES} == set(SAME)


@pytest.mark.filterwarnings("ignore::weft.QueryWarning")
@pytest.mark.parametrize("rule", SAME)
def test_a_comparison_becomes_what_its_rule_says(rule: str) -> None:
    written, meant = SAME[rule]

    assert parse(written) == parse(meant)


@pytest.mark.filterwarnings("ignore::weft.QueryWarning")
@pytest.mark.parametrize(("query", "found"), FOUND)
def test_comparisons_select_what_they_say(query: str, found: list[int]) -> None:
    broker = Broker()
    broker.subscribe(query, id="q", language="xpath")

    matched = broker.matches(DOCUMENTS)

    assert [place for place, ids in enumerate(matched) if ids] == found


@pytest.mark.parametrize("query", ["//a[b is c]", "//a[b = 1 to 100]"])
def test_what_no_rule_knows_is_refused(query: str) -> None:
    with pytest.raises(QueryError):
        parse(query)
