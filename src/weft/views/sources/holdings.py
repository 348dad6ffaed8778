"""The documents of a source as it serves them: by id with version, size and regions, each read once while unchanged."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock

from weft.views.nodes import version_of
from weft.views.sources.regions import Regions, regions_of
from weft.views.sources.source import Source

_KEPT_BYTES = 128 << 20  # of documents that were asked for last


@dataclass(frozen=True, slots=True)
class Listed:
    """A document that a source holds."""

    id: str
    version: str
    size: int
    token: str


class Holdings:
    """What is known of the documents of a source that is here."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._lock = Lock()
        self._listed: dict[str, Listed] = {}
        self._kept: OrderedDict[str, tuple[Listed, bytes]] = OrderedDict()
        self._regions: dict[str, Regions | None] = {}  # by version

    def listing(self) -> list[Listed]:
        """The documents that can be read, in their order."""
        tokens = self._source.tokens()
        with self._lock:
            new = [id for id, token in tokens.items() if id not in self._listed or self._listed[id].token != token]
            for document in self._source.fetch(new) if new else ():
                data = document.data if isinstance(document.data, bytes) else document.data.encode()
                self._listed[document.id] = Listed(document.id, version_of(data), len(data), tokens[document.id])
            self._listed = {id: self._listed[id] for id, token in tokens.items() if self._is_known(id, token)}
            return list(self._listed.values())

    def document(self, id: str) -> tuple[Listed, bytes] | None:
        """A document with its content; None if there is none, or it cannot be read."""
        token = self._source.tokens().get(id)
        if token is None:
            return None
        with self._lock:
            if (kept := self._kept.get(id)) is not None and kept[0].token == token:
                self._kept.move_to_end(id)
                return kept
            found = self._source.fetch([id])
            if not found:
                return None
            data = found[0].data if isinstance(found[0].data, bytes) else found[0].data.encode()
            kept = Listed(id, version_of(data), len(data), token), data
            self._keep(id, kept)
            return kept

    def regions(self, id: str) -> tuple[Listed, Regions | None] | None:
        """A document's regions, None for one that is not cut; None if there is no document."""
        if (found := self.document(id)) is None:
            return None
        listed, data = found
        if listed.version not in self._regions:
            if len(self._regions) > 1_000:
                self._regions.clear()
            self._regions[listed.version] = regions_of(data)
        return listed, self._regions[listed.version]

    def _is_known(self, id: str, token: str) -> bool:
        return id in self._listed and self._listed[id].token == token

    def _keep(self, id: str, kept: tuple[Listed, bytes]) -> None:
        self._kept[id] = kept
        self._kept.move_to_end(id)
        while len(self._kept) > 1 and sum(listed.size for listed, _ in self._kept.values()) > _KEPT_BYTES:
            self._kept.popitem(last=False)
