"""The name of an experiment in; its tables on the terminal, its figures as JSON, its plot and its page out."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.progress import Progress

from bench import EXPERIMENTS
from bench.compare import THRESHOLD, Earlier, against, compare_runs, comparison_table, last, notes
from bench.history import HISTORY, ROOT, HistoryError, Run, append_run, make_run, read_runs, version_of
from bench.page import NoMarkersError, check_page, write_page
from bench.report import Report
from bench.table import print_table
from weft.cli.standard_output import kept_clean

_PLOTS = ROOT / "docs" / "plots"
_WRONG_USE = 2
_TEACHING = """Run an experiment: python -m bench NAME.

\b
There are:
{experiments}

It measures, checks what is found, and prints tables; where there are goals, each with its figure, met or not.

\b
  python -m bench filtering --quick          a first look in a minute
  python -m bench core --json                all of it, figures in the last line
  python -m bench core --markdown docs/results-core.md
                                             and its tables into the page
  python -m bench --compare                  the latest runs beside earlier ones
  python -m bench core --compare --last 5    beside the median of five runs

Every run is added to bench/history.jsonl, unless --no-history. What the figures mean stands in docs/results-*.md."""
_WIDTH = 140  # where the output is no terminal, whose width would be guessed too small


Name = Annotated[str | None, typer.Argument(help="Which experiment.")]
Quick = Annotated[bool, typer.Option("--quick", help="Fewer documents: about a minute.")]
AsJson = Annotated[bool, typer.Option("--json", help="The figures as JSON too, the last line.")]
PlotDir = Annotated[Path | None, typer.Option(help="Where NAME.svg goes; docs/plots after a full run.")]
Markdown = Annotated[Path | None, typer.Option(help="A page to write the tables into, between its markers.")]
ListThem = Annotated[bool, typer.Option("--list", help="Which experiments there are.")]
History = Annotated[Path, typer.Option(help="The file that every run is added to as one line.", show_default=False)]
NoHistory = Annotated[bool, typer.Option("--no-history", help="Do not add this run to the history.")]
CompareThem = Annotated[bool, typer.Option("--compare", help="Run nothing; the latest run beside earlier ones.")]
Last = Annotated[int | None, typer.Option("--last", min=1, help="Compare with the median of so many earlier runs (1).")]
Against = Annotated[
    str | None, typer.Option("--against", metavar="COMMIT", help="Compare with the runs of this commit.")
]
Threshold = Annotated[float, typer.Option(min=0, help="Mark what moved by more than so many percent.")]
Fail = Annotated[bool, typer.Option("--fail", help="Exit code 1 if some figure moved.")]


def main(
    name: Name = None,
    quick: Quick = False,
    as_json: AsJson = False,
    plot_dir: PlotDir = None,
    markdown: Markdown = None,
    list_them: ListThem = False,
    history: History = HISTORY,
    no_history: NoHistory = False,
    compare: CompareThem = False,
    last_runs: Last = None,
    commit: Against = None,
    threshold: Threshold = THRESHOLD,
    fail: Fail = False,
) -> None:
    """Run, list or compare; `_TEACHING` is what --help says of it."""
    if list_them:
        print(_listing())
        return
    if name is None and not compare:
        _refuse(_teaching().replace("\b\n", ""))
    if name is not None and name not in EXPERIMENTS:
        _refuse(f"no experiment is called {name!r}; there are:\n{_listing()}")
    if compare or name is None:
        runs = _runs(history, name, quick, commit)
        moved = _compare(runs, _earlier(last_runs, commit), threshold)
        raise typer.Exit(int(fail and moved))
    _check(markdown, name)
    version = version_of(ROOT)  # now, for the files may change while the experiment runs
    report = _run(name, quick)
    _print(report, as_json)
    if not no_history:
        _remember(history, make_run(name, quick, version, datetime.now(UTC), report.figures))
    _draw(report, name, plot_dir if plot_dir or quick else _PLOTS)
    if markdown is not None:
        write_page(markdown, name, report)


def _teaching() -> str:
    experiments = "\n".join(f"  {line}" for line in _listing().splitlines())
    return _TEACHING.format(experiments=experiments)


def _listing() -> str:
    return "\n".join(f"{name:<19} {(import_module(f'bench.{name}').__doc__ or '').strip()}" for name in EXPERIMENTS)


def _refuse(text: str) -> NoReturn:
    print(text, file=sys.stderr)
    raise typer.Exit(_WRONG_USE)


def _check(page: Path | None, name: str) -> None:
    if page is not None:
        try:
            check_page(page, name)
        except NoMarkersError as error:
            _refuse(str(error))


def _earlier(last_runs: int | None, commit: str | None) -> Earlier:
    if last_runs is not None and commit is not None:
        _refuse("--last and --against exclude each other")
    return against(commit) if commit is not None else last(last_runs or 1)


def _runs(history: Path, name: str | None, quick: bool, commit: str | None) -> list[Run]:
    """The runs that are asked for; a commit that none of them has is a mistake."""
    try:
        runs = [run for run in read_runs(history) if run.experiment == (name or run.experiment)]
    except HistoryError as error:
        _refuse(str(error))
    if commit is not None and not any((run.commit or "").startswith(commit) for run in runs):
        _refuse(f"{history.name} has no run of the commit {commit!r}")
    return [run for run in runs if run.quick or not quick]


def _compare(runs: list[Run], earlier: Earlier, threshold: float) -> bool:
    """Print a table for each experiment that has been run before; return whether some figure moved."""
    comparisons, alone = compare_runs(runs, earlier)
    console = _console()
    for comparison in comparisons:
        print_table(comparison_table(comparison, threshold), console)
        print(*notes(comparison, threshold), sep="\n")
    for experiment in alone if runs else ["no run yet"]:
        print(f"{experiment}: nothing to compare with")
    return any(change.moved(threshold) for comparison in comparisons for change in comparison.changes)


def _remember(history: Path, run: Run) -> None:
    """The figures are out by now: a history that cannot be written is told, and that is all."""
    try:
        append_run(history, run)
    except OSError as error:
        print(f"no history: {error}", file=sys.stderr)


def _run(name: str, quick: bool) -> Report:
    console = Console(stderr=True)
    with Progress(console=console, auto_refresh=False, transient=True, disable=not console.is_terminal) as progress:
        with kept_clean():
            report: Report = import_module(f"bench.{name}.experiment").run(quick, progress)
        return report


def _console() -> Console:
    return Console(width=None if sys.stdout.isatty() else _WIDTH)


def _print(report: Report, as_json: bool) -> None:
    console = _console()
    for table in report.tables:
        print_table(table, console)
    for note in report.notes:
        print(note)
    if as_json:
        print(json.dumps(dict(report.figures)))
    sys.stdout.flush()


def _draw(report: Report, name: str, directory: Path | None) -> None:
    """The figures are out by now, and no trouble with a plot takes them back: not even matplotlib missing."""
    if directory is None:
        return
    try:
        import_module("bench.plot").save_plot(report.panels, directory / f"{name}.svg")
        for drawing, text in report.drawings.items():
            (directory / drawing).write_text(text, encoding="utf-8")
    except Exception as error:
        print(f"no plot: {type(error).__name__}: {error}", file=sys.stderr)


if __name__ == "__main__":
    app = typer.Typer(add_completion=False)
    app.command(help=_teaching())(main)
    app(prog_name="python -m bench")
