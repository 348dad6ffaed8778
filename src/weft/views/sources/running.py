"""A service of a source that runs: in a thread beside whoever needs it, or as the whole of a process."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Thread
from time import monotonic, sleep

import uvicorn

from weft.errors import ConfigurationError
from weft.views.sources.rates import Rates
from weft.views.sources.serving import ServiceLimits, make_service
from weft.views.sources.source import Source

LOOPBACK = "127.0.0.1"
_START = 10.0  # seconds
_CONNECTIONS = 512


def serve(
    source: Source,
    rates: Rates | None = None,
    limits: ServiceLimits | None = None,
    *,
    host: str = LOOPBACK,
    port: int = 0,
    on_start: Callable[[str], object] = lambda _address: None,
) -> None:
    """Serve a source until the process is interrupted; `on_start` is told the address."""
    with listening(host, port) as (opened, address):
        on_start(address)
        with suppress(KeyboardInterrupt):  # raised again when all has ended in order
            _server(source, rates, limits).run([opened])


@contextmanager
def serving(
    source: Source,
    rates: Rates | None = None,
    limits: ServiceLimits | None = None,
    *,
    host: str = LOOPBACK,
    port: int = 0,
) -> Iterator[str]:
    """Serve a source in a thread for as long as this is open; gives its address."""
    with listening(host, port) as (opened, address):
        server = _server(source, rates, limits)
        thread = Thread(target=server.run, args=([opened],), name=f"source {address}", daemon=True)
        thread.start()
        end = monotonic() + _START
        while not server.started and thread.is_alive() and monotonic() < end:
            sleep(0.005)
        try:
            yield address
        finally:
            server.should_exit = server.force_exit = True
            thread.join(_START)


def _server(source: Source, rates: Rates | None, limits: ServiceLimits | None) -> uvicorn.Server:
    return uvicorn.Server(
        uvicorn.Config(
            make_service(source, rates, limits),
            log_level="warning",
            lifespan="off",
            limit_concurrency=_CONNECTIONS,
            timeout_keep_alive=30,
            timeout_graceful_shutdown=2,
        )
    )


@contextmanager
def listening(host: str, port: int) -> Iterator[tuple[socket.socket, str]]:
    """A socket that listens, and its address; raises ConfigurationError where that is not possible."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        # By its protocol asyncio knows that small pieces are to be sent at once (TCP_NODELAY).
        opened = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind((host, port))
        opened.listen(128)
    except (OSError, OverflowError) as error:
        raise ConfigurationError(f"{host}:{port}: cannot be served on: {error}") from None
    with opened:
        shown = f"[{host}]" if ":" in host else host
        yield opened, f"http://{shown}:{opened.getsockname()[1]}"
