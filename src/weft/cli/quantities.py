"""Sizes and times as people write them in, numbers out: `10MB` and `20ms`."""

from __future__ import annotations

import re

from weft.errors import ConfigurationError

_SIZES = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30}
_TIMES = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "": 1.0, "min": 60.0}
_QUANTITY = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*(?:/s)?\s*")


def read_size(option: str, text: str) -> float:
    """Bytes, or bytes a second.

    >>> read_size("--budget", "1.5MB"), read_size("--rate", "2 KiB/s")
    (1500000.0, 2048.0)
    """
    return _read(option, text, _SIZES, "a size such as 500kB, 10MB or 2GiB")


def read_seconds(option: str, text: str) -> float:
    """Seconds.

    >>> read_seconds("--latency", "20ms")
    0.02
    """
    return _read(option, text, _TIMES, "a time such as 20ms or 1.5s")


def _read(option: str, text: str, units: dict[str, float] | dict[str, int], expected: str) -> float:
    found = _QUANTITY.fullmatch(text)
    unit = found and units.get(found[2].lower())
    if not found or not unit or float(found[1]) == 0:
        raise ConfigurationError(f"{option}: expected {expected}, found {text!r}")
    return float(found[1]) * unit
