"""What formulas find, where they are refused, and what they share."""

from __future__ import annotations

import pickle
from unittest.mock import patch

import pytest

import weft
from weft.documents import read
from weft.engine import Engine
from weft.engine.formulas import node_view, worked_out
from weft.engine.formulas.node_view import Work
from weft.languages.xpath import parse
from weft.plans.formulas import Formula

DOCUMENT = "<r><a><k> x  y </k><p>3</p><q>4</q></a><a><k>z</k><p>1</p></a><b n='2'>é</b></r>"


def ask(query: str, document: str = DOCUMENT, **options: object) -> list[str]:
    broker = weft.Broker()
    broker.subscribe(query, **options)  # type: ignore[arg-type]
    return [node for message in broker.publish(document) for node in message.nodes]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("/r/a[normalize-space(k) = 'x y']/p", ["<p>3</p>"]),
        ("/r/a[upper-case(normalize-space(k)) = 'X Y']/p", ["<p>3</p>"]),
        ("/r/a[lower-case('Z') = k]/p", ["<p>1</p>"]),
        ("/r/a[p * q > 11]/p", ["<p>3</p>"]),
        ("/r/a[p < ../b/@n]/p", ["<p>1</p>"]),
        ("/r/a[not(following-sibling::a)]/p", ["<p>1</p>"]),
        ("/r/a[ends-with(concat(k, '!'), 'z!')]/p", ["<p>1</p>"]),
        ("(//p)[last()]", ["<p>1</p>"]),
        ("//a[position() mod 2 = 0]/k", ["<k>z</k>"]),
        ("//b/preceding-sibling::a[1]/p", ["<p>1</p>"]),
        ("//*[name() = 'b']", ["<b n='2'>é</b>"]),
        ("/r/a[some $x in p satisfies $x + 1 = count(../a)]/p", ["<p>1</p>"]),
        ("/r[every $x in a/p satisfies $x < sum(a/p)]/b/@n", ['n="2"']),
        ("//p[abs(. - 2) = 1][2]", []),
        ("/r/(a | b)[3]/@n", ['n="2"']),
        ("//a[(p | q)[2] = 4]/k/text()", [" x  y "]),
    ],
)
def test_formulas_find_what_they_say(query: str, found: list[str]) -> None:
    assert ask(query) == found


def test_formulas_in_where_are_of_the_variable() -> None:
    query = "<o>{ for $a in /r/a where $a/p * $a/q > 11 and upper-case($a/k) != 'Z' return $a/p }</o>"
    broker = weft.Broker()
    broker.subscribe(query)

    (message,) = broker.publish(DOCUMENT)

    assert message.text == "<o><p>3</p></o>"


def test_many_constants_are_looked_up_in_what_is_worked_out_once() -> None:
    broker = weft.Broker()
    for number in range(200):
        broker.subscribe(f"/r/a[normalize-space(k) = 'k{number}']", id=f"k{number}")
    broker.subscribe("/r/a[normalize-space(k) = 'x y']", id="found")
    calls = []
    work_of = worked_out.work_of

    def counting(formula: Formula) -> Work:
        work = work_of(formula)

        def worked(*at: object) -> object:
            calls.append(formula)
            return work(*at)  # type: ignore[arg-type]

        return worked

    with patch("weft.engine.formulas.batch_formulas.work_of", counting):
        assert broker.matches([DOCUMENT]) == [["found"]]

    assert len(calls) == 2  # once for each a


def test_what_looks_at_too_much_is_refused_and_all_others_are_answered() -> None:
    broker = weft.Broker()
    broker.subscribe("//a[count(preceding::a[count(preceding::a) > 1]) > 3]", id="dear")
    broker.subscribe("//a[string-length() = 3]", id="cheap")
    document = weft.Document("<r>" + "<a>abc</a>" * 300 + "</r>", id="many")

    with patch.object(node_view, "FEW_VISITS", 20_000), patch.object(node_view, "MOST_VISITS", 100_000):
        found = {message.subscription: len(message.nodes) for message in broker.publish(document)}

    assert found == {"cheap": 300}
    assert [refused.subscription for refused in broker.refused] == ["dear"]
    assert "formulas that look at more than" in broker.refused[0].reason


def test_an_engine_with_formulas_is_the_same_after_it_was_packed() -> None:
    engine = Engine()
    engine.add(0, parse("/r/a[p * q > 11]"))
    table = read([weft.Document(DOCUMENT, id="d")])
    first = engine.match(table).nodes()

    again = pickle.loads(pickle.dumps(engine)).match(table).nodes()

    assert [column.tolist() for column in again] == [column.tolist() for column in first] == [[0], [0], [1]]


def test_explain_says_what_is_worked_out_alone_and_why() -> None:
    broker = weft.Broker()
    broker.subscribe("//a/following-sibling::b[1]", id="alone")
    broker.subscribe("//a[b = c]", id="shared")

    alone, shared = broker.explain("alone"), broker.explain("shared")

    assert "one by one: label paths do not tell its nodes" in alone
    assert "/descendant::a/following-sibling::b[1]" in alone
    assert "by shared conditions" in shared
    assert "Python works out b = c" in shared
