"""Requests in, out how long a plain cache of whole answers makes them wait that drops what was used least recently."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from random import Random

from weft.views.workload import Workload

_REQUESTS, _WARMING = 22_000, 2_000


def replay_lru(
    workload: Workload,
    miss: Mapping[str, float],
    hit: Mapping[str, float],
    sizes: Mapping[str, int],
    limit: float,
    random: Random,
) -> float:
    """The mean seconds of a request, drawn by frequency, given what misses and hits take.

    An answer that is larger than the cache is not kept.
    """
    names = [query.name for query in workload.queries]
    asked = random.choices(names, [query.frequency for query in workload.queries], k=_REQUESTS)
    held: OrderedDict[str, int] = OrderedDict()
    room, waited = limit, 0.0
    for number, name in enumerate(asked):
        if number >= _WARMING:
            waited += hit[name] if name in held else miss[name]
        if name in held:
            held.move_to_end(name)
            continue
        if sizes[name] > limit:
            continue
        while sizes[name] > room:
            room += held.popitem(last=False)[1]
        held[name] = sizes[name]
        room -= sizes[name]
    return waited / (_REQUESTS - _WARMING)
