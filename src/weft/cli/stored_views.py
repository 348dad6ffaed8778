"""`weft views recommend`, `materialize`, `list`, `drop`, `refresh` and `adapt`: the views of a query server."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from weft.cli.libraries import libraries
from weft.cli.options import Namespaces, naming
from weft.cli.quantities import read_seconds, read_size
from weft.cli.source import STORE, StoreFolder
from weft.cli.standard_output import kept_clean
from weft.cli.tables import table_console
from weft.cli.views import views
from weft.errors import ConfigurationError

if TYPE_CHECKING:
    from weft.views.planning import Recommendation
    from weft.views.server import QueryServer
    from weft.views.sources.source import SourceError

_WorkloadFile = Annotated[
    Path | None, typer.Option("--workload", metavar="FILE", help="Queries with frequencies, a line each.")
]
_BudgetSize = Annotated[str, typer.Option("--budget", metavar="SIZE", help="Bytes on disk: 10MB.", show_default=False)]
_MethodName = Annotated[str, typer.Option("--method", help="ours, greedy (the paper's), optimum (exact) or random.")]
_Risk = Annotated[
    float, typer.Option("--risk", min=0, help="Count on what sources take less so many standard deviations of it.")
]


stored_views = views
_AS_THEY_WERE = "its views are as they were"
_NOTHING_PAYS = (
    "nothing is worth its space: the sources are as fast as stored views, change too often, "
    "or are asked too seldom for these to pay"
)


def _server(store: Path) -> QueryServer:
    with libraries():
        from weft.views.server import QueryServer  # noqa: PLC0415

    return QueryServer(store)


def _recommended(server: QueryServer, workload: Path | None, budget: str, method: str, risk: float) -> Recommendation:
    with libraries():
        from weft.views.planning import SelectionMethod  # noqa: PLC0415

    if workload is None:
        raise ConfigurationError("expected --workload, found none")
    if method not in list(SelectionMethod):
        raise ConfigurationError(f"--method: expected {', '.join(SelectionMethod)}, found {method!r}")
    with kept_clean():
        return server.recommend(workload, read_size("--budget", budget), SelectionMethod(method), risk)


def _show(found: Recommendation, period: str = "", seconds: float = 1.0) -> None:
    """What was chosen, and what it saves: in a period of so many seconds, if frequencies are those of a second."""
    table = Table("source", "part of the answers", "on disk", box=None)
    parts = {each.key: each for each in found.problem.candidates}
    for key, text in found.definitions().items():
        table.add_row(escape(parts[key].source), escape(text), f"{parts[key].size:,} bytes")
    console = table_console()
    console.print(table)
    answered = found.answered()
    whole = sum(share == 1 for share in answered.values())
    before, after = seconds * found.time_before, seconds * found.choice.time
    console.print(
        f"\n{len(found.choice.keys)} of {len(found.problem.candidates)} parts, about {found.choice.size:,} bytes; "
        f"{whole} of {len(answered)} queries without asking a source. Of the {before:.3g} s{period} that the "
        f"workload takes at the sources by their rates, {before - after:.3g} s are saved.",
        markup=False,
    )


def _tell_idle(found: Recommendation) -> None:
    """Say why nothing was chosen, if it is not for want of space."""
    if not found.choice.keys and any(each.size <= found.budget for each in found.problem.candidates):
        typer.echo(_NOTHING_PAYS, err=True)


def _tell_missing(missing: Sequence[SourceError], told: str) -> None:
    """Warn of sources that did not answer; then the exit code is 1."""
    for error in missing:
        typer.echo(f"warning: {error}: {told}", err=True)
    if missing:
        raise typer.Exit(1)


@views.command()
def recommend(
    workload: _WorkloadFile = None,
    budget: _BudgetSize = "10MB",
    method: _MethodName = "ours",
    risk: _Risk = 0.0,
    store: StoreFolder = STORE,
) -> None:
    """Tell which parts of a workload's answers are worth storing; nothing is stored.

    FILE has a query a line, in XPath or in the paper's notation, with its frequency: `/s1/a/* (0.1)`. The sources are
    asked for all answers, to see how large they are. One that does not answer is left out, with a warning, and the
    exit code is 1.

    \b
      weft views recommend --workload queries.txt --budget 10MB
    """
    with _server(store) as server:
        found = _recommended(server, workload, budget, method, risk)
    _show(found)
    _tell_idle(found)
    _tell_missing(found.missing, "its answers are not weighed")


@views.command()
def materialize(
    xpath: Annotated[str | None, typer.Argument(metavar="XPATH", show_default=False, help="One query.")] = None,
    workload: _WorkloadFile = None,
    budget: _BudgetSize = "10MB",
    method: _MethodName = "ours",
    risk: _Risk = 0.0,
    store: StoreFolder = STORE,
    namespace: Namespaces = None,
) -> None:
    """Store one query as a view, beside those that are there; or what is recommended for a workload, instead of them.

    What is stored of a source that does not answer stays, with a warning, and the exit code is 1.

    \b
      weft views materialize '/shop/item'
      weft views materialize --workload queries.txt --budget 10MB
    """
    if (xpath is None) == (workload is None):
        raise ConfigurationError("expected either XPATH or --workload")
    with _server(store) as server:
        if xpath is not None:
            manifest = server.materialize(xpath, naming(namespace, False).namespaces)
        else:
            found = _recommended(server, workload, budget, method, risk)
            with kept_clean():
                manifest = server.materialize(found)
            _show(found.keeping(manifest.stored))
            _tell_idle(found)
            if left_out := len(found.choice.keys) - len(manifest.stored.intersection(found.choice.keys)):
                typer.echo(f"{left_out} more were recommended, but take more than the budget on disk", err=True)
    typer.echo(f"{manifest.size:,} bytes on disk", err=True)
    _tell_missing(manifest.missing, _AS_THEY_WERE)


@views.command("list")
def list_views(store: StoreFolder = STORE) -> None:
    """Tell which views there are, how much of each is stored, and what it takes on disk."""
    with _server(store) as server:
        manifest, found = server.store.manifest(), server.views()
    table = Table("view", "query", "parts stored", "nodes", "on disk", box=None)
    for view in found:
        parts = [manifest.part_of[each] for each in view.requires]
        stored = [part for part in parts if part.files is not None]
        size = f"{sum(part.bytes for part in stored):,} bytes"
        table.add_row(
            view.name, escape(view.text), f"{len(stored)} of {len(parts)}", f"{sum(p.rows for p in stored):,}", size
        )
    table_console().print(table)
    typer.echo(f"{manifest.size:,} bytes on disk in all; what views share is counted once here", err=True)


@views.command()
def drop(
    view: Annotated[str, typer.Argument(metavar="VIEW", show_default=False, help="Its name, as `list` tells it.")],
    store: StoreFolder = STORE,
) -> None:
    """Drop a view, and what no other view needs."""
    with _server(store) as server:
        server.drop(view)


@views.command()
def refresh(store: StoreFolder = STORE) -> None:
    """Bring views up to date: of documents that have changed only the changed regions are read again."""
    with libraries():
        from weft.views.sources.source import SourceError  # noqa: PLC0415

    down: list[SourceError] = []
    with _server(store) as server:
        if not server.registry.entries() and not server.store.manifest().sources:
            raise ConfigurationError(f"{store}: expected a store, found no sources and no views there")
        for name, found in server.refresh().items():
            if isinstance(found, SourceError):
                down.append(found)
            else:
                changed, gone = len(found.changed), len(found.vanished)
                typer.echo(f"{name}: {changed} changed, {gone} gone, {found.bytes_read:,} bytes read again")
                for error in found.rejected:
                    typer.echo(str(error), err=True)
    _tell_missing(down, _AS_THEY_WERE)


@views.command()
def adapt(
    budget: _BudgetSize = "10MB",
    horizon: Annotated[str, typer.Option(metavar="TIME", help="Within which a new view must pay: 86400s.")] = "86400s",
    margin: Annotated[float, typer.Option(min=0, help="By which share a new view must be better than an old.")] = 0.25,
    risk: _Risk = 0.0,
    store: StoreFolder = STORE,
) -> None:
    """Follow the queries that were asked lately: store what pays for its building, drop what no longer does.

    What is stored of a source that does not answer stays, with a warning, and the exit code is 1.
    """
    with _server(store) as server, kept_clean():
        seconds = read_seconds("--horizon", horizon)
        adapted = server.adapt(read_size("--budget", budget), seconds, margin, risk)
    _show(adapted, " a day", 86_400.0)
    _tell_idle(adapted)
    _tell_missing(adapted.missing, _AS_THEY_WERE)
