"""A source whose documents are held in memory, to be changed by a test, and a store that is filled from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from weft.documents.document import Document
from weft.languages.xpath import parse
from weft.views.nodes import select, version_of
from weft.views.parts import definition_of, part_id
from weft.views.store.manifest import Manifest, ViewEntry
from weft.views.store.refresh import SourceReading, read_anew
from weft.views.store.store import PartRows, Store


class HeldSource:
    """Documents by id; their tokens are hashes."""

    def __init__(self, documents: Mapping[str, bytes], name: str = "s") -> None:
        self.documents = dict(documents)
        self.name, self.location = name, "memory"

    def tokens(self) -> Mapping[str, str]:
        return {each: version_of(data) for each, data in self.documents.items()}

    def fetch(self, documents: Sequence[str] | None = None) -> list[Document]:
        wanted = self.documents if documents is None else documents
        return [Document(self.documents[each], id=each) for each in wanted]

    def rejected(self) -> list[str]:
        """What is told of documents that cannot be read."""
        return [str(error) for error in select(self.name, self.fetch(), [parse("/*")]).rejected]


def views_of(queries: Mapping[str, str], namespaces: Mapping[str, str] | None = None) -> list[ViewEntry]:
    return [ViewEntry(name, text, tuple((namespaces or {}).items())) for name, text in queries.items()]


def fill(store: Store, sources: Sequence[HeldSource], views: Sequence[ViewEntry], now: float = 1.0) -> Manifest:
    """Materialize all views of all sources."""
    readings = [read_anew(source, {view.name: view.selection for view in views}, now) for source in sources]
    parts = [part for reading in readings for part in parts_of(reading, views)]
    requires = {
        view.name: tuple(
            part_id(each.classes.source, home) for each in readings for home in each.classes.required(view.name)
        )
        for view in views
    }
    entries = [ViewEntry(view.name, view.text, view.namespaces, view.frequency, requires[view.name]) for view in views]
    return store.replace(entries, parts, [reading.state for reading in readings], now, budget=1 << 20)


def parts_of(reading: SourceReading, views: Sequence[ViewEntry]) -> list[PartRows]:
    classes, texts = reading.classes, {view.name: view.text for view in views}
    return [
        PartRows(
            part_id(classes.source, home), classes.source, tuple(home), classes.rows(at), definition_of(home, texts)
        )
        for home, at in classes.homes().items()
    ]


def selected(source: HeldSource, query: str, namespaces: Mapping[str, str] | None = None) -> pa.Table:
    """What the source answers."""
    return select(source.name, source.fetch(), [parse(query, namespaces)]).rows[0]


def stored(store: Store, view: str) -> pa.Table:
    """What the store answers."""
    with store.reading() as snapshot:
        return snapshot.rows(snapshot.manifest.view_of[view].requires, view)
