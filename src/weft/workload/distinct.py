"""A way to draw a text in, so many different ones out."""

from __future__ import annotations

from collections.abc import Callable

from weft.errors import ConfigurationError


def draw_distinct(draw: Callable[[], str], number: int, advice: str) -> list[str]:
    """So many different queries; the effort is bounded by how many there are to find."""
    found: dict[str, None] = {}
    misses = 0
    while len(found) < number:
        before = len(found)
        found[draw()] = None
        misses += len(found) == before
        if misses > 10_000 + 10 * len(found):
            raise ConfigurationError(
                f"found only {len(found)} distinct queries of {number}: {advice}, or set distinct=False"
            )
    return list(found)
