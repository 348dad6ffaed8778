"""What a command of the query server loads late in; where a library is not installed, one line that tells how out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from weft.errors import ConfigurationError

if TYPE_CHECKING:
    from weft.views.sources.source import Source


@contextmanager
def libraries() -> Iterator[None]:
    """What a command needs is loaded here: the others are there at once, and work without it."""
    try:
        yield
        from weft.views.sources.opening import register_opener  # noqa: PLC0415

        register_opener("spark", _open_table)
    except ModuleNotFoundError as error:
        raise ConfigurationError(f"this command needs more libraries ({error}): pip install 'weft[views]'") from None


def _open_table(location: str, name: str | None) -> Source:
    """A table on Spark as a source: Spark is loaded when there is one."""
    try:
        from weft.spark.views_source import open_table  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"{location} needs more libraries (no module {error.name}): pip install 'weft[spark]'"
        ) from None
    return open_table(location, name)
