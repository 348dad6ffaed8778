"""Text to plan: one folder for each language."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from weft.errors import ConfigurationError
from weft.languages import xpath, xquery
from weft.plans.flwr import Flwr
from weft.plans.plan import Selection

Plan = Selection | Flwr
LANGUAGES: dict[str, Callable[[str, Mapping[str, str] | None, bool], Plan]] = {
    "xpath": xpath.parse,
    "xquery": xquery.parse,
}


def parse(
    query: str,
    language: str | None = None,
    namespaces: Mapping[str, str] | None = None,
    ignore_namespaces: bool = False,
) -> Plan:
    """The plan of a query; raises QueryError or UnsupportedError with the place."""
    if language not in (None, *LANGUAGES):
        raise ConfigurationError(f"language: expected one of {', '.join(LANGUAGES)}, found {language!r}")
    for prefix, uri in (namespaces or {}).items():
        if not isinstance(uri, str):
            raise ConfigurationError(f"namespaces: expected a namespace for prefix {prefix!r}, found {uri!r}")
    if language is None:
        language = recognize(query)
    return LANGUAGES[language](query, namespaces, ignore_namespaces)


def recognize(query: str) -> str:
    """The language of a query by how it starts: a FLWR query with its enclosing element."""
    return "xquery" if query.lstrip().startswith("<") else "xpath"


__all__ = ["LANGUAGES", "Plan", "parse", "recognize"]
