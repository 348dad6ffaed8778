"""Requests over HTTP: bounded in time and size, and whatever goes wrong is a SourceError."""

from __future__ import annotations

import asyncio
import json
import os
import ssl
from collections.abc import Collection, Mapping
from concurrent.futures import CancelledError
from dataclasses import dataclass
from functools import cache
from threading import Lock, Thread
from typing import Any

import httpx

from weft.errors import failure_of
from weft.views.bounds import StoppedError, bounds_here
from weft.views.sources.source import SourceError

_REDIRECTS = 5
_GRACE = 5.0  # seconds beyond the timeout, if even that is not kept
_MOVED = (301, 302, 303, 307, 308)
ANY_STATUS = tuple(status for status in range(200, 600) if status not in _MOVED)
_TOLD = 300  # characters of what a server says about an error


@dataclass(frozen=True, slots=True)
class Reply:
    """What a server answered, read to its end."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """Its body as JSON; raises ValueError."""
        return json.loads(self.body)


@cache
def _certificates() -> ssl.SSLContext:
    """Whom to trust, read once for all transports: it takes longer than most answers."""
    return httpx.create_ssl_context()


class Transport:
    """Sends requests for a source. None takes longer than the timeout, whatever the server does meanwhile.

    Redirects are followed to http and https, never from https to http.
    """

    def __init__(self, source: str, timeout: float, max_bytes: int) -> None:
        self.source = source  # how it is called in errors
        self._timeout, self._max_bytes = timeout, max_bytes
        # As it is kept, not compressed on the way: a strong ETag is that of the document itself.
        self._headers = {"accept-encoding": "identity", "user-agent": "weft"}
        self._opened: httpx.AsyncClient | None = None

    @property
    def _client(self) -> httpx.AsyncClient:
        """What keeps the connections, made for the first request: where views answer, there is none.

        Asked for in the loop only, which is one thread.
        """
        if self._opened is None:
            self._opened = httpx.AsyncClient(timeout=self._timeout, headers=self._headers, verify=_certificates())
        return self._opened

    def close(self) -> None:
        """Let go of the connections."""
        if self._opened is not None:
            asyncio.run_coroutine_threadsafe(self._opened.aclose(), _LOOP.get()).result(_GRACE)

    def request(
        self,
        method: str,
        url: str,
        *,
        accepted: Collection[int] = (200,),
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
        params: Mapping[str, str] | None = None,
    ) -> Reply:
        """Send a request; raises SourceError unless the status is an accepted one."""

        async def send() -> Reply:
            async with asyncio.timeout(self._timeout):
                request = self._client.build_request(method, url, headers=headers, content=content, params=params)
                return await self._follow(request, accepted)

        bounds = bounds_here()
        bounds.check()
        try:
            # In a loop, since only there a request as a whole has a time limit: elsewhere each read has its own.
            sent = asyncio.run_coroutine_threadsafe(send(), _LOOP.get())
            with bounds.stopping(sent.cancel):
                reply = sent.result(self._timeout + _GRACE)
        except CancelledError:
            raise StoppedError from None
        except (TimeoutError, httpx.TimeoutException):
            raise self.error(f"not answered to the end within {self._timeout:g} s") from None
        except SourceError:
            raise
        except Exception as error:  # whatever it is, it is this source's own
            raise self.error(_reason_of(error)) from None
        if reply.status not in accepted:
            text = reply.body[: 4 * _TOLD].decode("utf-8", "replace").strip()[:_TOLD]
            raise self.error(f"HTTP status {reply.status}" + (f": {text}" if text else ""))
        return reply

    def error(self, reason: str) -> SourceError:
        """What is wrong with the source."""
        return SourceError(self.source, reason)

    async def _follow(self, request: httpx.Request, accepted: Collection[int]) -> Reply:
        for _ in range(_REDIRECTS + 1):
            reply = await self._send(request)
            if reply.status not in _MOVED or reply.status in accepted:
                return reply
            request = self._client.build_request(
                request.method, self._target(request, reply), headers=_without_host(request)
            )
        raise self.error(f"more than {_REDIRECTS} redirects")

    async def _send(self, request: httpx.Request) -> Reply:
        response = await self._client.send(request, stream=True)
        try:
            parts: list[bytes] = []
            size = 0
            async for part in response.aiter_bytes():
                parts.append(part)
                size += len(part)
                if size > self._max_bytes:
                    raise self.error(f"answers more than {self._max_bytes} bytes")
            return Reply(response.status_code, response.headers, b"".join(parts))
        finally:
            await response.aclose()

    def _target(self, request: httpx.Request, reply: Reply) -> httpx.URL:
        if request.method not in ("GET", "HEAD"):
            raise self.error(f"HTTP status {reply.status}: expected an answer, found a redirect")
        url = request.url.join(reply.headers.get("location", ""))
        if url.scheme not in ("http", "https") or (request.url.scheme, url.scheme) == ("https", "http"):
            raise self.error(f"redirects from {request.url.scheme} to {url.scheme or 'nowhere'}, which is not followed")
        return url


def _reason_of(error: BaseException) -> str:
    """Why a request failed: what the system says, if that is behind it."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.strerror:
            return os.strerror(cause.errno) if cause.errno and cause.errno > 0 else cause.strerror
        cause = cause.__cause__ or cause.__context__
    return str(error) if isinstance(error, httpx.HTTPError | httpx.InvalidURL) and str(error) else failure_of(error)


def _without_host(request: httpx.Request) -> dict[str, str]:
    return {name: value for name, value in request.headers.items() if name != "host"}


class _RequestLoop:
    """The loop in which all requests of this process run, in a thread of its own; made when it is needed first."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin anew, as in a child process, where the thread does not live on."""
        self._lock = Lock()
        self._made: asyncio.AbstractEventLoop | None = None

    def get(self) -> asyncio.AbstractEventLoop:
        """The loop, which is the same for all threads."""
        with self._lock:
            if self._made is None:
                self._made = asyncio.new_event_loop()
                Thread(target=self._made.run_forever, name="requests to sources", daemon=True).start()
            return self._made


_LOOP = _RequestLoop()
os.register_at_fork(after_in_child=_LOOP.forget)
