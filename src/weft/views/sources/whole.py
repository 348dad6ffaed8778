"""An address that serves one XML document: it is fetched whole, kept while it is unchanged, and evaluated here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from email.utils import parsedate_to_datetime
from threading import Lock
from time import perf_counter

from weft.documents.document import Document, Limits
from weft.errors import DocumentError
from weft.views.nodes import version_of
from weft.views.sources.rates import Rates
from weft.views.sources.root import LOOK, root_of
from weft.views.sources.source import Answer, Measure, Question, SourceError, answer_here
from weft.views.sources.transport import ANY_STATUS, Reply, Transport

_SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class _KeptDocument:
    """A document as it was fetched, with its token, and what to ask for it with again."""

    data: bytes
    token: str
    validators: Mapping[str, str]


class WholeDocument:
    """The document at an address. Its id is the address; its token is a strong ETag, or else the content's hash."""

    def __init__(self, transport: Transport, address: str, name: str | None, limits: Limits) -> None:
        self._transport, self._address, self._limits = transport, address, limits
        self._kept: _KeptDocument | None = None
        self._lock = Lock()
        self.name = name or self._root()
        transport.source = self.name

    @property
    def root(self) -> str:
        """The root element, which names it."""
        return self.name

    def _root(self) -> str:
        data = self._refresh().data
        try:
            root = root_of(self._address, data[:LOOK]) or root_of(self._address, data)
        except DocumentError as error:
            raise self._transport.error(f"expected XML: {error}") from None
        if root is None:
            raise self._transport.error("expected XML, found no element")
        return root

    def tokens(self) -> Mapping[str, str]:
        """Its token; a server that has ETags is asked for no more than that."""
        if self._kept is None:
            reply = self._transport.request("HEAD", self._address, accepted=ANY_STATUS)
            if reply.status == 200 and (tag := _strong_tag(reply)):
                return {self._address: tag}
        return {self._address: self._refresh().token}

    def fetch(self, documents: Sequence[str] | None = None) -> list[Document]:
        """The document."""
        if documents is not None and self._address not in documents:
            return []
        return [Document(self._refresh().data, id=self._address)]

    def answer(self, questions: Sequence[Question]) -> Answer:
        """The nodes that questions ask for; raises SourceError if the document cannot be read."""
        start = perf_counter()
        kept = self._refresh()
        took = perf_counter() - start
        document = Document(kept.data, id=self._address)
        answer = answer_here(self.name, [document], {self._address: kept.token}, questions, self._limits, took)
        if answer.rejected:
            raise SourceError(self.name, str(answer.rejected[0]))
        return answer

    def measure(self, questions: Sequence[Question]) -> tuple[Measure, ...]:
        """How large the answers are."""
        return self.answer(questions).measures()

    def hints(self) -> Rates | None:
        """Nothing: such a server knows none."""
        return None

    def _refresh(self) -> _KeptDocument:
        """The document as it is now: the one that is kept if the server says that it is unchanged."""
        with self._lock:
            validators = self._kept.validators if self._kept else {}
            headers = {"accept": "application/xml, text/xml, */*;q=0.5", **validators}
            reply = self._transport.request("GET", self._address, accepted=(200, 304), headers=headers)
            if reply.status == 200:
                self._kept = _keep(reply)
            elif self._kept is None:
                raise self._transport.error("HTTP status 304: expected a document")
            return self._kept


def _keep(reply: Reply) -> _KeptDocument:
    if tag := _strong_tag(reply):
        return _KeptDocument(reply.body, tag, {"if-none-match": tag})
    modified = reply.headers.get("last-modified")
    validators = {"if-modified-since": modified} if modified and _is_over(reply, modified) else {}
    return _KeptDocument(reply.body, version_of(reply.body), validators)


def _strong_tag(reply: Reply) -> str | None:
    """An ETag that tells of every byte; a weak one does not."""
    tag = reply.headers.get("etag", "")
    return tag if tag.startswith('"') else None


def _is_over(reply: Reply, modified: str) -> bool:
    """Whether the second in which it was modified was over when it was sent: else it may have changed again in it."""
    try:
        return parsedate_to_datetime(reply.headers.get("date", "")) - parsedate_to_datetime(modified) > _SECOND
    except (ValueError, TypeError):
        return False
