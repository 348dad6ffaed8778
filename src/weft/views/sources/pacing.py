"""Rates that a served source is held to: waiting so that answers take as long as they would elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from time import perf_counter

from weft.views.sources.rates import Rates

_BEAT = 0.02  # seconds between two pieces of a body, about
_PIECE = 64 << 10  # bytes of a body that is not paced


async def wait_latency(rates: Rates) -> None:
    """Wait as long as it takes until an answer begins."""
    if rates.latency is not None:
        await asyncio.sleep(rates.latency.mean)


async def wait_processing(rates: Rates, size: int, start: float) -> float:
    """Wait until a result of so many bytes may be there; the seconds since the start, at the end."""
    if rates.processing is not None:
        await asyncio.sleep(max(0.0, start + size / rates.processing.mean - perf_counter()))
    return perf_counter() - start


async def paced(rates: Rates, body: bytes, size: int) -> AsyncIterator[bytes]:
    """The pieces of a body with a result of so many bytes, the last of them when the result may have arrived.

    What a body has beside the result (references, paths, framing) takes no time of its own: so an answer takes what
    the cost model says, size by rate, whichever form it has.
    """
    seconds = size / rates.transmission.mean if rates.transmission is not None else 0.0
    number = max(1, round(seconds / _BEAT), -(-len(body) // _PIECE))
    number = min(number, max(1, len(body)))
    start = perf_counter()
    for at in range(number):
        if (left := start + seconds * (at + 1) / number - perf_counter()) > 0:
            await asyncio.sleep(left)
        yield body[len(body) * at // number : len(body) * (at + 1) // number]
