"""An endpoint of `weft source serve`: questions are evaluated there, and a document is fetched by its regions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from math import inf
from time import perf_counter
from typing import Any, TypeVar

from weft.documents.document import Document
from weft.errors import ConfigurationError, WeftError
from weft.views.bounds import AnswerBounds, AnswerTooLargeError, bounds_here
from weft.views.sources.rates import Cost, Rates, rates_from_json
from weft.views.sources.regions import Region, Regions
from weft.views.sources.source import Answer, Measure, Question, size_of
from weft.views.sources.transport import Reply, Transport
from weft.views.sources.wire import ARROW, WireError, read_arrow, read_excess, write_questions

_Taken = TypeVar("_Taken")
_DURATION = re.compile(r"\bprocessing\s*;\s*dur\s*=\s*(\d+(?:\.\d+)?)")
_SHAPES = (KeyError, TypeError, ValueError, IndexError, AttributeError, ConfigurationError)


class Endpoint:
    """The client's side of a served source."""

    def __init__(self, transport: Transport, address: str, name: str | None) -> None:
        self._transport, self._address = transport, address.rstrip("/")
        self.name = name or self._read(self._get(""), lambda values: str(values["name"]))
        transport.source = self.name

    @property
    def root(self) -> str | None:
        """The root element of what it holds; None if that may have any."""
        return self._read(self._get(""), lambda values: None if values["root"] is None else str(values["root"]))

    def tokens(self) -> Mapping[str, str]:
        """The documents that it holds, with their tokens."""
        reply = self._get("documents")
        return self._read(reply, lambda values: {str(each["id"]): str(each["token"]) for each in values["documents"]})

    def fetch(self, documents: Sequence[str] | None = None) -> list[Document]:
        """Documents as they are there."""
        found = []
        for id in self.tokens() if documents is None else documents:
            reply = self._get("document", {"id": id}, accepted=(200, 404, 410))
            if reply.status == 200:
                found.append(Document(reply.body, id=id))
        return found

    def answer(self, questions: Sequence[Question]) -> Answer:
        """The nodes that questions ask for, evaluated there."""
        start, bounds = perf_counter(), bounds_here()
        reply = self._post("select", questions, ARROW, accepted=(200, 413))
        elapsed = perf_counter() - start
        if reply.status != 200:
            raise self._refused(reply, bounds)
        try:
            rows, rejected, tokens = read_arrow(self.name, reply.body, len(questions))
        except WireError as error:
            raise self._transport.error(str(error)) from None
        bounds.check(sum(each.num_rows for each in rows), sum(map(size_of, rows)))
        told = _DURATION.search(reply.headers.get("server-timing", ""))
        processing = min(float(told[1]) / 1000, elapsed) if told else elapsed / 2  # nobody knows; some of it at least
        return Answer(rows, rejected, Cost(sum(map(size_of, rows)), processing, elapsed - processing), tokens)

    def measure(self, questions: Sequence[Question]) -> tuple[Measure, ...]:
        """How large the answers are."""
        reply = self._post("measure", questions)
        measures = self._read(
            reply, lambda values: tuple(Measure(int(each["count"]), int(each["size"])) for each in values["queries"])
        )
        if len(measures) != len(questions):
            raise self._transport.error(f"expected {len(questions)} measures, found {len(measures)}")
        return measures

    def hints(self) -> Rates | None:
        """The rates that it tells of itself."""
        return self._read(self._get(""), lambda values: rates_from_json(values["rates"]))

    def explain(self, questions: Sequence[Question]) -> tuple[float | None, ...]:
        """The seconds that it expects to take to find each answer; None where it does not know."""
        reply = self._post("explain", questions)
        told = self._read(reply, lambda values: tuple(_seconds(each["processing"]) for each in values["queries"]))
        if len(told) != len(questions):
            raise self._transport.error(f"expected to be told of {len(questions)} queries, found {len(told)}")
        return told

    def regions(self, document: str) -> tuple[str, Regions] | None:
        """The version of a document and its regions; None if it has none, or is gone."""
        reply = self._get("regions", {"id": document}, accepted=(200, 404, 410))
        return self._read(reply, _read_regions) if reply.status == 200 else None

    def fetch_range(self, document: str, version: str, offset: int, length: int) -> bytes | None:
        """A range of a version of a document; None if that is no longer what is there."""
        headers = {"range": f"bytes={offset}-{offset + length - 1}", "if-match": f'"{version}"'}
        reply = self._get("document", {"id": document}, (206, 404, 410, 412, 416), headers)
        if reply.status == 206 and len(reply.body) != length:
            raise self._transport.error(f"{document}: expected {length} bytes from {offset}, found {len(reply.body)}")
        return reply.body if reply.status == 206 else None

    def _get(
        self,
        path: str,
        params: Mapping[str, str] | None = None,
        accepted: Sequence[int] = (200,),
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        url = f"{self._address}/{path}"
        return self._transport.request("GET", url, accepted=accepted, params=params, headers=headers)

    def _post(
        self,
        path: str,
        questions: Sequence[Question],
        accept: str = "application/json",
        accepted: Sequence[int] = (200,),
    ) -> Reply:
        headers = {"content-type": "application/json", "accept": accept}
        content = write_questions(questions, bounds_here())
        return self._transport.request(
            "POST", f"{self._address}/{path}", headers=headers, content=content, accepted=accepted
        )

    def _refused(self, reply: Reply, bounds: AnswerBounds) -> WeftError:
        """Why there is no answer: it would be too large, or so was the request."""
        excess = read_excess(reply.headers)
        if excess is None:
            return self._transport.error(f"HTTP status {reply.status}: {reply.body[:300].decode('utf-8', 'replace')}")
        return AnswerTooLargeError(*excess, (bounds.max_nodes if excess[1] == "nodes" else bounds.max_bytes) or 0)

    def _read(self, reply: Reply, take: Callable[[Any], _Taken]) -> _Taken:
        try:
            return take(reply.json())
        except _SHAPES as error:
            raise self._transport.error(f"answers what cannot be read: {type(error).__name__}: {error}") from None


def _seconds(value: Any) -> float | None:
    if value is not None and not 0 <= float(value) < inf:
        raise ValueError(f"expected seconds from 0 on, found {value}")
    return None if value is None else float(value)


def _read_regions(values: Mapping[str, Any]) -> tuple[str, Regions] | None:
    if values["regions"] is None:
        return None
    head, *body, tail = (Region(int(offset), int(length), str(digest)) for offset, length, digest in values["regions"])
    return str(values["version"]), Regions(head, tuple(body), tail)
