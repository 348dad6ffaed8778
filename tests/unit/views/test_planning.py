"""What is recommended for a workload: by each method, within budgets, and for that of the paper's introduction."""

from __future__ import annotations

from pathlib import Path

import pytest

from query_servers import choosing, queries, server_over
from weft.views.planning import SelectionMethod
from weft.views.sources.rates import Rate, Rates
from weft.views.workload import read_lines

#: The workload of five sources in the paper's introduction.
PAPER = """
/s1/a/* (0.1)
/s1/a/b (0.15)
/s2/a/b[c] (0.05)
/s2/a/b[d] (0.12)
/s3/a/b ∪ /s3/a/c (0.2)
/s3/a/b (0.08)
/s4/a/{b} (0.1)
/s4/a/{c} (0.07)
/s5/a/b/c (0.05)
/s5/a/*/c (0.08)
"""
RECORD = "<a><b><c>1</c><d>2</d></b><c><c>3</c></c><e><d>4</d></e></a>"


def paper_sources() -> dict[str, str]:
    return {f"s{at}.xml": f"<s{at}>{RECORD * (20 * at)}</s{at}>" for at in range(1, 6)}


@pytest.mark.slow
def test_the_workload_of_the_papers_introduction_is_recommended_for_and_answered(tmp_path: Path) -> None:
    rates = Rates(Rate(1e6), Rate(1e6), Rate(0.01))  # measured ones change from one recommendation to the next
    server = server_over(tmp_path, paper_sources(), rates=rates)
    workload = read_lines(PAPER.strip().splitlines())
    expected = {query.text: server.query(query.text).rows.to_pylist() for query in workload.queries}
    full = server.recommend(workload, 1e9)
    times = []

    for budget in (0, full.choice.size / 3, 2 * full.choice.size / 3, 1e9):
        found = server.recommend(workload, budget)
        times.append(found.choice.time)
        server.materialize(found)
        for text, rows in expected.items():
            answer = server.query(text)
            assert answer.rows.to_pylist() == rows, answer.explain()

    assert times == sorted(times, reverse=True)
    assert set(full.answered().values()) == {1.0}
    assert all("from views" in server.query(text).explain() for text in expected)
    assert all(rows for rows in expected.values())


@pytest.mark.parametrize("method", list(SelectionMethod))
def test_every_method_keeps_to_the_budget_and_saves_time(tmp_path: Path, method: SelectionMethod) -> None:
    server = server_over(tmp_path, paper_sources())
    workload = read_lines(PAPER.strip().splitlines())
    budget = server.recommend(workload, 1e9).choice.size // 2

    found = server.recommend(workload, budget, method)

    assert 0 < found.choice.size <= budget
    assert found.choice.time < found.time_before
    assert found.within(0).choice.keys == ()


def test_a_recommendation_tells_what_its_parts_are(tmp_path: Path) -> None:
    server = server_over(tmp_path, {"s.xml": "<s><a><b/></a><c/></s>"})
    found = server.recommend(queries("/s/*", "/s/a"), 1e9)

    names = {query.text: query.name for query in found.workload.queries}
    told = set(found.definitions().values())
    half = choosing(found, [0])

    assert len(told) == 2
    assert all("/s/*" in text for text in told)
    assert set(found.answered()) == set(names.values())
    assert half.answered()[names["/s/*"]] == 0.5
