"""What is told about a plan: its operators, places and costs, what was rejected; and the picture of plans over time."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from weft import Document
from weft.errors import ConfigurationError, DocumentError
from weft.optimizer import ElementMatcher, draw_runs, explain_costs, read_elements
from weft.optimizer.search import FoundPlan, RejectedChange
from weft.optimizer.unit_costs import UnitCosts, calibrate, unit_costs

UNITS = UnitCosts(narrow_byte=1, whole_byte=2.2, row=0.5, visit=90, test=140, call=30_000, cut=1_000, observe=1_500)
AUCTION = "<auction>{reserve}<bidder><zip>0160{zip}</zip></bidder></auction>"


def auctions(number: int) -> list[Document]:
    """Every tenth has a reserve, and every third the zip code."""
    return [
        Document(AUCTION.format(reserve="<reserve/>" if at % 10 == 0 else "", zip=9 if at % 3 == 0 else 1), str(at))
        for at in range(number)
    ]


def test_the_costs_of_a_plan_are_told_pattern_by_pattern() -> None:
    matcher = ElementMatcher("/auction[reserve][bidder[zip = '01609']]", units=UNITS)
    matcher.matches(auctions(2_000))

    told = explain_costs(matcher)

    assert "optimizer   greedy" in told
    assert "10.0%" in told  # the reserve's selectivity
    for pattern in ("/reserve", "/bidder", '/bidder/zip value = "01609"'):
        assert any(line.startswith(pattern) for line in told.splitlines())
    assert {"observed", "expected", "migrations"} <= {line.split(" ")[0] for line in told.splitlines() if line}


def test_a_plan_that_never_ran_has_no_observed_costs() -> None:
    told = explain_costs(ElementMatcher("/auction[reserve > 1][zip]", units=UNITS))

    assert "observed    " not in told
    assert "not looked at" in told
    assert "–" in told  # what is not known is not zero


def test_a_change_that_was_rejected_says_why() -> None:
    matcher = ElementMatcher("/auction[reserve][bidder]", optimizer="fast-prune", units=UNITS)
    matcher.matches(auctions(2_000))
    pruned = RejectedChange(0, None, "Lemma 3: it costs more out than it saves")
    costed = RejectedChange(1, matcher.cost.total + 50, "it would not cost less")
    matcher.found = FoundPlan(matcher.cost, 2, {0: pruned, 1: costed})

    told = explain_costs(matcher)

    assert "Lemma 3: it costs more out than it saves" in told
    assert "+50 ns: it would not cost less" in told


def test_a_query_without_patterns_says_so() -> None:
    assert "no pattern is in or out" in explain_costs(ElementMatcher("//auction"))


def test_plans_and_costs_are_drawn_over_time() -> None:
    matcher = ElementMatcher("/auction[reserve][bidder/zip = '01609']", optimizer="fixed", units=UNITS)
    for inside in (frozenset({0, 1}), frozenset[int](), frozenset({0})):
        matcher.migrate(inside)
        matcher.matches(auctions(300))

    drawn = ElementTree.fromstring(draw_runs(matcher))

    space = "{http://www.w3.org/2000/svg}"
    assert len(drawn.findall(f"{space}rect")) == 3
    line = drawn.find(f"{space}polyline")
    assert line is not None
    assert len(str(line.get("points")).split()) == len(matcher.runs)
    assert ElementTree.fromstring(draw_runs(ElementMatcher("/a"))) is not None


def test_elements_are_cut_out_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "auctions.xml"
    file.write_text(f"<auctions>{''.join(str(each.data) for each in auctions(50))}<auction>", encoding="utf-8")

    *elements, last = read_elements(file, "auction")

    assert len(elements) == 50
    assert isinstance(last, DocumentError)
    matcher = ElementMatcher("/auction[reserve]")
    assert len(list(matcher.stream(read_elements(file, "auction")))) == 5
    assert len(matcher.take_rejected()) == 1
    assert matcher.take_rejected() == []
    with pytest.raises(ConfigurationError, match="row tag"):
        next(read_elements(file, "<"))


def test_unit_costs_are_measured_once() -> None:
    costs = unit_costs()

    assert unit_costs() is costs
    assert all(getattr(costs, name) > 0 for name in UnitCosts.__slots__)


def test_a_clock_that_stands_still_still_gives_costs_above_zero() -> None:
    assert calibrate(lambda: 0).call > 0
