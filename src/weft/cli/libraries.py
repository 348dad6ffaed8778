"""What a command of the query server loads late in; where a library is not installed, one line that tells how out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from weft.errors import ConfigurationError


@contextmanager
def libraries() -> Iterator[None]:
    """What a command needs is loaded here: the others are there at once, and work without it."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise ConfigurationError(f"this command needs more libraries ({error}): pip install 'weft[views]'") from None
