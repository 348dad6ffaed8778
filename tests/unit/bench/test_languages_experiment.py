"""The experiment on languages: its queries are taken, have Saxon's results, and all its figures are told."""

from pathlib import Path

import pytest
from bench.contest import DisagreementError
from bench.languages.constructs import CONSTRUCTS, MeasuredConstruct
from bench.languages.experiment import xmark_taken
from bench.languages.measuring import LanguageEffort, Workload, measure_construct
from bench.languages.report import make_report
from bench.page import markers

from weft.languages import parse

ROOT = Path(__file__).parents[3]
TINY = LanguageEffort(queries=40, batches=1, beside=2)


@pytest.mark.parametrize("construct", CONSTRUCTS, ids=lambda construct: construct.name)
def test_queries_of_a_construct_differ_in_their_constants_and_are_taken(construct: MeasuredConstruct) -> None:
    queries, bases = construct.queries(3), construct.bases(3)

    assert len({*queries, *bases}) == 6
    for query in (queries[0], bases[0]):
        parse(query, construct.language)


def test_names_of_constructs_are_distinct() -> None:
    assert len({each.name for each in CONSTRUCTS}) == len(CONSTRUCTS)


def test_all_queries_of_xmark_are_taken() -> None:
    assert xmark_taken() == 20


@pytest.mark.slow
def test_constructs_are_measured_and_told_beside_saxon() -> None:
    workload = Workload(TINY)
    unknown = MeasuredConstruct("try", "xquery", "for $a in //KEY return try { 1 } catch * { 2 }", "<r/>")

    found = [measure_construct(each, workload) for each in (CONSTRUCTS[0], CONSTRUCTS[-1], unknown)]
    report = make_report(found, 20, TINY)

    assert report.figures["constructs_taken"] == 2
    assert report.figures["constructs"] == 3
    assert found[1].over_base is not None
    assert found[1].vs_saxon is not None
    assert report.figures["slowest_vs_saxon"] == min(each.vs_saxon for each in found if each.vs_saxon)
    assert found[1].way.startswith("alone")
    assert found[2].reason.startswith("XQuery 1:23: try is not supported")
    assert len(report.tables[1].rows) == 3


@pytest.mark.slow
def test_a_difference_from_saxon_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.languages.measuring._canonical", lambda text: text.upper() or b"none")
    wrong = MeasuredConstruct("wrong", "xquery", "for $a in /site/auction[reserve = 'kNUMBER'] return <i/>", "/site")

    with pytest.raises(DisagreementError):
        measure_construct(wrong, Workload(LanguageEffort(queries=1_000, batches=1, beside=4)))


def test_the_page_has_its_markers() -> None:
    text = (ROOT / "docs" / "results-languages.md").read_text()

    assert all(mark in text for mark in markers("languages"))
