"""What was found of each construct in, figures, tables and a picture out."""

from __future__ import annotations

from collections.abc import Sequence

from bench.goals import Goal, goals_table
from bench.languages.measuring import ConstructFound, LanguageEffort
from bench.report import Curve, Figure, Panel, Report, Table
from bench.table import compact

_GOALS = {
    "constructs_taken": Goal("constructs that are taken"),
    "constructs": Goal("of so many"),
    "xmark_taken": Goal("queries of XMark that are taken", least=20),
    "slowest_over_base": Goal("the slowest construct, times the nearest query without it", most=5),
    "slowest_vs_saxon": Goal("the slowest construct, times as fast as Saxon", least=1),
}


# Long: the figures, the rows of the table and the curves of the picture, each once.
def make_report(found: Sequence[ConstructFound], xmark: int, effort: LanguageEffort) -> Report:
    """All of it."""
    over = [each.over_base for each in found if each.over_base is not None]
    beside = [each.vs_saxon for each in found if each.vs_saxon is not None]
    figures: dict[str, Figure] = {
        "constructs_taken": sum(each.ours_us is not None for each in found),
        "constructs": len(found),
        "xmark_taken": xmark,
        "slowest_over_base": max(over, default=None),
        "slowest_vs_saxon": min(beside, default=None),
        "queries": effort.queries,
    }
    rows = tuple(
        (
            each.construct.language,
            each.construct.name,
            each.way.partition(":")[0],
            compact(each.results),
            compact(each.ours_us),
            compact(each.base_us),
            compact(each.saxon_us),
            compact(each.over_base),
            compact(each.vs_saxon),
        )
        for each in found
    )
    columns = ("language", "construct", "answered", "results", "µs", "without it, µs", "Saxon, µs", "times", "vs Saxon")
    notes = [f"{each.construct.name}: {each.reason}" for each in found if each.reason]
    picture = Panel(
        f"A document with {effort.queries:,} queries",
        "construct",
        "µs",
        tuple(
            Curve(name, tuple((float(at), value) for at, value in enumerate(values) if value))
            for name, values in (
                ("with the construct", [each.ours_us for each in found]),
                ("without it", [each.base_us for each in found]),
                ("Saxon", [each.saxon_us for each in found]),
            )
        ),
        tuple(each.construct.name for each in found),
    )
    table = Table(f"A document with {effort.queries:,} queries of each construct", columns, rows)
    return Report(figures, (goals_table(_GOALS, figures), table), tuple(notes), (picture,))
