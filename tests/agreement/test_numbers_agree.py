"""What text is a number: XPath as lxml reads it, FLWR as Saxon does, and both in one broker."""

import pytest
from lxml import etree
from saxonche import PySaxonProcessor

import weft
from weft.reference.pathsharing.approaches import Approach

TEXTS = ["0.52", "+0.52", "-0.52", " 7 ", "1e3", "+1E+3", "INF", "-INF", "+INF", "1.", ".5", "+.5", "-.5", "007"]
#: No numbers. lxml reads `1e` as 1, Saxon raises an error for them all: so they are compared by what they are not.
WORDS = ["abc", "", "+", "1,000", "0x10", "Infinity", "inf", "1_0", "--1", "+-1", "１"]
OPERATORS = ["=", "!=", "<", "<=", ">", ">="]
CONSTANTS = ["0.52", "0", "1000", "-0.52"]


@pytest.fixture(scope="module")
def answers() -> dict[tuple[str, str, str], dict[str, bool]]:
    """For each text, operator and constant whether the XPath and the FLWR query match, all in one broker."""
    broker = weft.Broker()
    for operator in OPERATORS:
        for constant in CONSTANTS:
            broker.subscribe(f"/a[. {operator} {constant}]", id=f"xpath {operator} {constant}")
            flwr = f"<r>{{for $a in /a where $a {operator} {constant} return $a}}</r>"
            broker.subscribe(flwr, id=f"flwr {operator} {constant}")
    found = broker.matches([f"<a>{text}</a>" for text in TEXTS + WORDS])
    return {
        (text, operator, constant): {way: f"{way} {operator} {constant}" in matches for way in ("xpath", "flwr")}
        for text, matches in zip(TEXTS + WORDS, found, strict=True)
        for operator in OPERATORS
        for constant in CONSTANTS
    }


def test_xpath_reads_numbers_as_lxml_does(answers: dict[tuple[str, str, str], dict[str, bool]]) -> None:
    wrong = []
    for (text, operator, constant), answer in answers.items():
        root = etree.fromstring(f"<a>{text}</a>")
        if answer["xpath"] != bool(root.xpath(f"/a[. {operator} {constant}]")):
            wrong.append((text, operator, constant))

    assert wrong == []


def test_flwr_reads_numbers_as_saxon_does(answers: dict[tuple[str, str, str], dict[str, bool]]) -> None:
    wrong = []
    with PySaxonProcessor(license=False) as processor:
        query = processor.new_xquery_processor()
        for (text, operator, constant), answer in answers.items():
            if text in TEXTS:
                query.set_context(xdm_item=processor.parse_xml(xml_text=f"<a>{text}</a>"))
                query.set_query_content(f"/a {operator} {constant}")
                if str(query.run_query_to_value()) != str(answer["flwr"]).lower():
                    wrong.append((text, operator, constant))

    assert wrong == []


def test_what_is_no_number_compares_with_nothing_and_differs_from_all(
    answers: dict[tuple[str, str, str], dict[str, bool]],
) -> None:
    for (text, operator, _), answer in answers.items():
        if text in WORDS:
            assert answer == {"xpath": operator == "!=", "flwr": operator == "!="}


def test_not_a_number_is_not_less_more_or_equal() -> None:
    broker = weft.Broker()
    for operator in OPERATORS:
        broker.subscribe(f"<r>{{for $a in /a where $a {operator} 1 return $a}}</r>", id=operator)

    assert broker.matches("<a>NaN</a>") == [["!="]]


@pytest.mark.parametrize("approach", ["F", "FW", "FWR"])
def test_every_approach_reads_numbers_as_the_shared_plan_does(approach: Approach) -> None:
    broker = weft.Broker(approach=approach)
    broker.subscribe("<r>{for $a in //a where $a/b > 0.1 return $a}</r>", id="flwr")
    broker.subscribe("//a[b > 0.1]", id="xpath")

    found = broker.matches([f"<a><b>{text}</b></a>" for text in ("+0.52", "INF", "0.52", "-INF")])

    assert found == [["flwr"], ["flwr"], ["flwr", "xpath"], []]
