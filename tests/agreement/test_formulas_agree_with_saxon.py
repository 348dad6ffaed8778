"""Formulas with functions of XPath 2, and in where clauses of FLWR: they hold where Saxon says so."""

import re
from collections.abc import Iterator

import pytest
from saxonche import PySaxonProcessor, PyXPathProcessor, PyXQueryProcessor

import weft
from oracle import table_of
from weft.engine import Engine
from weft.languages.xpath import parse

TEXTS = ("", "a", "B", "é", "É", "straße", "ΣΑΣ", "İ", "x y", "A1", "ﬁn", "dž", "foo", "FOO")
DOCUMENT = f"<r>{''.join(f'<t><u>{text}</u><n>{at - 3}</n></t>' for at, text in enumerate(TEXTS))}</r>"
CONDITIONS = (
    *("upper-case(u) = 'FOO'", "lower-case(u) = 'foo'", "upper-case(u) = u", "lower-case(u) = u", "lower-case(u) != u"),
    *("upper-case(u) = 'STRASSE'", "lower-case(u) = 'σας'", "string-length(upper-case(u)) > string-length(u)"),
    *("ends-with(upper-case(u), 'OO')", "ends-with(concat(u, n), '1')", "ends-with(u, substring(u, 2))"),
    *("abs(number(n)) = 2", "abs(number(n)) > number(n)", "some $x in u satisfies upper-case($x) = 'A'"),
    *("every $x in * satisfies string-length($x) > 1", "substring(upper-case(u), 2, 1) = 'O'"),
    *("exists(u[upper-case(.) = 'B'])", "empty(following-sibling::t[lower-case(u) = 'foo'])"),
    *("if (number(n) > 2) then lower-case(u) = u else upper-case(u) = u", "round(number(n) div 2) = 1"),
)

PRICES = (
    "<r><a><p>3</p><q>4</q><s> x  Y </s></a><a><p>10</p><q>2.5</q><s>b</s></a><a><p>7</p><s>xY</s></a><a><q>7</q></a>"
    "<a><p>1</p><q>1</q><s></s></a></r>"
)
WHERE = (
    "$a/p * $a/q > 11",
    "$a/p * $a/q != 12",
    "$a/p = $a/q",
    "$a/p < $a/q",
    "$a/p != $a/q",
    "number($a/p) < number($a/q)",
    "$a/p + 1 = 4",
    "$a/p - $a/q <= 0",
    "normalize-space($a/s) = 'x Y'",
    "upper-case($a/s) = 'XY'",
    "string-length($a/s) > 2",
    "concat($a/p,'-',$a/q) = '3-4'",
    "contains($a/s,'x') and $a/p * 2 > 5",
    "not($a/p * 2 > 5)",
    "-$a/p < -5",
    "$a/p div $a/q > 1",
    "$a/p mod 2 = 1",
    "count($a/*) * 2 = 6",
    "round($a/q) = 3",
    "floor($a/q) = 2",
    "substring($a/s, 2, 1) = 'Y'",
    "$a/p > count($a/*)",
    "$a/following-sibling::a/p = 7",
    "count($a/preceding-sibling::a) = 1",
    "exists($a/q) and $a/q * 2 = 5",
    "some $x in $a/p satisfies $x * 2 = 6",
    "$a/s < 'c'",
    "lower-case($a/s) >= 'c'",
    "abs($a/p - 5) = 2",
    "$a/p = 3 + 4",
    "starts-with(substring-after($a/s,'x'),'Y')",
    "local-name($a/*[1]) = 'q'",
    "translate($a/s,'xY','ab') = 'ab'",
    "round($a/q) != 3",
    "-$a/q != 1",
    "abs($a/p) != 3",
    "floor($a/q) < 3",
    "$a/q * 2 != $a/p",
)


@pytest.fixture(scope="module")
def saxon() -> Iterator[PyXPathProcessor]:
    with PySaxonProcessor(license=False) as processor:
        evaluator = processor.new_xpath_processor()
        evaluator.set_context(xdm_item=processor.parse_xml(xml_text=DOCUMENT))
        yield evaluator


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_condition_holds_where_saxon_says_so(saxon: PyXPathProcessor, condition: str) -> None:
    told = str(saxon.evaluate(f"string-join(/r/t[{condition}]/n, ' ')").head)
    table = table_of([DOCUMENT])
    engine = Engine()
    engine.add(0, parse(f"/r/t[{condition}]/n"))

    found = [table.string_value(node) for node in engine.match(table).nodes()[2].tolist()]

    assert " ".join(found) == told


@pytest.fixture(scope="module")
def saxon_xquery() -> Iterator[PyXQueryProcessor]:
    with PySaxonProcessor(license=False) as processor:
        evaluator = processor.new_xquery_processor()
        evaluator.set_context(xdm_item=processor.parse_xml(xml_text=PRICES))
        yield evaluator


@pytest.mark.parametrize("where", WHERE)
def test_a_where_clause_finds_what_saxon_finds(saxon_xquery: PyXQueryProcessor, where: str) -> None:
    query = f"<o>{{ for $a in /r/a where {where} return <i>{{ $a/p }}{{ $a/q }}</i> }}</o>"
    saxon_xquery.set_query_content(query)
    told = saxon_xquery.run_query_to_string().partition("?>")[2]
    broker = weft.Broker()
    broker.subscribe(query)

    found = [message.text for message in broker.publish(PRICES)] or ["<o/>"]

    assert "".join(found).split() == re.sub(r">\s+<", "><", told).split()
