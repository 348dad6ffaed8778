"""A query in, its answer out: from views where these have it, from the sources otherwise, never from two versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter

import pyarrow as pa

from weft.errors import DocumentError
from weft.plans.plan import Selection
from weft.plans.write import write_xpath
from weft.views.answering import Rewriting, StoredView, ViewIndex, apply, find_rewriting
from weft.views.answers import AnswerWay, QueryAnswer
from weft.views.bounds import bounds_here
from weft.views.nodes import SCHEMA
from weft.views.partly import PartlyStored, find_partly
from weft.views.routing import is_for
from weft.views.selection.costs import LOCAL_BYTE_SECONDS
from weft.views.selection.record import query_name
from weft.views.sources.asking import ask
from weft.views.sources.registry import SourceEntry
from weft.views.sources.source import Answer, Question, Source, SourceError, size_of
from weft.views.store.files import DamagedFileError
from weft.views.store.manifest import Manifest, ViewEntry
from weft.views.store.places import DocumentEntry
from weft.views.store.snapshot import Snapshot, in_document_order


def question_of(selection: Selection) -> Question:
    """What to ask a source for a selection."""
    text, namespaces = write_xpath(selection)
    return Question(selection, text, namespaces)


@dataclass(frozen=True, slots=True)
class VersionMemory:
    """What was worked out of a version of the store for queries before: the next ones find it here.

    Indexes by the names of their views; queries that are stored in part by their name and source.
    """

    indexes: dict[frozenset[str], ViewIndex] = field(default_factory=dict)
    partly: dict[tuple[str, str], PartlyStored | None] = field(default_factory=dict)


class Answerer:
    """Answers queries from one version of the store and the sources as they are."""

    def __init__(
        self,
        snapshot: Snapshot,
        entries: Sequence[SourceEntry],
        sources: Mapping[str, Source],
        timeout: float,
        memory: VersionMemory | None = None,
    ) -> None:
        self._snapshot, self._manifest = snapshot, snapshot.manifest
        self._sources, self._timeout = sources, timeout
        self._entry_of = {entry.name: entry for entry in entries}
        self._known: dict[str, tuple[DocumentEntry, ...]] = {}
        self._memory = memory or VersionMemory()
        self._damaged: dict[str, SourceError] = {}  # by source, why its views cannot be read
        self._stored: dict[str, pa.Table] = {}  # by source, what is stored of a query whose rest is asked for
        self.costs: dict[str, list[Answer]] = {}  # what sources answered, by name: their rates are learned from it

    def answer(self, selection: Selection, is_fresh: bool = False) -> QueryAnswer:
        """The answer to a query; with `is_fresh` views of sources that have changed since are passed over."""
        names = [entry.name for entry in self._entry_of.values() if is_for(selection, entry.root)]
        stale = self._changed(names) if is_fresh else set()
        rows: dict[str, pa.Table] = {}
        ways: dict[str, AnswerWay] = {}
        unread: list[DocumentError] = []
        to_ask: dict[str, Selection] = {}
        partly: dict[str, PartlyStored] = {}
        for rewriting, those in self._rewritings(selection, [name for name in names if name not in stale]):
            for name in those:
                bounds_here().check()
                try:
                    if rewriting is not None:
                        documents = self._documents(name)
                        rows[name], ways[name] = self._from_views(rewriting, name)
                        unread += [each.error for each in documents if each.error is not None]
                        continue
                    part, rest = self._partly(selection, name), None
                    if part is not None and part.is_worth(self._entry_of[name].rates()):
                        # Read now: if it is damaged, the source is asked for all.
                        self._stored[name], rest = self._view_rows(part.view.name, name, part.stored), part.rest
                except DamagedFileError as error:
                    self._damaged[name], part, rest = SourceError(name, str(error)), None, None
                if part is not None:
                    partly[name] = part
                to_ask[name] = selection if rest is None else rest
        to_ask |= dict.fromkeys((name for name in names if name in stale), selection)
        missing, rejected = self._from_sources(selection, to_ask, partly, rows, ways)
        order = [name for name in names if name in rows]
        bounds_here().check(sum(ways[name].rows for name in order), sum(ways[name].size for name in order))
        table = pa.concat_tables([SCHEMA.empty_table(), *(rows[name] for name in order)])
        told = tuple(ways[name] for name in order)
        return QueryAnswer(table, told, tuple(missing), (*unread, *rejected), tuple(self._damaged.values()))

    def _changed(self, names: Sequence[str]) -> set[str]:
        """The sources that are not as they were when their views were stored, as far as one can tell.

        One that is down is among them: it is asked, and does not answer.
        """
        found = set()
        for name in filter(self._is_known, names):
            try:
                is_same = name in self._sources and dict(self._sources[name].tokens()) == self._tokens(name)
            except SourceError:
                is_same = False
            except DamagedFileError as error:
                self._damaged[name], is_same = SourceError(name, str(error)), False
            if not is_same:
                found.add(name)
        return found

    def _has_changed(self, source: str, answer: Answer) -> bool:
        """Whether an answer is about other documents than the views; one may change while it is read."""
        versions = {each.id: each.version for each in self._documents(source)}
        found = answer.rows[0].group_by(["document", "version"]).aggregate([]).to_pylist()
        is_same = all(versions.get(each["document"]) == each["version"] for each in found)
        if not is_same or dict(answer.tokens) != self._tokens(source):
            return True
        # What has no nodes in the answer has no version there: one that has changed since its token was read is
        # told by the tokens as they are now.
        return len(found) < len(versions) and bool(self._changed([source]))

    def _tokens(self, source: str) -> dict[str, str | None]:
        return {each.id: each.token for each in self._documents(source)}

    def _documents(self, source: str) -> tuple[DocumentEntry, ...]:
        """The documents of a source when its views were stored."""
        if source not in self._known:
            self._known[source] = self._snapshot.documents(source)
        return self._known[source]

    # -- views

    def _is_known(self, source: str) -> bool:
        """Whether something of a source is stored, and not of another one that had its name before."""
        known = self._manifest.source_of.get(source)
        return known is not None and known.location == self._entry_of[source].location

    def _rewritings(self, selection: Selection, names: Sequence[str]) -> list[tuple[Rewriting | None, list[str]]]:
        """How views answer the query, and for which sources: those that have the same views stored."""
        groups: dict[frozenset[str], list[str]] = {}
        for name in names:
            groups.setdefault(self._stored_at(name), []).append(name)
        return [(self._rewriting(selection, views), those) for views, those in groups.items()]

    def _stored_at(self, source: str) -> frozenset[str]:
        return self._manifest.stored_at[source] if self._is_known(source) else frozenset()

    def _rewriting(self, selection: Selection, views: frozenset[str]) -> Rewriting | None:
        if not views:
            return None
        if views not in self._memory.indexes:
            entries = (self._manifest.view_of[name] for name in sorted(views))
            self._memory.indexes[views] = ViewIndex([StoredView(each.name, each.selection) for each in entries])
        return find_rewriting(selection, self._memory.indexes[views])

    def _from_views(self, rewriting: Rewriting, name: str) -> tuple[pa.Table, AnswerWay]:
        start = perf_counter()
        stored = {view: self._view_rows(view, name) for view in rewriting.views}
        found = apply(rewriting, stored)
        told = f"from views: {rewriting.show()}"
        estimated = LOCAL_BYTE_SECONDS * sum(map(size_of, stored.values()))  # as views are chosen by
        return found, AnswerWay(name, told, found.num_rows, size_of(found), estimated, perf_counter() - start)

    def _view_rows(self, view: str, source: str, parts: Sequence[str] | None = None) -> pa.Table:
        required = [part.id for part in self._manifest.required(view, source)] if parts is None else parts
        return self._snapshot.rows(required, view)

    # -- known queries that are stored in part

    def _partly(self, selection: Selection, source: str) -> PartlyStored | None:
        if not self._is_known(source):
            return None
        view = self._manifest.view_of.get(query_name(*write_xpath(selection)))
        if view is None:
            return None
        if (view.name, source) not in self._memory.partly:
            self._memory.partly[view.name, source] = find_partly(self._manifest, view, source)
        return self._memory.partly[view.name, source]

    # -- sources

    def _from_sources(
        self,
        selection: Selection,
        to_ask: Mapping[str, Selection],
        partly: Mapping[str, PartlyStored],
        rows: dict[str, pa.Table],
        ways: dict[str, AnswerWay],
    ) -> tuple[list[SourceError], list[DocumentError]]:
        answers = self._ask(to_ask)
        changed = {
            name: selection
            for name, answer in answers.items()
            if name in self._stored and isinstance(answer, Answer) and self._has_changed(name, answer)
        }
        answers |= self._ask(changed)  # versions are never mixed: all of it from the source
        missing: list[SourceError] = []
        rejected: list[DocumentError] = []
        for name, answer in answers.items():
            if isinstance(answer, SourceError):
                missing.append(answer)
                if name in partly and (there := self._without_source(partly[name], name)) is not None:
                    rows[name], ways[name] = there
                    rejected += [each.error for each in self._documents(name) if each.error is not None]
                continue
            rejected += answer.rejected
            found, told = answer.rows[0], "from the source"
            estimated = self._entry_of[name].rates().seconds(answer.cost.size)
            if name in self._stored and name not in changed:
                found, told = self._merged(found, name), f"{partly[name].told()}, the rest from the source"
                estimated = None if estimated is None else estimated + partly[name].stored_bytes * LOCAL_BYTE_SECONDS
            rows[name] = found
            taken = answer.cost.processing + answer.cost.transmission
            ways[name] = AnswerWay(name, told, found.num_rows, size_of(found), estimated, taken)
        return missing, rejected

    def _ask(self, to_ask: Mapping[str, Selection]) -> dict[str, Answer | SourceError]:
        if not to_ask:
            return {}
        down: dict[str, Answer | SourceError] = {
            name: SourceError(name, "it cannot be opened") for name in to_ask if name not in self._sources
        }
        questions = {name: [question_of(each)] for name, each in to_ask.items() if name in self._sources}
        answers = ask(self._sources, questions, self._timeout)
        for name, answer in answers.items():
            if isinstance(answer, Answer):
                self.costs.setdefault(name, []).append(answer)
        return {**down, **answers}

    def _without_source(self, known: PartlyStored, name: str) -> tuple[pa.Table, AnswerWay] | None:
        """What is stored of a query whose source does not answer; nothing if that cannot be read."""
        start = perf_counter()
        try:
            found = self._stored[name] if name in self._stored else self._view_rows(known.view.name, name, known.stored)
        except DamagedFileError as error:
            self._damaged[name] = SourceError(name, str(error))
            return None
        told, estimated = f"{known.told()}, the rest is missing", known.stored_bytes * LOCAL_BYTE_SECONDS
        return found, AnswerWay(name, told, found.num_rows, size_of(found), estimated, perf_counter() - start)

    def _merged(self, found: pa.Table, source: str) -> pa.Table:
        """The stored parts of a query and what the source has of the rest, each node once, in order."""
        return in_document_order(pa.concat_tables([self._stored[source], found]), self._snapshot.places(source))


def views_of(manifest: Manifest) -> list[ViewEntry]:
    """The views that are kept."""
    return [view for view in manifest.views if view.is_kept]
