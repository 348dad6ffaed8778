"""What `explain` says of a subscription is what runs for it, and what it costs is what is done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from weft import Broker
from weft.engine.evaluation.machine_tests import MachineTests
from weft.engine.evaluation.readings import Readings
from weft.engine.fallbacks import THOROUGH

DOCUMENT = "<a><b>x</b><c>4</c><d/><d><e/></d></a>"
BINDINGS = "by shared conditions, then by the bindings of several variables, all queries together"
LONG = " and ".join(f"($v/c = 2 or not($w = {number}))" for number in range(5))
ODD = "a number that is not written with few digits, such as 1e3 or .5"
SEARCHED = "one binary search among all constants for each //a/b, and a fact for each constant that holds"


def explained(query: str, *others: str, document: str = DOCUMENT, **options: Any) -> list[str]:
    broker = Broker(**options)
    broker.subscribe(query, id="q")
    for number, other in enumerate(others):
        broker.subscribe(other, id=str(number))
    broker.publish(document)
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
        ("<r>{ for $v in //a, $w in $v/b return $w }</r>", "by shared conditions"),
        ("<r>{ for $v in //a, $w in $v/b where $v/c = 'x' or $w = 'y' return $w }</r>", "by shared conditions"),
        (f"<r>{{ for $v in //a, $w in $v/b where {LONG} return $w }}</r>", BINDINGS),
        ("<r>{ for $v in //a order by $v/b return $v }</r>", "by label paths alone"),
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
        ("//a[count(b) > 1]", "the count of b of each //a, once, and a binary search among all constants of it"),
        ("//a[3]", "the position of each //a, once, and a binary search among all constants of it"),
        ("//a[count(b[c = 'x']) > 1]", "one look-up among all constants for each //a/b/c"),
        ("//a except //b", "set operations on the results of its parts, once for each batch"),
        (
            "//a[c = 'x'][matches(b, 'y')]",
            "one pass over each //a/b for all constants of matches there; "
            "it does not drive, and is looked at all the same",
        ),
    ],
)
def test_it_says_what_a_document_costs_that_does_not_match(query: str, cost: str) -> None:
    lines = explained(query)

    assert f"  {cost}" in lines[lines.index("costs a document that it does not match") :]


@pytest.mark.parametrize("test", ["contains(b, 'y')", "starts-with(b, 'y')", "ends-with(b, 'y')", "b > 3"])
def test_a_test_that_does_not_drive_costs_nothing_where_nothing_else_holds(test: str) -> None:
    lines = explained(f"//a[c = 'x'][{test}]")

    costs = lines[lines.index("costs a document that it does not match") + 1 :]
    assert costs[0] == "  one look-up among all constants for each //a/c"
    assert not any("//a/b" in line for line in costs[: costs.index("")])


@pytest.mark.parametrize(
    ("query", "left"),
    [
        ("//a[matches(b, 'y')]", "Python hands each //a/b to RE2, for all patterns there at once"),
        ("//a[b = xs:date('2020-01-01')]", "Python reads the date or time of each //a/b that is looked at"),
        ("//a[b > 3]", f"Python reads the value of a //a/b where it may be {ODD}"),
        ("//a[b = 'x'][not(self::c)]", "Python looks at the name of each //a that is asked for it"),
        ("//a[b = 'x']", THOROUGH),
        (
            "<r>{ for $v in //a where $v/b > 3 return $v/c }</r>",
            f"Python reads the value of a //a/b where it may be {ODD}",
        ),
        (
            "<r>{ for $v in //a return $v/c[matches(d, 'y')] }</r>",
            "Python hands each //a/c/d to RE2, for all patterns there at once",
        ),
    ],
)
def test_it_says_what_is_left_to_python(query: str, left: str) -> None:
    lines = explained(query)

    assert f"  {left}" in lines[lines.index("left to Python") :]


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ("//a[matches(b, 'x')]", "matches"),
        ("//a[b = xs:date('2020-01-01')]", "instant"),
        ("//a[b > 3]", "number"),
        ("//a[d][not(self::c)]", "is_named"),
        ("//a[b = 'x'][contains(d, 'y')][starts-with(d, 'y')][d[2]][count(d) > 1]", ""),
    ],
)
def test_what_is_told_to_be_left_to_python_is_what_asks_it(
    query: str, asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = set[str]()

    def spied(name: str, own: Callable[..., Any]) -> Callable[..., Any]:
        def asking(*given: Any) -> Any:
            seen.add(name)
            return own(*given)

        return asking

    for name in ("instant", "number", "double", "is_named", "passes_first"):
        monkeypatch.setattr(Readings, name, spied(name, getattr(Readings, name)))
    monkeypatch.setattr(MachineTests, "passed", spied("matches", MachineTests.passed))

    lines = explained(query, document="<a><b>1e0</b><d/><d>y</d></a>")

    assert seen == ({asked} if asked else set())
    assert lines[lines.index("left to Python") + 1 :][: 1 + bool(asked)][-1] == f"  {THOROUGH}"


@pytest.mark.parametrize("query", ["/a/b", "//a except //b", "<r>{ for $v in //a return $v/b }</r>"])
def test_nothing_is_left_to_python_where_label_paths_are_enough(query: str) -> None:
    assert "left to Python" not in explained(query)


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
