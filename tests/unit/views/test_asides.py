"""Queries that are left to the sources: where others lie in their answers, and they are not worth their space."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from bench.materialized_views.arena import CHARACTERISTICS
from bench.materialized_views.model import weigh
from bench.materialized_views.workload import Overlap, make_setting

from weft.views.asides import plan
from weft.views.planning import SelectionMethod, estimates_of
from weft.views.selection.ours import choose
from weft.views.server import QueryServer
from weft.views.sources.rates import Rate, Rates
from weft.views.workload import Workload, make_query, workload_of

RECORD = "<a><b>small {0}</b><c>{1}</c></a>"


def served(folder: Path) -> QueryServer:
    long = (" ".join(str(number * at) for at in range(200)) for number in range(300))
    records = "".join(RECORD.format(number, text) for number, text in enumerate(long))
    (folder / "s.xml").write_text(f"<s>{records}</s>", encoding="utf-8")
    server = QueryServer(folder / "server")
    server.add_source(folder / "s.xml", rates=Rates(Rate(1e6), Rate(1e6), Rate(0.01)))
    return server


def test_a_small_answer_that_lies_in_a_large_one_is_stored_alone_where_only_that_fits(tmp_path: Path) -> None:
    server = served(tmp_path)
    workload = workload_of([make_query("/s/a", 0.1), make_query("/s/a/b", 0.9)])
    wanted = [server.query(text).rows for text in ("/s/a", "/s/a/b")]

    paper, ours = (
        server.recommend(workload, 30_000, method) for method in (SelectionMethod.OPTIMUM, SelectionMethod.OURS)
    )
    manifest = server.materialize(ours)

    assert paper.choice.keys == ()  # of parts there is one, the large answer
    assert [query.text for query in ours.workload.queries] == ["/s/a/b"]
    assert 0 < manifest.size <= 30_000
    assert ours.time_before == paper.time_before
    assert ours.choice.time < 0.8 * paper.choice.time
    assert all(server.query(text).rows.equals(rows) for text, rows in zip(("/s/a", "/s/a/b"), wanted, strict=True))
    assert "from views" in server.query("/s/a/b").explain()


def test_where_all_fits_no_query_is_left_out(tmp_path: Path) -> None:
    server = served(tmp_path)
    workload = workload_of([make_query("/s/a", 0.1), make_query("/s/a/b", 0.9)])

    assert len(server.recommend(workload, 1e9).workload.queries) == 2


@pytest.mark.parametrize("overlap", ["few", "many"])
@pytest.mark.parametrize("seed", [101, 102])
def test_it_never_loses_to_storing_whole_answers(seed: int, overlap: Overlap) -> None:
    weighed = weigh(make_setting(seed, overlap, (20_000,) * 5, 10), CHARACTERISTICS["alike"])
    half = weighed.full / 2

    ours, whole = weighed.recommend(half).choice, choose(weighed.whole, half)

    assert ours.size <= half
    assert ours.time <= 1.01 * whole.time


def test_a_query_left_aside_that_others_contain_is_answered_by_them(tmp_path: Path) -> None:
    server = served(tmp_path)
    kept, aside = make_query("/s/a/b", 0.9, "kept"), make_query("/s/a/b[. = 'small 7']", 0.1, "aside")
    workload = workload_of([kept, aside])
    rows = {"s": server_rows(server, workload)}
    estimates = estimates_of(server.registry.entries())

    planned = plan(workload, rows, estimates, frozenset({"aside"}))
    everything = planned.problem.chosen(range(len(planned.problem.candidates)))

    assert [query.name for query in planned.workload.queries] == ["kept"]
    assert everything.time < 0.01 * planned.problem.time(())


def server_rows(server: QueryServer, workload: Workload) -> list[pa.Table]:
    return [server.query(query.text).rows for query in workload.queries]
