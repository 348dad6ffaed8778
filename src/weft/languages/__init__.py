"""Text to plan: one folder for each language."""

from __future__ import annotations

from collections.abc import Mapping

from weft.errors import ConfigurationError
from weft.languages import xpath
from weft.plans.plan import Selection

LANGUAGES = ("xpath",)


def parse(
    query: str,
    language: str | None = None,
    namespaces: Mapping[str, str] | None = None,
    ignore_namespaces: bool = False,
) -> Selection:
    """The plan of a query; raises QueryError or UnsupportedError with the place."""
    if language not in (None, *LANGUAGES):
        raise ConfigurationError(f"language: expected one of {', '.join(LANGUAGES)}, found {language!r}")
    return xpath.parse(query, namespaces, ignore_namespaces)


__all__ = ["LANGUAGES", "parse"]
