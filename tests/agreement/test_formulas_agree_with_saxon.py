"""Functions of XPath 2 in formulas: a condition holds at the nodes at which Saxon says so."""

from collections.abc import Iterator

import pytest
from saxonche import PySaxonProcessor, PyXPathProcessor

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
