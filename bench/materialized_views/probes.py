"""Single steps of the query server, timed by themselves: containment, refreshing, an answer beside Saxon's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

from bench.materialized_views.workload import SOURCES, make_source
from bench.measure import Child, ChildLostError
from weft.languages.xpath import parse
from weft.plans.containment import contains
from weft.views.answering import StoredView, ViewIndex, find_rewriting
from weft.views.server import QueryServer
from weft.views.sources.rates import Rate, Rates
from weft.views.workload import Workload, make_query, workload_of

_VIEWS = 1_000
_CHANGED = 0.01
_ROUNDS = 5
_REFRESHES = 9
_TIMEOUT = 120.0
_SLOW = Rates(Rate(1e6), Rate(1e6), Rate(0.01))  # as if the file were far away, so that all of it is worth storing
_QUERIES = ("/s1/a/b", "/s1/a/c[g]", "/s1/a/d/h", "/s1/a/e[@k = '1']", "/s1/a/*[g]", "/s1/a/b | /s1/a/f")
_ASKED = ("/s1/a/c[g]", "/s1/a/e[@k = '1']", "/s1/a/b", "/s1/a/b[@k = '2']", "/s1/a/f[h]")  # the last two: ad hoc
_KNOWN = 3


@dataclass(frozen=True, slots=True)
class Containment:
    """Microseconds, medians: of one check, and of finding how 1,000 views answer a query, or that they do not."""

    check_us: float
    find_us: float
    answered: float  # the share of queries that views answer


@dataclass(frozen=True, slots=True)
class RefreshTimes:
    """Seconds to store the views of a file anew, and to refresh them after some of it has changed: of the processor.

    The mean is over all refreshes, with what is written anew now and then to let go of old rows; `*_wall` by the clock.
    """

    size: int
    changed: int  # records, of all:
    records: int
    anew: float
    refresh: float
    refresh_mean: float
    anew_wall: float
    refresh_wall: float

    @property
    def cost(self) -> float:
        """What a refresh takes of storing anew."""
        return self.refresh / self.anew


@dataclass(frozen=True, slots=True)
class BesideSaxon:
    """Milliseconds of the processor for an answer as text, means over queries: from views, and by Saxon.

    Saxon has the document in memory. A cold answer is read from the disk's files, any other was held in memory.
    """

    size: int
    view_ms: float
    cold_ms: float
    known_ms: float  # of queries that are views
    saxon_ms: float | None
    saxon_parse_ms: float | None
    reason: str = ""


def measure_containment(seed: int, queries: int) -> Containment:
    """Patterns of the paper's fragment with values, over five sources."""
    random = Random(seed)
    tails = ("", "/g", "/h", "[g]", "[h]", "[g][h]", "[not(g)]")
    forms = product(SOURCES, ("b", "c", "d", "e", "f", "*"), ("", *(f"[@k = '{k}']" for k in range(5))), tails)
    texts = [f"/{source}/a/{child}{value}{tail}" for source, child, value, tail in forms]
    random.shuffle(texts)
    views = [StoredView(text, parse(text)) for text in texts[:_VIEWS]]
    asked = [parse(text) for text in random.choices(texts, k=queries)]  # most are views, some are not
    checks, finds, found = [], [], 0
    for query in asked:
        for view in random.sample(views, 20):
            start = perf_counter()
            contains(view.selection, query)
            checks.append(perf_counter() - start)
    others = [parse(f"{text}[@k]") for text in random.choices(texts, k=queries)]
    index = ViewIndex(views)
    for query in [*asked, *others]:
        start = perf_counter()
        found += find_rewriting(query, index) is not None
        finds.append(perf_counter() - start)
    return Containment(median(checks) * 1e6, median(finds) * 1e6, found / len(finds))


@contextmanager
def _stored_file(size: int, seed: int) -> Iterator[tuple[QueryServer, Path, float]]:
    """A server with a file of about so many bytes and all its views stored; and the seconds that storing them took."""
    with TemporaryDirectory() as folder, QueryServer(Path(folder, "server")) as server:
        file = Path(folder, "s1.xml")
        file.write_text(make_source(Random(seed), "s1", size), encoding="utf-8")
        server.add_source(file, rates=_SLOW)
        found = server.recommend(_workload(), 1e12)
        start = perf_counter()
        server.materialize(found)
        yield server, file, perf_counter() - start


def measure_refresh(size: int, seed: int) -> RefreshTimes:
    """Change records here and there, refresh, and so on; and store all anew."""
    random = Random(seed)
    with _stored_file(size, seed) as (server, file, _):
        refreshed = []
        for _ in range(_REFRESHES):
            records, changed = _change(file, random)
            refreshed.append(_timed(server.refresh))
        found = server.recommend(_workload(), 1e12)
        stored = [_timed(lambda: server.materialize(found)) for _ in range(3)]
        of_processor, of_clock = zip(*refreshed, strict=True)
        anew, anew_wall = (median(each) for each in zip(*stored, strict=True))
        mean = sum(of_processor) / len(of_processor)
        times = anew, median(of_processor), mean, anew_wall, median(of_clock)
        return RefreshTimes(file.stat().st_size, changed, records, *times)


def _timed(action: Callable[[], object]) -> tuple[float, float]:
    """Seconds of the processor, and by the clock."""
    processor, clock = process_time(), perf_counter()
    action()
    return process_time() - processor, perf_counter() - clock


def _workload() -> Workload:
    return workload_of([make_query(text) for text in _QUERIES])


def _change(file: Path, random: Random) -> tuple[int, int]:
    """Give 1 % of the records another text; how many there are, and how many were changed."""
    head, *records = file.read_text(encoding="utf-8").split("<a>")
    chosen = random.sample(range(len(records) - 1), round(_CHANGED * len(records)))
    for at in chosen:
        records[at] = records[at].replace("</", f" {random.randrange(1000)}</", 1)
    file.write_text("<a>".join([head, *records]), encoding="utf-8")
    return len(records), len(chosen)


def _answer_all(server: QueryServer) -> tuple[list[float], list[int]]:
    """By query the median milliseconds of the processor for its answer as text, and the nodes that it has."""
    times, counts = [], []
    for text in _ASKED:
        taken = []
        for _ in range(_ROUNDS):
            start = process_time()
            answer = server.query(text, record=False)
            fragments = answer.fragments()
            taken.append(process_time() - start)
        assert "from views" in answer.explain(), answer.explain()
        counts.append(len(fragments))
        times.append(median(taken) * 1e3)
    return times, counts


def measure_answers(size: int, seed: int) -> BesideSaxon:
    """The same queries on the same document: from its views, and by Saxon."""
    with _stored_file(size, seed) as (server, file, _):
        times, counts = _answer_all(server)
        with QueryServer(server.folder, held_bytes=0) as unprepared:
            cold, _ = _answer_all(unprepared)
        known = times[:_KNOWN]
        ours = sum(times) / len(times), sum(cold) / len(cold), sum(known) / len(known)
        child = Child("bench.materialized_views.saxon_loop", list(_ASKED), _ROUNDS)
        try:
            saxon_ms, parse_ms, theirs = child.ask(file.read_bytes(), _TIMEOUT)
        except ChildLostError as error:
            return BesideSaxon(file.stat().st_size, *ours, None, None, str(error))
        finally:
            child.close()
        assert theirs == counts, f"Saxon has {theirs} nodes, views have {counts}"
        return BesideSaxon(file.stat().st_size, *ours, saxon_ms, parse_ms)
