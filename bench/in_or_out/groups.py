"""Very many queries with conditions of several parts in, what each way to retrieve these costs out."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from statistics import median

from bench.goals import Goal
from bench.in_or_out.section import Section
from bench.measure import timed
from bench.report import Figure, Table
from bench.table import compact
from weft import Broker
from weft.engine.access import fixed_access
from weft.engine.engine import Engine
from weft.engine.statistics import GroupStatistics

GOALS = {
    "untouched_range_over_equality_100k": Goal(
        "100,000 equalities with a range each, over the equalities alone", most=2
    ),
    "range_driver_three_exists_gain": Goal("a range, three existences: the wrong mode over the better", least=3),
    "grid_worst_over_better_mode": Goal(
        "a fresh grid: what was chosen over the better of all in and all out", most=1.15
    ),
    "overhead_share_groups": Goal(
        "very many queries: the time of counting and choosing over that of matching", most=0.03
    ),
}
_BATCH = 16
_PASSING = (0.02, 0.1, 0.5, 0.9, 0.99)  # how often a part holds
_NAMES = 40  # of which existences are asked


@dataclass(frozen=True, slots=True)
class GroupEffort:
    """How much is measured."""

    untouched: int = 100_000
    cells: int = 18
    queries: tuple[int, ...] = (300, 1_000, 4_000, 10_000)
    slices: int = 15
    seconds: float = 1.5  # of matching that a broker gets to choose in


FULL_GROUPS = GroupEffort()
QUICK_GROUPS = GroupEffort(cells=5, queries=(300, 1_000, 4_000), slices=11, seconds=0.8)


@dataclass(frozen=True, slots=True)
class Cell:
    """Queries with conditions of several parts, and documents that they pass so and so often."""

    title: str
    queries: list[str]
    document: Callable[[], bytes]


@dataclass(frozen=True, slots=True)
class Modes:
    """Microseconds a document: with all parts beside the drivers out, all in, and as it was chosen."""

    all_out: float
    all_in: float
    chosen: float
    changes: int
    share: float  # of the time of matching that statistics took

    @property
    def over_better(self) -> float:
        """The chosen one over the better of the others."""
        return self.chosen / min(self.all_out, self.all_in)

    @property
    def gain(self) -> float:
        """The worse of all three over what was chosen."""
        return max(self.all_out, self.all_in) / self.chosen


def measure_groups(effort: GroupEffort, advance: Callable[[], object]) -> Section:
    """All figures by their keys, and the table; the grid is another in every run."""
    seed = random.SystemRandom().getrandbits(32)
    chance = random.Random(seed)
    three = three_existences(chance)
    known = [(three, measure_modes(three, effort))]
    advance()
    grid: list[tuple[Cell, Modes]] = []
    for cell in [drawn_cell(chance, effort) for _ in range(effort.cells)]:
        grid.append((cell, measure_modes(cell, effort)))
        advance()
    figures: dict[str, Figure] = {
        "untouched_range_over_equality_100k": untouched_ratio(effort, chance),
        "range_driver_three_exists_gain": known[0][1].gain,
        "grid_worst_over_better_mode": max(modes.over_better for _, modes in grid),
        "overhead_share_groups": max(modes.share for _, modes in known + grid),
    }
    advance()
    rows = tuple(_row(cell, modes) for cell, modes in known + grid)
    columns = (
        "queries, and what a document has",
        "all out",
        "all in",
        "chosen",
        "over the better",
        "changes",
        "counting",
    )
    title = f"Very many queries: µs a document; the grid was drawn with {seed}"
    return Section(figures, GOALS, (Table(title, columns, rows),))


def _row(cell: Cell, modes: Modes) -> tuple[str, ...]:
    numbers = (modes.all_out, modes.all_in, modes.chosen, modes.over_better)
    return (cell.title, *map(compact, numbers), str(modes.changes), f"{100 * modes.share:.1f} %")


# -- what is measured


def untouched_ratio(effort: GroupEffort, chance: random.Random) -> float:
    """Equalities that no document has, with a range beside each that half of them pass, over the equalities alone."""
    alone, both = (Broker(), Broker())
    for number in range(effort.untouched):
        alone.subscribe(f"/m[k = 'v{number}']")
        both.subscribe(f"/m[k = 'v{number}'][p > {chance.randrange(100_000)}]")
    documents = (f"<m><k>w{at}</k><p>{chance.randrange(100_000)}</p></m>".encode() for at in range(1 << 20))
    ratios = []
    for place in range(effort.slices + 8):
        some = list(islice(documents, 4 * _BATCH))
        seconds = [timed(broker.matches, some)[0] for broker in (alone, both)]
        ratios += [seconds[1] / seconds[0]] if place >= 8 else []
    return median(ratios)


def three_existences(chance: random.Random, queries: int = 4_000) -> Cell:
    """A range that nearly all values pass, and three paths of which a document has few, though it has their names."""

    def path() -> str:
        return "".join(f"[e{at}/x]" for at in chance.sample(range(_NAMES), 3))

    def document() -> bytes:
        below = ("<y/>", "<x/>")
        parts = (f"<e{at}>{below[chance.random() < 0.05]}</e{at}>" for at in range(_NAMES))
        return f"<m><p>{chance.randrange(900, 1_000)}</p>{''.join(parts)}</m>".encode()

    made = [f"/m[p > {chance.randrange(900)}]{path()}" for _ in range(queries)]
    return Cell(f"{queries}: a range, three existences; {_NAMES} nodes", made, document)


def drawn_cell(chance: random.Random, effort: GroupEffort) -> Cell:
    """A cell of the grid: facts a document, values a row, queries, and number of checks, as chance has it."""
    number, checks = chance.choice(effort.queries), chance.randrange(1, 5)
    values, rows = chance.choice((1, 1, 3, 10)), chance.choice((1, 1, 4))
    kinds = [chance.choice("<>"), *(chance.choice("<<>>=e") for _ in range(checks))]
    parts = [(f"p{at}", kind, chance.choice(_PASSING)) for at, kind in enumerate(kinds)]

    def query() -> str:
        conditions = [_condition(chance, *part) for part in parts]
        chance.shuffle(conditions)
        return f"/d/m{''.join(conditions)}"

    def document() -> bytes:
        row = ("".join(_value(chance, *part) for part in parts for _ in range(values)) for _ in range(rows))
        return f"<d>{''.join(f'<m>{each}</m>' for each in row)}</d>".encode()

    told = ", ".join(f"{'exists' if kind == 'e' else kind} {passing:g}" for _, kind, passing in parts)
    return Cell(f"{number}: {told}; {rows} rows of {values}", [query() for _ in range(number)], document)


def _condition(chance: random.Random, name: str, kind: str, passing: float) -> str:
    if kind == "e":
        return f"[{name}/e{chance.randrange(_NAMES)}]"
    if kind == "=":
        return f"[{name} = 'v{chance.randrange(round(1 / passing))}']"
    share = min(passing * chance.uniform(0.5, 1.5), 1.0)
    return f"[{name} {kind} {round(1_000 * (share if kind == '<' else 1 - share))}]"


def _value(chance: random.Random, name: str, kind: str, passing: float) -> str:
    if kind == "e":
        return f"<{name}>{''.join(f'<e{at}/>' for at in range(_NAMES) if chance.random() < passing)}</{name}>"
    value = f"v{chance.randrange(round(1 / passing))}" if kind == "=" else str(chance.randrange(1_000))
    return f"<{name}>{value}</{name}>"


# -- how it is measured


def measure_modes(cell: Cell, effort: GroupEffort) -> Modes:
    """Three brokers take every slice in turn, and find the same."""
    brokers = {"out": Broker(optimizer="fixed"), "in": Broker(optimizer="fixed"), "chosen": Broker()}
    for broker in brokers.values():
        for query in cell.queries:
            broker.subscribe(query)
    warm = [[cell.document() for _ in range(_BATCH)] for _ in range(24)]
    for broker in brokers.values():
        broker.matches(warm[0])
    engine = engine_of(brokers["in"])
    everything = fixed_access(engine.large.shared)
    everything.is_in[:] = True
    engine.retrieve(everything)
    engine.settle()
    for mode in ("out", "in"):
        for batch in warm:
            brokers[mode].matches(batch)
    changes = let_choose(brokers["chosen"], warm, effort)
    spent: dict[str, list[float]] = {mode: [] for mode in brokers}
    for turn in range(effort.slices):
        batch, found = [cell.document() for _ in range(4 * _BATCH)], []
        for mode in (*list(brokers)[turn % 3 :], *list(brokers)[: turn % 3]):  # the first finds the documents cold
            seconds, ids = timed(brokers[mode].matches, batch)
            spent[mode].append(1e6 * seconds / len(batch))
            found.append([list(each) for each in ids])
        assert found[0] == found[1] == found[2], cell.title
    micros = {mode: median(times) for mode, times in spent.items()}
    return Modes(micros["out"], micros["in"], micros["chosen"], changes, statistics_of(brokers["chosen"]).share)


def let_choose(broker: Broker, warm: list[list[bytes]], effort: GroupEffort) -> int:
    """Give a broker documents until it has had time to choose, or has and stays with that; how often it changed."""
    since, changes = 0.0, 0
    adapting = broker._matcher.adapting
    assert adapting is not None
    for batch in _again(warm):
        broker.matches(batch)
        statistics = statistics_of(broker)
        if adapting.changes > changes:
            since, changes = statistics.matching, adapting.changes
        is_settled = adapting.choice is not None and statistics.matching - since > effort.seconds / 3
        if statistics.matching > effort.seconds or (is_settled and engine_of(broker).can_retrieve):
            break
    engine_of(broker).settle()
    return changes


def _again(batches: list[list[bytes]]) -> Iterator[list[bytes]]:
    while True:
        yield from batches


def engine_of(broker: Broker) -> Engine:
    """The engine of a broker that shares everything."""
    engine = broker._matcher.engine
    assert isinstance(engine, Engine)
    return engine


def statistics_of(broker: Broker) -> GroupStatistics:
    """What a broker counts."""
    statistics = engine_of(broker).large.statistics
    assert statistics is not None
    return statistics
