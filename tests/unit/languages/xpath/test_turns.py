"""Paths that go up and several ways are the plans of paths that go down."""

import pytest

from weft.errors import UnsupportedError
from weft.languages import parse

SAME = {
    "/a/b/..": "/a[b]",
    "/a/b[2]/..": "/a[b[2]]",
    "//a/..": "//*[a]",
    "/a//b/..": "/a[b] | /a//*[b]",
    "//@x/..": "//*[@x]",
    "//a/text()/..": "//a[text()]",
    "//a/parent::b": "//b[a]",
    "//a/../@x": "//*[a]/@x",
    "//a/b/parent::node()/c": "//a[b]/c",
    "//a/ancestor::b": "//b[.//a]",
    "/a/b[../c = 1]": "/a[c = 1]/b",
    "/a/b[../c][2]": "/a[c]/b[2]",
    "/a/b[not(../c)]": "/a[not(c)]/b",
    "/a/b[../c or d]": "/a[c]/b | /a/b[d]",
    "//a[parent::b]": "//b/a",
    "//a[parent::b/@x = 1]": "//b[@x = 1]/a",
    "//a[../b = 1]": "//*[b = 1]/a",
    "//a[ancestor::b/@x = 1]": "//b[@x = 1]//a",
    "//a[b[../../c]]": "//*[c]/a[b]",
    "/r/a[/r/c = 1]": "/r[c = 1]/a",
    "/r/a[not(/r/c)]/b": "/r[not(c)]/a/b",
    "/r//a[//r/c]": "/r[c or .//r/c]//a",
    "//a/descendant-or-self::b": "//a[self::b] | //a//b",
    "//a/node()": "//a/* | //a/text()",
    "//a[node()]": "//a[* | text()]",
    "//a/(b | c)": "//a/b | //a/c",
    "//a/(b[1] | c/d)/e": "//a/b[1]/e | //a/c/d/e",
    "(//a)[b]": "//a[b]",
    "(//a | //b)/c": "//a/c | //b/c",
    "(//a | //b)[c]/@d": "//a[c]/@d | //b[c]/@d",
    "//*[local-name() = 'a']": "//*[self::*:a]",
    "//*[namespace-uri() = 'u']": "//*[self::p:*]",
    "//a[b][last() > 2]": "//*[count(a[b]) > 2]/a[b]",
    "//a[2 = last()]/c": "//*[count(a) = 2]/a/c",
}


@pytest.mark.parametrize("query", SAME)
def test_a_path_that_goes_up_is_the_plan_of_one_that_goes_down(query: str) -> None:
    assert parse(query) == parse(SAME[query], namespaces={"p": "u"})


@pytest.mark.parametrize("query", ["S//a[../b]->v JOIN{v = w, 1 day} S//b->w", "S//a/..->v JOIN{v = w, 1 day} S//b->w"])
def test_blocks_of_joins_do_not_go_up(query: str) -> None:
    with pytest.raises(UnsupportedError, match="that goes up, or several ways, in a block"):
        parse(query)
