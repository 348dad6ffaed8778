"""What `explain` says of a subscription is what runs for it, and what it costs is what is done."""

from __future__ import annotations

from typing import Any

import pytest

from weft import Broker

DOCUMENT = "<a><b>x</b><c>4</c><d/><d><e/></d></a>"
SEVERAL = "one by one: bindings of several variables, or in an order"
SEARCHED = "one binary search among all constants for each //a/b, and a fact for each constant that holds"


def explained(query: str, *others: str, **options: Any) -> list[str]:
    broker = Broker(**options)
    broker.subscribe(query, id="q")
    for number, other in enumerate(others):
        broker.subscribe(other, id=str(number))
    broker.publish(DOCUMENT)
    return broker.explain("q").splitlines()


@pytest.mark.parametrize(
    ("query", "way"),
    [
        ("/a/b", "by label paths alone"),
        ("/a/b | //c", "by label paths alone"),
        ("/a[b = 'x']/c", "by shared conditions"),
        ("//a except //b", "one by one: from the results of its parts, node by node"),
        ("<r>{ for $v in //a return $v/b }</r>", "by label paths alone"),
        ("<r>{ for $v in //a where $v/b = 'x' return $v/b }</r>", "by shared conditions"),
        ("<r>{ for $v in //a, $w in $v/b return $w }</r>", SEVERAL),
        ("<r>{ for $v in //a order by $v/b return $v }</r>", SEVERAL),
    ],
)
def test_it_says_how_a_subscription_is_answered(query: str, way: str) -> None:
    assert f"answered {way}" in explained(query)


def test_what_runs_is_told_with_what_drives_it_and_what_is_shared() -> None:
    lines = explained("//a[b = 'x'][c > 3]/d[not(e)]", "//a[b = 'x']/c")

    begin = lines.index("answered by shared conditions")
    assert lines[begin + 1 : begin + 10] == [
        "  result 0: each //a/d with",
        "    pattern //a/d",
        "      driver: from all of, at //a",
        "        driver: //a has b with  (in 2 conditions)",
        '          value = "x" at //a/b',
        "        //a has c with",
        "          value > 3 at //a/c",
        "      all of, at //a/d",
        "        not: //a/d has e",
    ]


@pytest.mark.parametrize(
    ("query", "cost"),
    [
        ("/a/b", "nothing: a document without its label paths does not come near it"),
        ("//a[b = 'x']", "one look-up among all constants for each //a/b"),
        ("//a[b > 3]", SEARCHED),
        ("//a[contains(.//b, 'x')]", "one pass over each //a//b for all constants of contains there"),
        ("//a[b]/c", "a fact for each //a that has b"),
        ("//a[count(b) > 1]", "a look at each //a"),
        ("//a except //b", "set operations on the results of its parts, once for each batch"),
        (
            "//a[c = 'x'][contains(b, 'y')]",
            "one pass over each //a/b for all constants of contains there; "
            "it does not drive, and is looked at all the same",
        ),
    ],
)
def test_it_says_what_a_document_costs_that_does_not_match(query: str, cost: str) -> None:
    lines = explained(query)

    assert f"  {cost}" in lines[lines.index("costs a document that it does not match") :]


def test_it_says_with_whom_a_subscription_shares() -> None:
    lines = explained("/a[b = 'x']", "/a[b = 'x']", "/a[b = 'y']")

    assert "  result 0: wanted by 2 subscriptions" in lines
    assert "  template: 3 subscriptions with this plan, constants aside" in lines


def test_the_operators_of_the_paper_are_told_only_where_an_approach_is_asked_for() -> None:
    query = "<r>{ for $v in //a where $v/b = 'x' return $v/c }</r>"

    shared, own = explained(query), explained(query, approach="FWR")

    assert not any("Semijoin" in line or "Select" in line for line in shared)
    assert "answered one by one: PathSharing-FWR, operators of its own over shared paths" in own
    assert any("Semijoin" in line for line in own)


def test_a_graph_has_a_box_for_each_line_of_what_runs() -> None:
    broker = Broker()
    broker.subscribe("//a[b = 'x']/c", id="q")

    dot, svg = broker.explain_graph("q"), broker.explain_graph("q", "svg")

    assert dot.count("[label=") == svg.count("<rect") == 5
    assert "result 0: each //a/c with" in dot
    assert "result 0: each //a/c with" in svg


def test_a_comparison_that_does_not_drive_costs_nothing_where_nothing_else_holds() -> None:
    lines = explained("//a[c = 'x'][b > 3]")

    costs = lines[lines.index("costs a document that it does not match") + 1 :]
    assert costs[0] == "  one look-up among all constants for each //a/c"
    assert not any("//a/b" in line for line in costs)
