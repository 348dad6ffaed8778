"""The rounds of the filtering experiment in, its figures, tables, notes and panels out."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from bench.contest import Sample, Standing, Timing
from bench.filtering.changes import SETTLING, Changes
from bench.filtering.goals import GOALS
from bench.goals import goals_table
from bench.loops import LOOPS
from bench.report import Curve, Figure, Panel, Report, Table
from bench.table import compact, short

_TITLES = {False: "Paths only", True: "One value predicate and one nested path in each query"}
_SHOWN = {"lxml": "lxml", "lxml_tuned": "lxml tuned", "pygixml": "pygixml"}


@dataclass(frozen=True, slots=True)
class Round:
    """One number of queries, with or without predicates; `kind` tells small documents from large ones if both are."""

    size: int
    predicates: bool
    kind: str
    sample: Sample
    standing: Standing
    loaded_per_second: float
    label_paths: int | None

    @property
    def end(self) -> str:
        """How its keys end."""
        return "_".join(filter(None, (short(self.size), self.kind, "predicates" if self.predicates else "")))

    @property
    def name(self) -> str:
        """What stands in a table's first column."""
        return f"{self.size:,}{', large documents' if self.kind == 'large' else ''}"


@dataclass(frozen=True, slots=True)
class Upkeep:
    """What changing the largest number of paths costs, and what keeping as many queries of each kind does."""

    changes: Changes
    rss_mb: dict[bool, float | None]


def make_report(rounds: list[Round], upkeep: Upkeep, news_bytes: float, record_bytes: float) -> Report:
    """All figures under their keys, a table and a panel for each kind of query, and a table of the upkeep."""
    kinds = [[one for one in rounds if one.predicates is predicates] for predicates in (False, True)]
    figures: dict[str, Figure] = {}
    for kind in kinds:
        figures |= _kind_figures(kind)
    figures |= _upkeep_figures(kinds[0][-1], kinds[1][-1], upkeep)
    goals = goals_table({key: goal for key, goal in GOALS.items() if key in figures}, figures)
    tables = (goals, *map(_kind_table, kinds), _upkeep_table(figures, kinds[0][-1].size))
    return Report(figures, tables, tuple(_notes(rounds, news_bytes, record_bytes)), tuple(map(_panel, kinds)))


def _kind_figures(kind: list[Round]) -> dict[str, Figure]:
    found: dict[str, Figure] = {}
    for one in kind:
        end, standing = one.end, one.standing
        found[f"us_per_document_{end}"] = _digits(standing.weft.us)
        found[f"us_per_document_{end}_strings"] = _digits(standing.strings.us)
        for loop in LOOPS:
            found[f"{loop}_us_per_document_{end}"] = _digits(standing.loops[loop].us)
            found[f"speedup_vs_{loop}_{end}"] = _digits(standing.speedup(loop))
            found[f"speedup_vs_{loop}_{end}_strings"] = _digits(standing.speedup(loop, strings=True))
        found[f"lxml_documents_{end}"] = standing.loops["lxml"].documents
        found[f"lxml_scaled_{end}"] = one.sample.every > 1
        found[f"matched_per_document_{end}"] = _digits(standing.matched)
    suffix = "_predicates" if kind[0].predicates else ""
    first, last = next(one for one in kind if not one.kind), kind[-1]
    growth = (last.standing.weft.us or 0.0) / first.standing.weft.us if first.standing.weft.us else None
    found[f"growth_{short(first.size)}_to_{short(last.size)}{suffix}"] = _digits(growth)
    found[f"label_paths_seen{suffix}"] = last.label_paths
    return found


def _upkeep_figures(plain: Round, predicates: Round, upkeep: Upkeep) -> dict[str, Figure]:
    changes = upkeep.changes
    return {
        "add_one_ms": _digits(changes.add_one),
        "add_only_ms": _digits(changes.add_only),
        "add_settled_ms": _digits(changes.add_settled),
        "remove_one_ms": _digits(changes.remove_one),
        "subscriptions_per_second_loaded": _digits(plain.loaded_per_second),
        "subscriptions_per_second_loaded_with_predicates": _digits(predicates.loaded_per_second),
        "subscriptions_per_second_with_predicates": _digits(predicates.loaded_per_second),  # as it was called at first
        f"rss_mb_{short(plain.size)}": _digits(upkeep.rss_mb[False]),
        f"rss_mb_{short(plain.size)}_predicates": _digits(upkeep.rss_mb[True]),
        "documents": plain.standing.weft.documents,
        "pygixml": plain.standing.loops["pygixml"].reason or "measured",
    }


def _kind_table(kind: list[Round]) -> Table:
    columns = ("queries", "Weft µs", "until strings µs", *(f"{_SHOWN[loop]} µs" for loop in LOOPS))
    columns += (*(f"× {_SHOWN[loop]}" for loop in LOOPS), "matched", "documents", "of them in the loops")
    return Table(_TITLES[kind[0].predicates], columns, tuple(map(_kind_row, kind)))


def _kind_row(one: Round) -> tuple[str, ...]:
    standing = one.standing
    sampled = f"{standing.loops['lxml'].documents}"
    if one.sample.every > 1:
        sampled += f", 1/{one.sample.every} of queries"
    return (
        one.name,
        compact(standing.weft.us),
        compact(standing.strings.us),
        *(_cell(standing.loops[loop]) for loop in LOOPS),
        *(compact(standing.speedup(loop)) for loop in LOOPS),
        compact(standing.matched),
        f"{standing.weft.documents:,}",
        sampled,
    )


def _upkeep_table(figures: dict[str, Figure], size: int) -> Table:
    told = {
        "add_one_ms": "adding one subscription, with the extra cost of the next document, ms",
        "add_only_ms": "subscribe() alone, ms",
        "add_settled_ms": f"adding one subscription, with the extra cost of the next {SETTLING} documents, ms",
        "remove_one_ms": "removing one subscription, with the extra cost of the next document, ms",
        "subscriptions_per_second_loaded": "subscriptions loaded a second, paths only",
        "subscriptions_per_second_loaded_with_predicates": "subscriptions loaded a second, with predicates",
        f"rss_mb_{short(size)}": "memory of a process with them after matching, MB",
        f"rss_mb_{short(size)}_predicates": "the same with predicates, MB",
        "label_paths_seen": "label paths seen",
    }
    rows = tuple((text, compact(value)) for key, text in told.items() if not isinstance(value := figures[key], str))
    return Table(f"With {size:,} subscriptions", ("what", "figure"), rows)


def _notes(rounds: list[Round], news_bytes: float, record_bytes: float) -> Iterator[str]:
    yield (
        f"Fresh documents of {compact(news_bytes)} bytes in the mean, large ones of {compact(record_bytes)}. "
        "Processor time, the median of the slices."
    )
    yield "The loops got a sample of the documents, and their ids were compared with Weft's: all equal."
    for one in rounds:
        if one.sample.every > 1:
            kind = " with predicates" if one.predicates else ""
            yield (
                f"At {one.size:,} queries{kind} the loops ran one query in {one.sample.every}, "
                f"and their time is multiplied by {one.sample.every}."
            )
    yield f"Python {platform.python_version()}, {_versions()}, {os.cpu_count()} cores."


def _panel(kind: list[Round]) -> Panel:
    rounds = [one for one in kind if one.kind != "large"]

    def curve(name: str, timings: list[Timing]) -> Curve:
        points = zip(rounds, timings, strict=True)
        return Curve(name, tuple((one.size, timing.us) for one, timing in points if timing.us is not None))

    curves = [curve("Weft", [one.standing.weft for one in rounds])]
    curves += [curve(_SHOWN[loop], [one.standing.loops[loop] for one in rounds]) for loop in LOOPS]
    return Panel(
        _TITLES[kind[0].predicates],
        "queries",
        "µs per document",
        tuple(some for some in curves if some.points),
    )


def _cell(timing: Timing) -> str:
    return timing.reason if timing.us is None else compact(timing.us)


def _digits(number: float | None) -> float | None:
    return None if number is None else float(f"{number:.4g}")


def _versions() -> str:
    found = []
    for package in ("numpy", "lxml", "pygixml"):
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            found.append(f"no {package}")
    return ", ".join(found)
