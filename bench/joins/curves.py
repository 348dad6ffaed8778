"""Workloads that would hurt joins: sizes in, a curve for each out, in microseconds of processor time a document.

Each varies one thing and keeps what is found nearly the same: distinct queries, a value that all documents have,
windows that count documents, nodes of a variable, single documents, and a query that publishes beside one that does
not.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from statistics import median
from time import process_time

from psutil import Process

from weft.documents import Document, read
from weft.joins.joins import Joins
from weft.languages.xscl import parse

_BATCH = 100
_BATCHES = 5  # of which the median counts
_VALUES = 1_000
_SAMPLED = 20  # of the queries that differ, each of which is answered alone
_PAIR = "S/a[c->c][u->u] FOLLOWED BY{c=d AND u=v, 1 day} S/b[c->d][u->v]"
_SILENT = "S/never[c->c] FOLLOWED BY{c=d, 1 day} S/b[c->d] PUBLISH T"

Make = Callable[[int], str]


@dataclass(frozen=True, slots=True)
class CurvesEffort:
    """How far each thing is varied; the first and the last of each are compared."""

    distinct: tuple[int, ...] = (5_000, 20_000, 100_000)
    hot: tuple[int, ...] = (1_000, 4_000, 16_000)
    window: int = 4_000
    nodes: tuple[int, ...] = (10, 100, 1_000)


@dataclass(frozen=True, slots=True)
class Curves:
    """Microseconds a document, by size; and what stands for itself."""

    distinct: dict[int, float]
    load_per_second: float
    megabytes: float  # by which the process has grown for the last of them
    one_after_the_other: float  # microseconds a document for the last number of them, each query alone
    hot: dict[int, float]
    windows: dict[str, float]
    nodes: dict[int, float]
    alone: dict[str, float] = field(default_factory=dict)

    @property
    def each(self) -> Iterator[tuple[str, dict[str, float]]]:
        """Each curve with its name."""
        yield "distinct queries", _named(self.distinct)
        yield "documents held that have the same value", _named(self.hot)
        yield "a window", self.windows
        yield "nodes of each of three joined fields", _named(self.nodes)
        yield "two documents that join, in batches of 100", self.alone


def measure_curves(effort: CurvesEffort) -> Curves:
    """All curves."""
    distinct: dict[int, float] = {}
    load, megabytes, size = 0.0, 0.0, 1
    for size in effort.distinct:
        joins, before = Joins(), Process().memory_info().rss
        start = process_time()
        for number in range(size):
            joins.add(number, parse(_distinct(number)))
        load = size / (process_time() - start)
        megabytes = (Process().memory_info().rss - before) / 1e6
        distinct[size] = _in_batches(joins, _users(size))
    alone = [_in_batches(_with(_distinct(number)), _users(size)) for number in range(0, size, size // _SAMPLED)]
    hot = {size: _hot(size) for size in effort.hot}
    unit = effort.window
    windows = {f"{unit:,} {kind}": _windowed(f"{unit} {kind}", unit) for kind in ("seconds", "documents")}
    nodes = {size: _many_nodes(size) for size in effort.nodes}
    return Curves(distinct, load, megabytes, size * median(alone), hot, windows, nodes, _alone())


def _distinct(number: int) -> str:
    return f"S/a[@user='u{number}'][cur->c] FOLLOWED BY{{c=d, 1 hour}} S/b[cur->d]"


def growth(curve: dict[int, float]) -> float:
    """The last over the first."""
    values = list(curve.values())
    return values[-1] / values[0]


def _users(size: int) -> Make:
    chance = random.Random(1)

    def make(at: int) -> str:
        value = f"<cur>{chance.randrange(_VALUES)}</cur>"
        return f"<a user='u{chance.randrange(size)}'>{value}</a>" if at % 2 else f"<b>{value}</b>"

    return make


def _pairs(at: int) -> str:
    name = "ab"[at % 2]
    return f"<{name}><c>{at % 100}</c><u>{at // 2}</u></{name}>"


def _hot(held: int) -> float:
    joins = _with(_PAIR)
    _hold(joins, held, lambda at: f"<a><c>EUR</c><u>{at}</u></a>")
    return _in_batches(joins, lambda at: f"<b><c>EUR</c><u>{at - held}</u></b>", held)


def _windowed(window: str, length: int) -> float:
    chance = random.Random(2)
    joins = _with(f"S/a->x FOLLOWED BY{{x=y, {window}}} S/b->y")

    def make(at: int) -> str:
        return f"<{'ab'[at % 2]}>{chance.randrange(_VALUES)}</{'ab'[at % 2]}>"

    _hold(joins, 2 * length, make)
    return _in_batches(joins, make, 2 * length)


def _many_nodes(size: int) -> float:
    """The second of two documents of which all values of three fields are equal."""
    joins = _with("S/a[x->x][y->y][z->z] FOLLOWED BY{x=u AND y=v AND z=w, 1 hour} S/b[x->u][y->v][z->w]")
    seconds = []
    for turn in range(_BATCHES):
        fields = "".join(f"<x>{turn}-{at}</x><y>{turn}-{at}</y><z>{turn}-{at}</z>" for at in range(size))
        joins.process(read([Document(f"<a>{fields}</a>", f"a{turn}", "S", 2.0 * turn)]))
        seconds.append(_timed(joins, [Document(f"<b>{fields}</b>", f"b{turn}", "S", 2.0 * turn + 1)]))
    return 1e6 * median(seconds)


def _alone() -> dict[str, float]:
    joins, publishing = _with(_PAIR), _with(_PAIR, _SILENT)
    together = _in_batches(joins, _pairs)
    published = _in_batches(publishing, _pairs)
    start = _BATCH * (_BATCHES + 1)
    singles = [_timed(joins, _documents(at, 1, _pairs)) for at in range(start, start + _BATCH)]
    return {
        "as they are": together,
        "beside a query that publishes, and finds nothing": published,
        "one by one": 1e6 * median(singles),
    }


def _with(*queries: str) -> Joins:
    joins = Joins()
    for number, query in enumerate(queries):
        joins.add(number, parse(query))
    return joins


def _documents(start: int, number: int, make: Make) -> list[Document]:
    return [Document(make(at), str(at), "S", float(at)) for at in range(start, start + number)]


def _hold(joins: Joins, number: int, make: Make) -> None:
    for start in range(0, number, _BATCH):
        joins.process(read(_documents(start, _BATCH, make)))


def _in_batches(joins: Joins, make: Make, start: int = 0) -> float:
    """Microseconds a document, the first batch left out: it makes what all later ones use."""
    joins.process(read(_documents(start, _BATCH, make)))
    seconds = []
    for turn in range(1, _BATCHES + 1):
        seconds.append(_timed(joins, _documents(start + turn * _BATCH, _BATCH, make)))
    return 1e6 * median(seconds) / _BATCH


def _timed(joins: Joins, documents: list[Document]) -> float:
    start = process_time()
    for _ in joins.messages(joins.process(read(documents))):
        pass
    return process_time() - start


def _named(curve: dict[int, float]) -> dict[str, float]:
    return {f"{size:,}": value for size, value in curve.items()}
