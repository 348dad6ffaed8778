"""Work on a response in, the response out; if whoever asked goes away, the work is stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from weft.views.bounds import AnswerBounds, StoppedError


async def while_wanted(request: Request, bounds: AnswerBounds, work: Coroutine[Any, Any, Response]) -> Response:
    """The response that comes of some work; if whoever asked for it goes away, that is stopped."""
    working, gone = asyncio.ensure_future(work), asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait((working, gone), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            bounds.stop()
            raise StoppedError
        return working.result()
    finally:
        working.cancel()
        gone.cancel()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
