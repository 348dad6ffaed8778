"""Looks at a source in, out how often it changes and which share of it: what keeping its views up to date costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from xxhash import xxh3_128_hexdigest

from weft.errors import ConfigurationError

HALF_LIFE = 30 * 86_400.0  # seconds after which what was seen counts half


@dataclass(frozen=True, slots=True)
class Changes:
    """What looks at a source have found, each of them fading: a source that is looked at seldom changes seldom here.

    That is what counts: however often it changes between two looks, its views are brought up to date once.
    """

    seen: str = ""  # of the tokens when it was last looked at; nothing if it never was
    last: float = 0.0
    watched: float = 0.0  # seconds
    found: float = 0.0  # looks that found a change
    shares: float = 0.0  # the sum of the shares that had changed
    weighed: float = 0.0  # looks that could tell the share

    def look(self, tokens: Mapping[str, str], now: float, share: float | None = None) -> Changes:
        """With another look at the source, at a time in seconds; `share` of it has changed, if that is known."""
        listed = "\n".join(f"{id}\t{token}" for id, token in tokens.items())
        seen = xxh3_128_hexdigest(listed.encode("utf-8", "surrogatepass"))
        elapsed = max(now - self.last, 0.0) if self.seen else 0.0
        fading = 0.5 ** (elapsed / HALF_LIFE)
        is_changed = bool(self.seen) and seen != self.seen
        return Changes(
            seen,
            max(now, self.last),
            self.watched * fading + elapsed,
            self.found * fading + is_changed,
            self.shares * fading + (share or 0.0),
            self.weighed * fading + (share is not None and share > 0),
        )

    @property
    def rate(self) -> float | None:
        """Changes a second; None if it was never looked at twice."""
        return self.found / self.watched if self.watched > 0 else None

    def rate_over(self, seconds: float) -> float:
        """Changes a second, as if it had been watched for so long at least.

        What is weighed against it is counted over that time: one change in the first minute is none every minute.
        """
        watched = max(self.watched, seconds)
        return self.found / watched if watched > 0 else 0.0

    @property
    def share(self) -> float | None:
        """The share of it that a change concerns; None if no look could tell."""
        return min(self.shares / self.weighed, 1.0) if self.weighed > 0 else None

    def to_json(self) -> list[Any]:
        """Plain values, which `changes_from_json` reads."""
        return [self.seen, self.last, self.watched, self.found, self.shares, self.weighed]


def changes_from_json(values: Any) -> Changes:
    """Changes as `to_json` gave them, none where there is nothing; raises ConfigurationError for what is none."""
    if values is None:
        return Changes()
    try:
        seen, *numbers = values
        return Changes(str(seen), *map(float, numbers))
    except (TypeError, ValueError) as error:
        raise ConfigurationError(f"changes: expected a digest and five numbers, found {error}") from None
