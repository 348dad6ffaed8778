"""Queries that are left to the sources: where others lie in their answers, and they are not worth their space."""

from __future__ import annotations

from pathlib import Path

from weft.views.planning import SelectionMethod
from weft.views.server import QueryServer
from weft.views.sources.rates import Rate, Rates
from weft.views.workload import make_query, workload_of

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
