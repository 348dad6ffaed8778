"""A frame whose columns are called like those that are to be added in, the same with a prefix before these out."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from weft.errors import ConfigurationError


def without_clashes(
    frame: DataFrame, passed: Sequence[str], added: Sequence[str], prefix: str | None
) -> tuple[DataFrame, dict[str, str]]:
    """The frame, with a prefix before the names of columns that are to be added, and how these are called now."""
    if not prefix:
        return frame, {}
    names = {name: prefix + name for name in passed if name in added}
    if taken := [name for name in names.values() if name in frame.columns]:
        raise ConfigurationError(f"prefix: the frame has a column {taken[0]!r} already; choose another prefix")
    return frame.withColumnsRenamed(names), names
