"""What `weft.QueryServer` is: sources of XML, the views of them that are stored, and answers from either."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from math import isfinite
from pathlib import Path

import pyarrow as pa

from weft.errors import ConfigurationError
from weft.plans.write import write_xpath
from weft.views.adapting import adapt_views, queries_of, with_views
from weft.views.answerer import Answerer, VersionMemory, views_of
from weft.views.answers import QueryAnswer
from weft.views.notation import parse_query
from weft.views.planning import Recommendation, SelectionMethod, ask_workload, estimates_of, explain_workload, recommend
from weft.views.routing import is_for
from weft.views.selection.candidates import Estimates
from weft.views.selection.record import QueryRecord, written_query
from weft.views.sources.rates import Cost, Rates
from weft.views.sources.registry import SourceEntry, SourceRegistry
from weft.views.sources.source import Answer, Source, SourceError
from weft.views.store.dropping import drop_view, forget_source
from weft.views.store.files import DamagedFileError
from weft.views.store.held import HELD_BYTES
from weft.views.store.manifest import Manifest, ViewEntry
from weft.views.store.refresh import Refreshed, refresh
from weft.views.store.store import Store
from weft.views.storing import StoredVersion, Wanted, room_beside, store_parts, stored_for
from weft.views.workload import Workload, read_workload, workload_of

DAY = 86_400.0
_TRIES = 5  # to keep to a budget
_MOST_UNSAVED = 100  # answers of sources whose costs are only in memory


class QueryServer:
    """Answers XPath queries over sources, from views of them that are worth their space.

    All it knows is in a folder: sources with their rates, views, and the queries that were asked. Several processes
    may use it; one at a time writes views. What was read of them is held in memory, so many bytes at most.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        timeout: float = 60.0,
        half_life: float = 7 * DAY,
        held_bytes: int = HELD_BYTES,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.folder, self._timeout, self._clock = Path(folder), timeout, clock
        self.registry, self.store = SourceRegistry(self.folder), Store(self.folder, held_bytes)
        self.record = QueryRecord(self.folder / "queries.record", half_life)
        self._open: dict[str, tuple[str, Source]] = {}  # by name its location, and the source
        self._memory: tuple[Manifest, VersionMemory] | None = None
        self._costs: list[tuple[str, Cost]] = []  # of sources' answers, that are not written down yet

    def close(self) -> None:
        """Write down which queries were asked, and what the sources took for them."""
        self._save()

    def __enter__(self) -> QueryServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- sources

    def add_source(
        self, location: str | Path | Source, name: str | None = None, rates: Rates | None = None
    ) -> SourceEntry:
        """Add a file, a folder, an address, or a source such as `weft.spark.TableSource`; its root element names it."""
        return self.registry.add(location, name, rates, self._clock())

    def _source(self, entry: SourceEntry) -> Source:
        known = self._open.get(entry.name)
        if known is None or known[0] != entry.location:
            known = self._open[entry.name] = entry.location, entry.open(self._timeout)
        return known[1]

    def _sources(self, entries: tuple[SourceEntry, ...]) -> dict[str, Source]:
        """The sources that can be opened; of the others it is told where they are asked."""
        found: dict[str, Source] = {}
        for entry in entries:
            with suppress(SourceError):
                found[entry.name] = self._source(entry)
        return found

    def _sources_for(self, workload: Workload) -> tuple[dict[str, Source], list[SourceError]]:
        """The sources that queries are for, and what is wrong with those that cannot be opened."""
        if not workload.queries:
            raise ConfigurationError(f"{self.folder}: expected queries, found none")
        selections = [query.selection for query in workload.queries]
        entries = self.registry.entries()
        wanted = [entry for entry in entries if any(is_for(each, entry.root) for each in selections)]
        if not wanted:
            known = ", ".join(entry.name for entry in entries) or "no sources"
            raise ConfigurationError(f"{self.folder}: expected a source that the queries are for, found {known}")
        found: dict[str, Source] = {}
        down: list[SourceError] = []
        for entry in wanted:
            try:
                found[entry.name] = self._source(entry)
            except SourceError as error:
                down.append(SourceError(entry.name, error.reason))
        return found, down

    # -- queries

    def query(
        self, text: str, namespaces: Mapping[str, str] | None = None, *, fresh: bool = False, record: bool = True
    ) -> QueryAnswer:
        """The nodes that a query selects, by source and in document order.

        Views answer as of their last refresh; with `fresh` sources are asked whether they have changed since.
        """
        selection = parse_query(text, namespaces)
        entries = self.registry.entries()
        with self.store.reading() as snapshot:
            memory = self._memory_of(snapshot.manifest)
            answerer = Answerer(snapshot, entries, self._sources(entries), self._timeout, memory)
            found = answerer.answer(selection, fresh)
        self._observe(answerer.costs)
        if record:
            written, used = write_xpath(selection)
            self.record.note(written, self._clock(), used)
        return found

    def _memory_of(self, manifest: Manifest) -> VersionMemory:
        """What is worked out once a version of the store."""
        known = self._memory
        if known is None or known[0] is not manifest:
            known = self._memory = manifest, VersionMemory()
        return known[1]

    # -- views

    def views(self) -> list[ViewEntry]:
        """The views that are kept."""
        return views_of(self.store.manifest())

    def recommend(
        self,
        workload: Workload | str | Path,
        budget: float,
        method: SelectionMethod = SelectionMethod.OURS,
        risk: float = 0.0,
    ) -> Recommendation:
        """The parts of a workload's answers that are worth storing in so many bytes; the sources are asked for all.

        What it takes to keep them up to date counts if queries were asked before, which tells how often they are.
        A source that is down is among what is `missing`: what is stored of it stays, and takes of the budget.
        """
        if not isinstance(workload, Workload):
            workload = read_workload(workload)
        workload = workload_of(written_query(each.selection, each.frequency) for each in workload.queries)
        rows, missing = self._ask_all(workload)
        estimates = self._estimates(workload, rows, risk, self._unit(workload))
        found = recommend(workload, rows, estimates, room_beside(self.store.manifest(), missing, budget), method)
        return replace(found, budget=budget, missing=missing)

    def _unit(self, workload: Workload) -> float:
        """The seconds in which as many queries are asked as the frequencies of a workload add up to; 0 if unknown."""
        asked = sum(query.frequency for query in self.record.workload(self._clock()).queries)
        return sum(query.frequency for query in workload.queries) / asked if asked > 0 else 0.0

    def materialize(self, what: Recommendation | str, namespaces: Mapping[str, str] | None = None) -> StoredVersion:
        """Store what was recommended instead of what is there, or one query as a whole beside it.

        What is stored of a source that is down stays as it is; the source is among what is `missing`.
        """
        if isinstance(what, Recommendation):
            return self._store_within(what)
        query = written_query(parse_query(what, namespaces))
        with self.store.writing():  # what another process has stored meanwhile is kept
            manifest = self.store.manifest()
            kept = [each for each in queries_of(views_of(manifest)) if each.name != query.name]
            stored = stored_for(manifest, frozenset(each.name for each in kept))
            new = frozenset({query.name})
            wanted = Wanted(workload_of([*kept, query]), stored, self._whole(manifest) | new, new)
            return self._store(wanted, manifest.budget)

    def drop(self, view: str) -> Manifest:
        """Drop a view, and what no other view needs."""
        return drop_view(self.store, view, self._clock())

    def refresh(self) -> dict[str, Refreshed | SourceError]:
        """Bring what is stored up to date, by the regions of documents that have changed.

        What is stored of a source that was removed is let go. A source that does not answer, or whose files here are
        damaged, stays as it is.
        """
        found: dict[str, Refreshed | SourceError] = {}
        entries = {entry.name: entry for entry in self.registry.entries()}
        for name in self.store.manifest().source_of:
            try:
                found[name] = self._refreshed(entries[name]) if name in entries else self._forget(name)
            except SourceError as error:
                found[name] = error
            except DamagedFileError as error:
                found[name] = SourceError(name, str(error))
        return found

    def _refreshed(self, entry: SourceEntry) -> Refreshed:
        refreshed = refresh(self.store, self._source(entry), self._clock())
        self.registry.look(entry.name, refreshed.tokens, self._clock(), refreshed.share, self._timeout)
        return refreshed

    def _forget(self, source: str) -> Refreshed:
        return Refreshed((), forget_source(self.store, source, self._clock()), (), 0)

    def adapt(self, budget: float, horizon: float = DAY, margin: float = 0.25, risk: float = 0.0) -> Recommendation:
        """Follow the queries that were asked lately: store what pays for itself within the horizon, in seconds.

        What is stored stays where the queries that part it otherwise are new: it need not be fetched again. So does
        what is stored of a source that is down, which is among what is `missing`.
        """
        self._save()
        workload = self.record.workload(self._clock())
        if not workload.queries:
            raise ConfigurationError(f"{self.folder}: expected queries that were asked before, found none")
        manifest = self.store.manifest()
        rows, missing = self._ask_all(with_views(workload, manifest))
        own = {name: each[: len(workload.queries)] for name, each in rows.items()}
        estimates = self._estimates(workload, rows, risk, unit=1.0)  # recorded frequencies are a second's
        room = room_beside(manifest, missing, budget)
        found = recommend(workload, own, estimates, room, SelectionMethod.OURS, is_whole=True)
        adapted = adapt_views(found, manifest, rows, horizon, margin)
        recommended = replace(adapted.recommended, budget=budget, missing=missing)
        if not adapted.is_change:
            return recommended
        stored = self._store_within(recommended)
        return replace(recommended.keeping(stored.stored), missing=stored.missing)

    # -- inside

    def _ask_all(self, workload: Workload) -> tuple[dict[str, tuple[pa.Table, ...]], tuple[SourceError, ...]]:
        """The rows that sources answer, and those that do not answer; if none does, that is an error."""
        sources, down = self._sources_for(workload)
        answers = ask_workload(workload, sources, self._timeout)
        down += [SourceError(name, each.reason) for name, each in answers.items() if isinstance(each, SourceError)]
        found = {name: each for name, each in answers.items() if isinstance(each, Answer)}
        if not found:
            raise down[0]
        self._observe({name: [answer] for name, answer in found.items()})
        self._save()
        return {name: answer.rows for name, answer in found.items()}, tuple(down)

    def _estimates(self, workload: Workload, answered: Collection[str], risk: float, unit: float) -> Estimates:
        """What the sources take by their rates, and what those that answered expect to take themselves."""
        entries = self.registry.entries()
        sources = {entry.name: self._source(entry) for entry in entries if entry.name in answered}
        explained = explain_workload(workload, sources, self._timeout)
        return estimates_of(entries, risk, unit, self.record.memory, explained)

    def _observe(self, answers: Mapping[str, Sequence[Answer]]) -> None:
        """Remember what answers took. That is written at times only: a query need not wait for the disk."""
        self._costs += [(name, answer.cost) for name, made in answers.items() for answer in made]
        if len(self._costs) >= _MOST_UNSAVED:
            self._save()

    def _save(self) -> None:
        costs, self._costs = self._costs, []
        by_source: dict[str, list[Cost]] = {}
        for name, cost in costs:
            by_source.setdefault(name, []).append(cost)
        if by_source:
            self.registry.observe(by_source)
        self.record.save()

    def _whole(self, manifest: Manifest) -> frozenset[str]:
        """The views all of whose parts are stored."""
        stored = manifest.stored
        return frozenset(view.name for view in views_of(manifest) if stored.issuperset(view.requires))

    def _store_within(self, found: Recommendation) -> StoredVersion:
        """Store what was recommended; if it takes more than the budget on disk after all, less of it."""
        within, budget = found, int(found.budget) if isfinite(found.budget) else None
        for _ in range(_TRIES):
            wanted = Wanted(found.workload, frozenset(within.choice.keys), left=found.missing)
            manifest = self._store(wanted, budget)
            if manifest.size <= found.budget or not within.choice.keys:
                return manifest
            within = found.within(max(0.0, within.choice.size - 1.1 * (manifest.size - found.budget)))
        return self._store(Wanted(found.workload, left=found.missing), budget)

    def _store(self, wanted: Wanted, budget: int | None) -> StoredVersion:
        sources, down = self._sources_for(wanted.workload)
        known = {error.source for error in wanted.left}
        left = *wanted.left, *(error for error in down if error.source not in known)
        return store_parts(self.store, sources, replace(wanted, left=left), self._clock(), budget)
