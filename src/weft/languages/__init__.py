"""Text to plan: one folder for each language."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from weft.errors import ConfigurationError
from weft.languages import xpath, xquery, xscl
from weft.plans.flwr import Flwr
from weft.plans.plan import Selection
from weft.plans.xscl import Xscl

Plan = Selection | Flwr | Xscl
LANGUAGES: dict[str, Callable[[str, Mapping[str, str] | None, bool], Plan]] = {
    "xpath": xpath.parse,
    "xquery": xquery.parse,
    "xscl": xscl.parse,
}
_LITERAL = re.compile(r""""[^"]*"|'[^']*'""")
_XSCL = re.compile(r"^\s*SELECT\s|->\s*\w|\sAS\s+\w|\b(?:JOIN|FOLLOWED\s+BY)\s*\{|\bPUBLISH\s+\w+\s*$")


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
    """The language of a query: a FLWR query starts with its enclosing element, and XSCL has words and signs of its own.

    An XSCL query that is a stream or a path alone looks like XPath: there the language must be told.
    """
    if query.lstrip().startswith("<"):
        return "xquery"
    return "xscl" if _XSCL.search(_LITERAL.sub("''", query)) else "xpath"


__all__ = ["LANGUAGES", "Plan", "parse", "recognize"]
