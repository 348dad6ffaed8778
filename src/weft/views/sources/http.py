"""An address as a source: an endpoint that evaluates questions itself, or a document that is fetched whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Lock

from weft.documents.document import Document, Limits
from weft.views.sources.endpoint import Endpoint
from weft.views.sources.rates import Rates
from weft.views.sources.regions import Regions
from weft.views.sources.source import Answer, Measure, Question
from weft.views.sources.transport import ANY_STATUS, Transport
from weft.views.sources.whole import WholeDocument
from weft.views.sources.wire import MARK

TIMEOUT = 60.0  # seconds
MAX_BYTES = 256 << 20


class HttpSource:
    """What answers at an address is found out when it is used first: `weft source serve`, or any server of XML."""

    def __init__(
        self,
        address: str,
        name: str | None = None,
        *,
        timeout: float = TIMEOUT,
        max_bytes: int = MAX_BYTES,
        limits: Limits | None = None,
    ) -> None:
        self._address, self._given, self._limits = address, name, limits or Limits()
        self._transport = Transport(name or address, timeout, max_bytes)
        self._lock = Lock()
        self._found: Endpoint | WholeDocument | None = None

    @property
    def name(self) -> str:
        """The root element, which names the source."""
        return self._given or self._remote().name

    @property
    def root(self) -> str | None:
        """The root element, unless another name was given, here or there."""
        return None if self._given else self._remote().root

    @property
    def location(self) -> str:
        """The address."""
        return self._address

    @property
    def endpoint(self) -> Endpoint | None:
        """The endpoint that evaluates questions itself, if that is what is there."""
        remote = self._remote()
        return remote if isinstance(remote, Endpoint) else None

    def tokens(self) -> Mapping[str, str]:
        """The documents, with their tokens."""
        return self._remote().tokens()

    def fetch(self, documents: Sequence[str] | None = None) -> list[Document]:
        """The documents, all or some."""
        return self._remote().fetch(documents)

    def answer(self, questions: Sequence[Question]) -> Answer:
        """The nodes that questions ask for: evaluated there if that is possible, else here."""
        return self._remote().answer(questions)

    def measure(self, questions: Sequence[Question]) -> tuple[Measure, ...]:
        """How large the answers are."""
        return self._remote().measure(questions)

    def hints(self) -> Rates | None:
        """The rates that an endpoint tells of itself."""
        return self._remote().hints()

    def explain(self, questions: Sequence[Question]) -> tuple[float | None, ...]:
        """The seconds that an endpoint expects to take to find each answer; None where nobody knows."""
        return self.endpoint.explain(questions) if self.endpoint else (None,) * len(questions)

    def regions(self, document: str) -> tuple[str, Regions] | None:
        """The version and the regions of a document; None if only the whole document can be fetched."""
        return self.endpoint.regions(document) if self.endpoint else None

    def fetch_range(self, document: str, version: str, offset: int, length: int) -> bytes | None:
        """A range of a version of a document; None if that is not to be had."""
        return self.endpoint.fetch_range(document, version, offset, length) if self.endpoint else None

    def close(self) -> None:
        """Let go of the connections."""
        self._transport.close()

    def _remote(self) -> Endpoint | WholeDocument:
        with self._lock:
            if self._found is None:
                # A document may be large, and its ETag all that is asked for.
                head = self._transport.request("HEAD", self._address, accepted=ANY_STATUS)
                if MARK in head.headers:
                    self._found = Endpoint(self._transport, self._address, self._given)
                else:
                    self._found = WholeDocument(self._transport, self._address, self._given, self._limits)
            return self._found
