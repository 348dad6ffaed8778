"""The name of an experiment in; its tables on the terminal, its figures as JSON, its plot and its page out."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console
from rich.progress import Progress

from bench import EXPERIMENTS
from bench.page import NoMarkersError, check_page, write_page
from bench.report import Report
from bench.table import print_table

_PLOTS = Path(__file__).parent.parent / "docs" / "plots"
_WRONG_USE = 2
_WIDTH = 140  # where the output is no terminal, whose width would be guessed too small


Name = Annotated[str | None, typer.Argument(help="Which experiment.")]
Quick = Annotated[bool, typer.Option("--quick", help="Fewer documents: about a minute.")]
AsJson = Annotated[bool, typer.Option("--json", help="The figures as JSON too, the last line.")]
PlotDir = Annotated[Path | None, typer.Option(help="Where NAME.svg goes; docs/plots after a full run.")]
Markdown = Annotated[Path | None, typer.Option(help="A page to write the tables into, between its markers.")]
ListThem = Annotated[bool, typer.Option("--list", help="Which experiments there are.")]


def main(
    name: Name = None,
    quick: Quick = False,
    as_json: AsJson = False,
    plot_dir: PlotDir = None,
    markdown: Markdown = None,
    list_them: ListThem = False,
) -> None:
    """Run an experiment: python -m bench NAME."""
    if list_them:
        print(_listing())
        return
    if name not in EXPERIMENTS:
        _refuse(f"{f'no experiment is called {name!r}' if name else 'no name given'}; there are:\n{_listing()}")
    _check(markdown, name)
    report = _run(name, quick)
    _print(report, as_json)
    _draw(report, name, plot_dir if plot_dir or quick else _PLOTS)
    if markdown is not None:
        write_page(markdown, name, report)


def _listing() -> str:
    return "\n".join(f"{name:<12} {(import_module(f'bench.{name}').__doc__ or '').strip()}" for name in EXPERIMENTS)


def _refuse(text: str) -> NoReturn:
    print(text, file=sys.stderr)
    raise typer.Exit(_WRONG_USE)


def _check(page: Path | None, name: str) -> None:
    if page is not None:
        try:
            check_page(page, name)
        except NoMarkersError as error:
            _refuse(str(error))


def _run(name: str, quick: bool) -> Report:
    console = Console(stderr=True)
    with Progress(console=console, auto_refresh=False, transient=True, disable=not console.is_terminal) as progress:
        report: Report = import_module(f"bench.{name}.experiment").run(quick, progress)
        return report


def _print(report: Report, as_json: bool) -> None:
    console = Console(width=None if sys.stdout.isatty() else _WIDTH)
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
    except Exception as error:
        print(f"no plot: {type(error).__name__}: {error}", file=sys.stderr)


if __name__ == "__main__":
    typer.run(main)
