"""Operators' work in, the time that each kind took out; off it costs next to nothing."""

from __future__ import annotations

from collections import defaultdict
from time import perf_counter


class Profile:
    """Seconds by operator. What runs inside another operator counts for itself alone."""

    def __init__(self, enabled: bool = False) -> None:
        self.enabled = enabled
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._inside: list[float] = []

    def __call__(self, operator: str) -> _Timer | _Nothing:
        """A context in which time counts for an operator."""
        return _Timer(self, operator) if self.enabled else _NOTHING

    def clear(self) -> None:
        """Begin anew."""
        self.seconds.clear()


class _Nothing:
    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None


_NOTHING = _Nothing()


class _Timer:
    def __init__(self, profile: Profile, operator: str) -> None:
        self._profile, self._operator = profile, operator

    def __enter__(self) -> None:
        self._profile._inside.append(0.0)
        self._start = perf_counter()

    def __exit__(self, *_: object) -> None:
        spent = perf_counter() - self._start
        inner = self._profile._inside.pop()
        self._profile.seconds[self._operator] += spent - inner
        if self._profile._inside:
            self._profile._inside[-1] += spent
