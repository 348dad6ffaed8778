"""The options of a generator in, a ConfigurationError out where one is too small or too large."""

from __future__ import annotations

from weft.errors import ConfigurationError


def check_least(**options: tuple[float, float]) -> None:
    """Each option as its value and the least that it may be."""
    for option, (value, least) in options.items():
        if value < least:
            raise ConfigurationError(f"{option} must be at least {least}, found {value}")


def check_probability(**options: float) -> None:
    """Each option between 0 and 1."""
    for option, value in options.items():
        if not 0 <= value <= 1:
            raise ConfigurationError(f"{option} must be a probability from 0 to 1, found {value}")
