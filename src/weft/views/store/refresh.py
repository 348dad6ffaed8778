"""A source that has changed in, its parts brought up to date out: only regions that are new are read and written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from weft.documents.document import Document, Limits
from weft.errors import ConfigurationError, DocumentError
from weft.plans.plan import Selection
from weft.views.nodes import select
from weft.views.parts import Classes, classify
from weft.views.store.change import Change
from weft.views.store.compaction import compact_if_worth
from weft.views.store.cutting import cut, places_of_cuts
from weft.views.store.merge import merge_parts
from weft.views.store.store import SourceState, Store


class DocumentHolder(Protocol):
    """What a refresh asks of a source (see weft.views.sources.source)."""

    @property
    def name(self) -> str:
        """The root element, which names the source."""

    @property
    def location(self) -> str:
        """Where it is."""

    def tokens(self) -> Mapping[str, str]:
        """The documents it holds, in their order, each with a token that changes whenever its content does."""

    def fetch(self, documents: Sequence[str] | None = None) -> list[Document]:
        """The documents themselves."""


@dataclass(frozen=True, slots=True)
class SourceReading:
    """A source read as a whole: the classes of its nodes, its state, and what could not be read."""

    classes: Classes
    state: SourceState
    rejected: tuple[DocumentError, ...]


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What a refresh found: documents by id, how many bytes were read again, and what was rejected.

    `share` is which share of the source's regions is new, `tokens` are those of its documents now.
    """

    changed: tuple[str, ...]
    vanished: tuple[str, ...]
    rejected: tuple[DocumentError, ...]
    bytes_read: int
    share: float = 0.0
    tokens: Mapping[str, str] = field(default_factory=dict)


def read_anew(
    source: DocumentHolder, views: Mapping[str, Selection], now: float, limits: Limits | None = None
) -> SourceReading:
    """Read all documents of a source, for parts that are to be stored (see Store.replace)."""
    limits, selections = limits or Limits(), tuple(views.values())
    tokens = source.tokens()
    documents = source.fetch(list(tokens))
    cuts = [cut(each, tokens[each.id], selections, limits) for each in documents]
    selected = select(source.name, documents, selections, limits)
    rejected = {error.document: error for error in selected.rejected}
    places = places_of_cuts([each.rejected(rejected.get(each.entry.id)) for each in cuts])
    rows = dict(zip(views, selected.rows, strict=True))
    classes = classify(source.name, rows, (each.id for each in documents))
    return SourceReading(classes, SourceState(source.name, source.location, now, places), selected.rejected)


def refresh(store: Store, source: DocumentHolder, now: float, limits: Limits | None = None) -> Refreshed:
    """Bring the parts of a source up to date. Versions of the store before stay as they are."""
    with store.writing(), store.reading() as snapshot:
        manifest = snapshot.manifest
        if source.name not in manifest.source_of:
            raise ConfigurationError(f"{store.folder}: expected a source whose parts are stored, found {source.name}")
        before = snapshot.places(source.name)
        tokens = source.tokens()
        old = {entry.id: entry for entry in before.documents}
        changed = [each for each, token in tokens.items() if each not in old or old[each].token != token]
        vanished = tuple(each for each in old if each not in tokens)
        is_there = manifest.source_of[source.name].location == source.location
        if is_there and not changed and list(tokens) == list(old):
            known = tuple(entry.error for entry in before.documents if entry.error is not None)
            return Refreshed((), vanished, known, 0, 0.0, tokens)
        documents = source.fetch(changed) if changed else []
        views = {view.name: view.selection for view in manifest.views}
        change = Change(source.name, before, views, limits or Limits())
        for document in documents:
            change.add(document, tokens[document.id])
        there = {document.id for document in documents} | (old.keys() - set(changed))
        order = [each for each in tokens if each in there]  # one may have vanished since the tokens were asked for
        next_region = manifest.source_of[source.name].next_region
        places, classes = change.made(order, next_region)
        merge_parts(store, snapshot, source.location, places, classes, now)
        compact_if_worth(store, source.name, now)
        rejected = tuple(entry.error for entry in places.documents if entry.error is not None)
        share = float((places.region >= next_region).mean()) if places.region.size else 1.0
        return Refreshed(tuple(changed), vanished, rejected, change.bytes_read, share, tokens)
