"""How much the experiment on languages measures: an effort in, a report out."""

from __future__ import annotations

from rich.progress import Progress

from bench.history import ROOT
from bench.languages.constructs import CONSTRUCTS
from bench.languages.measuring import LanguageEffort, Workload, measure_construct
from bench.languages.report import make_report
from bench.report import Report
from weft.errors import WeftError
from weft.languages import parse

_XMARK = ROOT / "tests" / "xmark"
FULL = LanguageEffort()
QUICK = LanguageEffort(queries=100, batches=2, beside=3)


def run(quick: bool, progress: Progress) -> Report:
    """Measure as the command line asks."""
    return measure(QUICK if quick else FULL, progress)


def measure(effort: LanguageEffort, progress: Progress) -> Report:
    """One construct after the other."""
    task = progress.add_task("languages", total=len(CONSTRUCTS))
    workload, found = Workload(effort), []
    for construct in CONSTRUCTS:
        found.append(measure_construct(construct, workload))
        progress.advance(task)
        progress.refresh()
    return make_report(found, xmark_taken(), effort)


def xmark_taken() -> int:
    """How many of XMark's queries are read."""
    return sum(map(_is_taken, (path.read_text() for path in sorted(_XMARK.glob("q*.xq")))))


def _is_taken(query: str) -> bool:
    try:
        parse(query)
    except WeftError:
        return False
    return True
