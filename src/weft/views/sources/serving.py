"""A source in, its HTTP service out: documents, ranges and regions of them, and answers evaluated where they are."""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any, TypeVar

import anyio.to_thread
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from weft.errors import QueryError, WeftError
from weft.views.bounds import AnswerBounds, AnswerTooLargeError, bounded
from weft.views.sources.holdings import Holdings, Listed
from weft.views.sources.pacing import paced, wait_latency, wait_processing
from weft.views.sources.rates import Rates
from weft.views.sources.source import Answer, Question, Source
from weft.views.sources.wanted import while_wanted
from weft.views.sources.wire import (
    ARROW,
    JSON_LINES,
    MARK,
    WIRE_VERSION,
    WireError,
    read_bounds,
    read_questions,
    write_arrow,
    write_excess,
    write_json_lines,
)

_RANGE = re.compile(r"bytes=(\d*)-(\d*)")
_FORMS = {True: (ARROW, write_arrow), False: (JSON_LINES, write_json_lines)}  # by whether it is asked for as Arrow
_REMEMBERED = 10_000  # sizes of answers
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class ServiceLimits:
    """What a request may be, and take."""

    max_request_bytes: int = 1 << 20
    max_queries: int = 1_000
    max_query_bytes: int = 64 << 10
    max_answer_bytes: int = 256 << 20  # of fragments
    max_seconds: float = 60.0  # to read a request, and to evaluate it
    max_evaluations: int = 4  # at once; others wait


class RefusedRequest(Exception):  # noqa: N818 it is an answer, not a failure
    """A request that is not answered: the HTTP status, and why."""

    def __init__(self, status: int, reason: str) -> None:
        self.status, self.reason = status, reason
        super().__init__(status, reason)


def make_service(source: Source, rates: Rates | None = None, limits: ServiceLimits | None = None) -> Starlette:
    """The service of a source, held to rates where these are given."""
    service = _SourceService(source, rates or Rates(), limits or ServiceLimits())
    routes = [
        Route("/", service.about),
        Route("/documents", service.documents),
        Route("/document", service.document),
        Route("/regions", service.regions),
        Route("/select", service.select, methods=["POST"]),
        Route("/measure", service.measure, methods=["POST"]),
        Route("/explain", service.explain, methods=["POST"]),
    ]
    handlers: Any = {
        RefusedRequest: _refuse,
        QueryError: _refuse_query,
        AnswerTooLargeError: _refuse_excess,
        WeftError: _fail,
    }
    return Starlette(routes=routes, exception_handlers=handlers, middleware=[Middleware(_Marked)])


class _Marked:
    """Marks all responses as those of a served source."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (MARK.encode(), WIRE_VERSION.encode())]
            await send(message)

        await self._app(scope, receive, marked)


async def _refuse(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RefusedRequest)
    return PlainTextResponse(error.reason, error.status)


async def _refuse_query(_request: Request, error: Exception) -> Response:
    return PlainTextResponse(str(error), 400)


async def _refuse_excess(_request: Request, error: Exception) -> Response:
    assert isinstance(error, AnswerTooLargeError)
    return PlainTextResponse(str(error), 413, write_excess(error))


async def _fail(_request: Request, error: Exception) -> Response:
    return PlainTextResponse(str(error), 503)


class _SourceService:
    """Answers requests. What takes long runs in threads, so that others are answered meanwhile."""

    def __init__(self, source: Source, rates: Rates, limits: ServiceLimits) -> None:
        self._source, self._rates, self._limits = source, rates, limits
        self._holdings = Holdings(source)
        self._sizes: OrderedDict[tuple[object, ...], int] = OrderedDict()  # by question and state of the documents
        self._evaluations = asyncio.Semaphore(limits.max_evaluations)

    # -- documents

    async def about(self, _request: Request) -> Response:
        """The name of the source, the root of its documents, if they all have one, and its rates."""
        name, root = await self._do(lambda: (self._source.name, self._source.root))
        return JSONResponse({"name": name, "root": root, "rates": self._rates.to_json()})

    async def documents(self, _request: Request) -> Response:
        """The documents by id, version, size and token."""
        await wait_latency(self._rates)
        listing = await self._do(self._holdings.listing)
        return JSONResponse({"documents": [asdict(listed) for listed in listing], "rates": self._rates.to_json()})

    async def document(self, request: Request) -> Response:
        """A document, or a range of it."""
        await wait_latency(self._rates)
        found = await self._do(lambda: self._holdings.document(_id(request)))
        if found is None:
            raise RefusedRequest(404, f"no document {_id(request)!r}")
        status, start, end, headers = _requested(request, *found)
        body = found[1][start:end] if status in (200, 206) else b""
        if status == 304:
            return Response(status_code=304, headers=headers)
        headers["content-length"] = str(len(body))
        content = paced(self._rates, body, len(body))
        return StreamingResponse(content, status, headers, media_type="application/xml")

    async def regions(self, request: Request) -> Response:
        """The regions of a document: head, body, tail."""
        await wait_latency(self._rates)
        found = await self._do(lambda: self._holdings.regions(_id(request)))
        if found is None:
            raise RefusedRequest(404, f"no document {_id(request)!r}")
        listed, regions = found
        ranges = [] if regions is None else [regions.head, *regions.body, regions.tail]
        told = [[each.offset, each.length, each.digest] for each in ranges]
        return JSONResponse({"version": listed.version, "regions": told or None})

    # -- questions

    async def select(self, request: Request) -> Response:
        """The rows of the answers; the work on them stops where they are too large, or whoever asked is gone."""
        questions, bounds = await self._asked(request)
        return await while_wanted(request, bounds, self._selected(request, questions, bounds))

    async def _selected(self, request: Request, questions: Sequence[Question], bounds: AnswerBounds) -> Response:
        await wait_latency(self._rates)
        start = perf_counter()
        answer = await self._evaluate(questions, bounds)
        if answer.cost.size > self._limits.max_answer_bytes:
            size, most = answer.cost.size, self._limits.max_answer_bytes
            raise RefusedRequest(422, f"the answer has {size} bytes, more than {most}: ask for less at once")
        media_type, write = _FORMS[ARROW in request.headers.get("accept", "")]
        body = await self._do(lambda: write(answer))
        headers = {"content-length": str(len(body)), **await self._timing(answer, start)}
        return StreamingResponse(paced(self._rates, body, answer.cost.size), 200, headers, media_type)

    async def measure(self, request: Request) -> Response:
        """Counts and sizes of the answers."""
        questions = await self._questions(request)
        await wait_latency(self._rates)
        start = perf_counter()
        answer = await self._evaluate(questions)
        measures = [{"count": each.count, "size": each.size} for each in answer.measures()]
        return JSONResponse({"queries": measures}, headers=await self._timing(answer, start))

    async def explain(self, request: Request) -> Response:
        """What answers would cost, without evaluating anything: the size is known if it was asked for before."""
        questions = await self._questions(request)
        tokens = await self._do(self._source.tokens)
        return JSONResponse({"queries": [self._explained(each, tuple(tokens.items())) for each in questions]})

    def _explained(self, question: Question, state: tuple[tuple[str, str], ...]) -> dict[str, float | None]:
        size, rates = self._sizes.get((question.selection, hash(state))), self._rates
        return {
            "size": size,
            "processing": None if size is None or rates.processing is None else size / rates.processing.mean,
            "transmission": None if size is None or rates.transmission is None else size / rates.transmission.mean,
            "latency": None if rates.latency is None else rates.latency.mean,
        }

    async def _evaluate(self, questions: Sequence[Question], bounds: AnswerBounds | None = None) -> Answer:
        def answered() -> Answer:
            with bounded(bounds or AnswerBounds()):
                return self._source.answer(questions)

        async with self._evaluations:
            answer = await self._do(answered)
        state = hash(tuple(answer.tokens.items()))
        for question, measured in zip(questions, answer.measures(), strict=True):
            self._sizes[question.selection, state] = measured.size
        while len(self._sizes) > _REMEMBERED:
            self._sizes.popitem(last=False)
        return answer

    async def _timing(self, answer: Answer, start: float) -> dict[str, str]:
        """The header that tells what processing took, once that is over."""
        took = await wait_processing(self._rates, answer.cost.size, start)
        return {"server-timing": f"processing;dur={took * 1000:.3f}"}

    async def _questions(self, request: Request) -> list[Question]:
        return (await self._asked(request))[0]

    async def _asked(self, request: Request) -> tuple[list[Question], AnswerBounds]:
        """What is asked, and what the answer may have."""
        body = b""
        try:
            async with asyncio.timeout(self._limits.max_seconds):
                async for part in request.stream():
                    body += part
                    if len(body) > self._limits.max_request_bytes:
                        raise RefusedRequest(413, f"expected at most {self._limits.max_request_bytes} bytes")
            questions = read_questions(body, self._limits.max_queries, self._limits.max_query_bytes)
            return questions, read_bounds(body)
        except (QueryError, WireError) as error:
            raise RefusedRequest(400, str(error)) from None
        except (TimeoutError, ClientDisconnect):
            raise RefusedRequest(408, "the request did not come to its end") from None

    async def _do(self, work: Callable[[], _Result]) -> _Result:
        """The result of what runs in a thread, if it is there in time; else the thread is left to end by itself."""
        try:
            async with asyncio.timeout(self._limits.max_seconds):
                return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
        except TimeoutError:
            raise RefusedRequest(503, f"takes longer than {self._limits.max_seconds:g} s") from None


def _id(request: Request) -> str:
    if (id := request.query_params.get("id")) is None:
        raise RefusedRequest(400, "expected ?id=, the id of a document")
    return id


def _requested(request: Request, listed: Listed, data: bytes) -> tuple[int, int, int, dict[str, str]]:
    """Status, range and headers of the response to a request for a document."""
    tag = f'"{listed.version}"'
    headers = {"etag": tag, "accept-ranges": "bytes"}
    if (match := request.headers.get("if-match")) and match != "*" and tag not in _tags(match):
        raise RefusedRequest(412, "the document has changed")
    if (none := request.headers.get("if-none-match")) and (none == "*" or tag in _tags(none)):
        return 304, 0, 0, headers
    found = _RANGE.fullmatch(request.headers.get("range", ""))
    if found is None or found[0] == "bytes=-" or request.headers.get("if-range", tag) != tag:
        return 200, 0, len(data), headers
    first, last = found[1], found[2]
    start = int(first) if first else max(0, len(data) - int(last))
    end = min(int(last) + 1, len(data)) if first and last else len(data)
    if start >= end:
        headers["content-range"] = f"bytes */{len(data)}"
        return 416, 0, 0, headers
    headers["content-range"] = f"bytes {start}-{end - 1}/{len(data)}"
    return 206, start, end, headers


def _tags(header: str) -> list[str]:
    return [tag.strip() for tag in header.split(",")]
