"""The sources of a query server, kept in a file of its folder: where they are, their rates, and how they were last."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from weft.durable import Seal, read_sealed, write_sealed
from weft.errors import ConfigurationError
from weft.views.sources.changes import Changes, changes_from_json
from weft.views.sources.http import TIMEOUT
from weft.views.sources.local import FileSource
from weft.views.sources.opening import absolute, hold, open_source
from weft.views.sources.rates import Cost, Observed, Rates, observed_from_json, rates_from_json
from weft.views.sources.source import Source, SourceError, read_question

_ROOT = read_question("/*[false()]")  # reads all of it, and selects nothing
_SEAL = Seal("sources", 1, "remove it, and add the sources again")


@dataclass(frozen=True, slots=True)
class SourceEntry:
    """A source that was added: its rates as given, what was observed since, and its documents when last checked.

    `root` is the root element that all its documents have; None if it was given a name and so may have any.
    """

    name: str
    location: str
    given: Rates = field(default_factory=Rates)
    hinted: Rates = field(default_factory=Rates)
    observed: Observed = field(default_factory=Observed)
    tokens: Mapping[str, str] | None = None
    root: str | None = None
    changes: Changes = field(default_factory=Changes)

    def rates(self) -> Rates:
        """Its rates: given ones before observed ones, and these before what the source tells of itself."""
        return self.given.otherwise(self.observed.rates()).otherwise(self.hinted)

    def open(self, timeout: float = TIMEOUT) -> Source:
        """The source itself."""
        return open_source(self.location, self.name, timeout=timeout)


@dataclass(frozen=True, slots=True)
class Check:
    """How a source was found: what is wrong, and which documents changed since it was checked before."""

    entry: SourceEntry
    error: SourceError | None = None
    changed: tuple[str, ...] = ()
    documents: int | None = None
    root_before: str | None = None  # the root element that its documents had, if they have another one now


class SourceRegistry:
    """The sources in a folder. Several processes may use it: each change is made on what the others have written."""

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)
        self._file = self._folder / "sources.json"

    def entries(self) -> tuple[SourceEntry, ...]:
        """All sources, in the order in which they were added: the order of their answers."""
        try:
            values = json.loads(read_sealed(self._file, _SEAL))
            return tuple(_read_entry(each) for each in values)
        except FileNotFoundError:
            return ()
        except (KeyError, TypeError, ValueError) as error:
            raise ConfigurationError(f"{self._file}: damaged: {error!r}; {_SEAL.advice}") from None

    def entry(self, name: str) -> SourceEntry:
        """A source by its name."""
        entries = self.entries()
        for entry in entries:
            if entry.name == name:
                return entry
        known = ", ".join(entry.name for entry in entries) or "none"
        raise ConfigurationError(f"source {name}: expected one of those that were added ({known})")

    def add(
        self,
        location: str | Path | Source,
        name: str | None = None,
        given: Rates | None = None,
        now: float | None = None,
    ) -> SourceEntry:
        """Add the source at a location, or itself; its name is that of its root unless given. It must answer now.

        A file that is no XML to its end is refused; documents of a folder are told where they are rejected.
        """
        if not isinstance(location, str | Path):
            hold(location)
            location = location.location
        text = absolute(location)
        source = open_source(text, name)
        if isinstance(source, FileSource):
            source.answer([_ROOT])
        tokens, root = dict(source.tokens()), source.root
        changes = Changes() if now is None else Changes().look(tokens, now)
        hinted = source.hints() or Rates()
        entry = SourceEntry(source.name, text, given or Rates(), hinted, tokens=tokens, root=root, changes=changes)
        with self._changing() as entries:
            if (known := next((each for each in entries if each.name == entry.name), None)) is not None:
                raise ConfigurationError(
                    f"source {entry.name}: expected a new name, found that of {known.location}; give another name"
                )
            entries.append(entry)
        return entry

    def remove(self, name: str) -> None:
        """Remove a source."""
        self.entry(name)
        with self._changing() as entries:
            entries[:] = [entry for entry in entries if entry.name != name]

    def observe(self, costs: Mapping[str, Sequence[Cost]]) -> None:
        """Remember what answers took, by source; those of sources that are gone are left out."""
        with self._changing() as entries:
            entries[:] = [
                replace(entry, observed=entry.observed.add(*costs[entry.name])) if costs.get(entry.name) else entry
                for entry in entries
            ]

    def look(self, name: str, tokens: Mapping[str, str], now: float, share: float | None, timeout: float) -> None:
        """Remember a look at a source: whether it has changed, and which root element it has then."""
        before = self.entry(name)
        changes = before.changes.look(tokens, now, share)
        root = before.root if changes.seen == before.changes.seen else _root_of(before, timeout)
        with self._changing() as entries:
            entries[:] = [
                replace(each, changes=each.changes.look(tokens, now, share), root=root) if each.name == name else each
                for each in entries
            ]

    def check(self, name: str, timeout: float = TIMEOUT, now: float | None = None) -> Check:
        """Whether a source answers, and what changed since it was added or checked before; `now` tells how often."""
        entry = self.entry(name)
        try:
            source = entry.open(timeout)
            tokens = dict(source.tokens())
            hinted = source.hints() or entry.hinted
        except SourceError as error:
            return Check(entry, error)
        before = entry.tokens or {}
        changed = tuple(id for id in {**before, **tokens} if before.get(id) != tokens.get(id))
        root = _root_of(entry, timeout) if changed else entry.root
        with self._changing() as entries:
            entries[:] = [
                replace(each, tokens=tokens, hinted=hinted, root=root, changes=_looked(each, tokens, now))
                if each.name == name
                else each
                for each in entries
            ]
        root_before = None if root == entry.root else entry.root
        return Check(self.entry(name), None, changed, len(tokens), root_before)

    @contextmanager
    def _changing(self) -> Iterator[list[SourceEntry]]:
        """The sources, to be changed while no other process does; written at the end unless an error comes."""
        self._folder.mkdir(parents=True, exist_ok=True)
        with (self._folder / "sources.lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            before = self.entries()
            entries = list(before)
            yield entries
            if tuple(entries) != before:
                write_sealed(self._file, _SEAL, json.dumps([_written(entry) for entry in entries], indent=1) + "\n")


def _looked(entry: SourceEntry, tokens: Mapping[str, str], now: float | None) -> Changes:
    return entry.changes if now is None else entry.changes.look(tokens, now)


def _root_of(entry: SourceEntry, timeout: float) -> str | None:
    """The root element of a source that has changed; None, which is any, if it was given a name or has several."""
    if entry.root is None:
        return None
    try:
        return open_source(entry.location, timeout=timeout).root
    except SourceError:
        return None


def _written(entry: SourceEntry) -> dict[str, Any]:
    return {
        "name": entry.name,
        "location": entry.location,
        "given": entry.given.to_json(),
        "hinted": entry.hinted.to_json(),
        "observed": entry.observed.to_json(),
        "tokens": None if entry.tokens is None else dict(entry.tokens),
        "root": entry.root,
        "changes": entry.changes.to_json(),
    }


def _read_entry(values: Mapping[str, Any]) -> SourceEntry:
    return SourceEntry(
        str(values["name"]),
        str(values["location"]),
        rates_from_json(values["given"]),
        rates_from_json(values["hinted"]),
        observed_from_json(values["observed"]),
        values["tokens"],
        values["root"],
        changes_from_json(values.get("changes")),
    )
