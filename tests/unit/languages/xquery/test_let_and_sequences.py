"""What `let` gives a name to is written out, and FLWR without an enclosing element is a selection."""

import pytest

import weft
from weft.languages import parse

SAME = {
    "<r>{ let $k := 'x' for $a in //a where $a/b = $k return $a }</r>": (
        "<r>{ for $a in //a where $a/b = 'x' return $a }</r>"
    ),
    "<r>{ for $a in //a let $n := 2 * 3, $l := ('x', 'y') where $a/b > $n or $l = $a return $a }</r>": (
        "<r>{ for $a in //a where $a/b > 6 or $a = ('x', 'y') return $a }</r>"
    ),
    "<r>{ let $d := /r for $a in $d/a return $a }</r>": "<r>{ for $a in /r/a return $a }</r>",
    "<r>{ let $d := (/) return for $a in $d//a return $a }</r>": "<r>{ for $a in //a return $a }</r>",
    "<r>{ let $d := doc('s') for $a in $d//a return $a }</r>": "<r>{ for $a in doc('s')//a return $a }</r>",
    "for $a in //a return $a": "//a",
    "for $a in //a[b] where $a/c = 'x' return $a": "//a[b][c = 'x']",
    "let $d := (/) return for $a in $d/r/a return $a/b[2]/text()": "/r/a/b[2]/text()",
    "for $a in /r/a, $b in $a//b where $a/c and $b lt 'x' return $b": "/r/a[c]//b[. lt 'x']",
}


@pytest.mark.parametrize("query", SAME)
def test_a_query_is_the_plan_of_the_one_written_out(query: str) -> None:
    assert parse(query) == parse(SAME[query])


def test_a_declared_prefix_is_that_of_the_whole_query() -> None:
    query = (
        "(: c :) declare namespace p = 'urn:p'; declare namespace q=\"urn:q\" ;<r>{ for $a in //p:a/q:b return $a }</r>"
    )
    same = "<r>{ for $a in //p:a/q:b return $a }</r>"

    assert parse(query, namespaces={"p": "urn:other"}) == parse(same, namespaces={"p": "urn:p", "q": "urn:q"})


def test_a_sequence_has_its_nodes_as_the_message() -> None:
    broker = weft.Broker()
    broker.subscribe("for $a in /r/a where $a/@k = ('x', 'y') return $a/b", id="q")

    (message,) = broker.publish("<r><a k='x'><b>1</b><b>2</b></a><a k='z'><b>3</b></a><a k='y'><b>4</b></a></r>")

    assert message.nodes == ("<b>1</b>", "<b>2</b>", "<b>4</b>")
