"""Workloads that could hurt: many stored views, many sources, a large answer, many small refreshes. Each is probed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time

from bench.materialized_views.workload import make_source
from weft.views.planning import SelectionMethod
from weft.views.server import QueryServer
from weft.views.sources.rates import Rate, Rates
from weft.views.workload import make_query, workload_of

_ROUNDS = 7
_SLOW = Rates(Rate(1e6), Rate(1e6), Rate(0.01))
_RECORDS_OF_A_KIND = 5


@dataclass(frozen=True, slots=True)
class Hurting:
    """Milliseconds of the processor: of an answer by the number of views or sources, and so on."""

    by_views: dict[int, float]  # a query that is a view
    by_views_compensated: dict[int, float]  # one that a view contains
    by_sources: dict[int, float]  # one that is for all of them
    large_bytes: int
    large_cold_ms: float  # of a megabyte
    large_warm_ms: float
    refreshes: int
    refresh_ms: float  # mean, with all that is put together meanwhile
    after_refreshes: float  # a cold answer after them, times as long as before


def measure_hurting(views: tuple[int, ...], sources: tuple[int, ...], large: int, refreshes: int) -> Hurting:
    """Probe all of it."""
    plain, compensated = {}, {}
    for number in views:
        plain[number], compensated[number] = _with_views(number)
    by_sources = {number: _with_sources(number) for number in sources}
    return Hurting(plain, compensated, by_sources, *_large_answer(large), refreshes, *_refresh_often(refreshes))


def _times(action: Callable[[], object]) -> float:
    taken = []
    for _ in range(_ROUNDS):
        start = process_time()
        action()
        taken.append(process_time() - start)
    return median(taken) * 1e3


def _asked(server: QueryServer, query: str) -> Callable[[], object]:
    answer = server.query(query, record=False)
    assert "from views" in answer.explain(), answer.explain()
    assert answer.rows.num_rows, query
    return lambda: server.query(query, record=False).fragments()


def _store_all(server: QueryServer, queries: list[str]) -> None:
    workload = workload_of([make_query(text) for text in queries])
    server.materialize(server.recommend(workload, 1e12, SelectionMethod.GREEDY))


def _with_views(number: int) -> tuple[float, float]:
    """So many views over one source, each of its own kind of record."""
    with TemporaryDirectory() as folder, QueryServer(Path(folder, "server")) as server:
        records = (f"<r{at}><v>{at}</v><w k='1'/></r{at}>" * _RECORDS_OF_A_KIND for at in range(number))
        Path(folder, "s.xml").write_text(f"<s>{''.join(records)}</s>", encoding="utf-8")
        server.add_source(Path(folder, "s.xml"), rates=_SLOW)
        _store_all(server, [f"/s/r{at}" for at in range(number)])
        middle = number // 2
        return _times(_asked(server, f"/s/r{middle}")), _times(_asked(server, f"/s/r{middle}[w/@k = '1']/v"))


def _with_sources(number: int) -> float:
    """A view that each of so many sources has nodes of."""
    with TemporaryDirectory() as folder, QueryServer(Path(folder, "server")) as server:
        for at in range(number):
            file = Path(folder, f"s{at}.xml")
            file.write_text(f"<s{at}>{'<item>text</item>' * 20}</s{at}>", encoding="utf-8")
            server.add_source(file, rates=_SLOW)
        _store_all(server, ["//item"])
        return _times(_asked(server, "//item"))


def _large_answer(size: int) -> tuple[int, float, float]:
    """All of a document as one answer: by a server that has just started, and again."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "s1.xml")
        file.write_text(make_source(Random(1), "s1", size), encoding="utf-8")
        with QueryServer(Path(folder, "server")) as server:
            server.add_source(file, rates=_SLOW)
            _store_all(server, ["/s1/a"])
        megabytes = file.stat().st_size / 1e6
        with QueryServer(Path(folder, "server"), held_bytes=1 << 30) as server:
            start = process_time()
            server.query("/s1/a", record=False).fragments()
            cold = (process_time() - start) * 1e3
            return file.stat().st_size, cold / megabytes, _times(_asked(server, "/s1/a")) / megabytes


def _refresh_often(number: int) -> tuple[float, float]:
    """One record of a source changes, and it is refreshed, so many times."""
    with TemporaryDirectory() as folder, QueryServer(Path(folder, "server"), held_bytes=0) as server:
        file, random = Path(folder, "s1.xml"), Random(3)
        file.write_text(make_source(random, "s1", 500_000), encoding="utf-8")
        server.add_source(file, rates=_SLOW)
        _store_all(server, ["/s1/a/b", "/s1/a/*[g]"])
        before = _times(_asked(server, "/s1/a/b"))
        head, *records = file.read_text(encoding="utf-8").split("<a>")
        taken = 0.0
        for _ in range(number):
            at = random.randrange(len(records) - 1)
            records[at] = records[at].replace("</", f" {random.randrange(1000)}</", 1)
            file.write_text("<a>".join([head, *records]), encoding="utf-8")
            start = process_time()
            server.refresh()
            taken += process_time() - start
        return taken / number * 1e3, _times(_asked(server, "/s1/a/b")) / before
