"""The sources of a query server in, tables for people out."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import typer
from rich.table import Table

from weft.cli.tables import table_console
from weft.views.sources.changes import Changes
from weft.views.sources.rates import Rate, Rates
from weft.views.sources.registry import Check, SourceEntry, SourceRegistry
from weft.views.sources.source import SourceError, read_question

_UNITS = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (0.0, "B"))
_PROBES = ("/*/*[1]", "/*")  # a little, and all


def add_source(store: Path, location: str, name: str | None, given: Rates) -> None:
    """Add a source, and tell its name."""
    entry = SourceRegistry(store).add(location, name, given, time.time())
    typer.echo(f"{entry.name}: {_documents(len(entry.tokens or {}))} at {entry.location}")


def list_sources(store: Path) -> None:
    """All sources with their rates."""
    entries = SourceRegistry(store).entries()
    if not entries:
        typer.echo(f"no sources in {store}; weft sources add LOCATION adds one", err=True)
        return
    table = Table("source", "location", "processing", "transmission", "latency", "answers", "changes", box=None)
    for entry in entries:
        shown = *_shown(entry), f"{entry.observed.total:,}", _changes(entry.changes)
        table.add_row(entry.name, entry.location, *shown)
    table_console().print(table, markup=False)


def remove_source(store: Path, name: str) -> None:
    """Remove a source."""
    SourceRegistry(store).remove(name)


def check_sources(store: Path, names: list[str], is_measured: bool, timeout: float) -> bool:
    """Check sources, and tell how each was found; return whether all answered."""
    registry = SourceRegistry(store)
    checks = [
        registry.check(name, timeout, time.time()) for name in names or [entry.name for entry in registry.entries()]
    ]
    if is_measured:
        checks = [found if found.error else _measured(registry, found, timeout) for found in checks]
    table = Table("source", "state", "documents", "changed", "processing", "transmission", "latency", box=None)
    for found in checks:
        changed = "" if found.error else f"{len(found.changed):,}"
        documents = "" if found.documents is None else f"{found.documents:,}"
        table.add_row(found.entry.name, "down" if found.error else "up", documents, changed, *_shown(found.entry))
    table_console().print(table, markup=False)
    for found in checks:
        for id in found.changed:
            typer.echo(f"changed: {found.entry.name}: {id}", err=True)
        if found.root_before is not None:
            told = f"expected the root element {found.root_before}, found {found.entry.root or 'several'}"
            typer.echo(f"changed: {found.entry.name}: {told}; queries go by that from now on", err=True)
        if found.error:
            typer.echo(f"down: {found.error}", err=True)
    return not any(found.error for found in checks)


def _measured(registry: SourceRegistry, found: Check, timeout: float) -> Check:
    name = found.entry.name
    try:
        source = found.entry.open(timeout)
        costs = [source.answer([read_question(text)]).cost for text in _PROBES]
    except SourceError as error:
        return Check(found.entry, error)
    registry.observe({name: costs})
    return replace(found, entry=registry.entry(name))


def _shown(entry: SourceEntry) -> tuple[str, str, str]:
    rates = entry.rates()
    return _speed(rates.processing), _speed(rates.transmission), _seconds(rates.latency)


def _speed(rate: Rate | None) -> str:
    if rate is None:
        return "unknown"
    unit, name = next((unit, name) for unit, name in _UNITS if rate.mean >= unit)
    return f"{rate.mean / (unit or 1):.3g} {name}/s{_spread(rate)}"


def _seconds(rate: Rate | None) -> str:
    return "unknown" if rate is None else f"{rate.mean * 1000:.3g} ms{_spread(rate)}"


def _changes(changes: Changes) -> str:
    """How often it was seen to change, by weft sources check and weft views refresh, and which share of it."""
    if not changes.rate:
        return "unknown" if changes.rate is None else "none seen"
    seconds = 1 / changes.rate
    unit, name = next(
        (unit, name) for unit, name in ((86_400, "d"), (3_600, "h"), (60, "min"), (0, "s")) if seconds >= unit
    )
    share = "" if changes.share is None else f", {changes.share:.2g} of it" if changes.share < 1 else ", all of it"
    return f"every {seconds / (unit or 1):.2g} {name}{share}"


def _spread(rate: Rate) -> str:
    return f" ± {rate.spread / rate.mean:.0%}" if rate.observations else " (given)"


def _documents(number: int) -> str:
    return "1 document" if number == 1 else f"{number:,} documents"
