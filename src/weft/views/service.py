"""A query server for other programs: HTTP in, JSON out, with limits on time and size."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from weft.errors import QueryError, WeftError
from weft.views.answers import QueryAnswer
from weft.views.bounds import AnswerBounds, AnswerTooLargeError, bounded
from weft.views.server import QueryServer
from weft.views.sources.running import listening
from weft.views.sources.wire import in_json

_MOST_TEXT = 64 * 1024  # bytes of a query


@dataclass(frozen=True, slots=True)
class QueryLimits:
    """Seconds that an answer may take, and nodes and bytes of XML that it may have."""

    timeout: float = 30.0
    max_nodes: int = 100_000
    max_bytes: int = 100_000_000


def make_query_service(server: QueryServer, limits: QueryLimits) -> Starlette:
    """The application: `/query?xpath=…`, `/views` and `/sources`."""

    async def query(request: Request) -> JSONResponse:
        text = request.query_params.get("xpath", "")
        if not 0 < (size := len(text.encode("utf-8", "surrogatepass"))) <= _MOST_TEXT:
            return _refused(400, f"expected xpath=… of at most {_MOST_TEXT} bytes, found {size}")
        namespaces = {
            name.removeprefix("xmlns:"): value
            for name, value in request.query_params.items()
            if name.startswith("xmlns:")
        }

        bounds = AnswerBounds(limits.max_nodes, limits.max_bytes)

        def answer() -> JSONResponse:
            with bounded(bounds):
                found = server.query(text, namespaces, fresh="fresh" in request.query_params)
                return JSONResponse(_told(found), 200 if found.is_whole else 206)

        try:
            return await asyncio.wait_for(asyncio.to_thread(answer), limits.timeout)
        except TimeoutError:
            bounds.stop()  # the thread that works on it, and the sources that it asks
            return _refused(504, f"no answer within {limits.timeout:g} s")
        except AnswerTooLargeError as error:
            return _refused(413, str(error))
        except QueryError as error:
            return _refused(400, str(error))
        except WeftError as error:  # it is not the query that is wrong
            return _refused(500, str(error))

    async def views(_: Request) -> JSONResponse:
        return JSONResponse([asdict(view) for view in await asyncio.to_thread(server.views)])

    async def sources(_: Request) -> JSONResponse:
        entries = await asyncio.to_thread(server.registry.entries)
        return JSONResponse([{"name": entry.name, "location": entry.location} for entry in entries])

    return Starlette(routes=[Route("/query", query), Route("/views", views), Route("/sources", sources)])


def run_service(
    folder: Path, host: str, port: int, limits: QueryLimits, on_start: Callable[[str], object] = lambda _address: None
) -> None:
    """Serve until the process is interrupted; `on_start` is told the address."""
    with QueryServer(folder, timeout=limits.timeout) as server, listening(host, port) as (opened, address):
        on_start(address)
        app = make_query_service(server, limits)
        config = uvicorn.Config(app, log_level="warning", lifespan="off", timeout_graceful_shutdown=2)
        with suppress(KeyboardInterrupt):  # raised again when all has ended in order
            uvicorn.Server(config).run([opened])


def _told(found: QueryAnswer) -> dict[str, Any]:
    return {
        "nodes": [in_json(row) for row in found.rows.to_pylist()],
        "ways": [asdict(way) for way in found.ways],
        "missing": [{"source": error.source, "reason": error.reason} for error in found.missing],
        "rejected": [str(error) for error in found.rejected],
        "damaged": [{"source": error.source, "reason": error.reason} for error in found.damaged],
    }


def _refused(status: int, reason: str) -> JSONResponse:
    return JSONResponse({"error": reason}, status)
