"""Documents in, passages out: each at its source, with a number, a timestamp and a header."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from weft.documents.document import Document, Limits
from weft.documents.moment import exact_seconds
from weft.headers.configuration import Configuration
from weft.headers.producer import Producer, bytes_of
from weft.network.passage import Passage
from weft.network.topology import Topology
from weft.network.traffic import ServerTraffic


class Entrance:
    """Where documents enter the network. Those that have a header keep it.

    `traffic` counts what producing headers took; `entered` the documents of each source; `lost` those of no source.
    """

    def __init__(
        self, topology: Topology, limits: Limits | None = None, clock: Callable[[], int] = time.time_ns
    ) -> None:
        self._topology, self._clock = topology, clock
        self._configurations, self._limits = topology.configurations, limits
        self._producer = Producer(self._configurations, limits) if self._configurations else None
        self.traffic = ServerTraffic()
        self.entered = dict.fromkeys((source.name for source in topology.sources), 0)
        self.lost = 0
        self._next = self._latest = 0

    def enter(self, documents: Sequence[Document]) -> list[Passage]:
        """The documents on their way, in their order."""
        passages: list[Passage] = []
        for document in self._with_headers(documents):
            source = self._topology.source_of(document)
            number, self._next = self._next, self._next + 1
            if source is None:
                self.lost += 1
                continue
            self.entered[source.name] += 1
            passages.append(Passage(source.name, number, self._dated(document), entered=time.perf_counter()))
        return passages

    def configure(self, configuration: Configuration) -> None:
        """Attach headers of this configuration from now on, instead of those with its name."""
        others = [each for each in self._configurations if each.name != configuration.name]
        at = min(
            (at for at, each in enumerate(self._configurations) if each.name == configuration.name), default=len(others)
        )
        self._configurations = (*others[:at], configuration, *others[at:])
        self._producer = Producer(self._configurations, self._limits)

    def is_at(self, server: str, document: Document) -> bool:
        """Whether a document enters at this server."""
        source = self._topology.source_of(document)
        return source is not None and source.server == server

    def count_anew(self) -> None:
        """Count from nothing."""
        self.traffic, self.lost = ServerTraffic(), 0
        self.entered = dict.fromkeys(self.entered, 0)

    def _dated(self, document: Document) -> Document:
        """One without a timestamp gets the time; of two, the second has come later."""
        if document.timestamp is not None:
            return document
        self._latest = max(self._clock(), self._latest + 1_000)
        return replace(document, timestamp=exact_seconds(self._latest))

    def _with_headers(self, documents: Sequence[Document]) -> Sequence[Document]:
        without = [document for document in documents if document.header is None]
        if self._producer is None or not without:
            return documents
        started = time.perf_counter()
        made = iter(self._producer.attach(without))
        self.traffic.attach_seconds += time.perf_counter() - started
        self.traffic.attached += len(without)
        self.traffic.parsed_bytes += sum(len(bytes_of(document)) for document in without)
        return [next(made) if document.header is None else document for document in documents]
