"""A query of XQuery in, its plan out: what all queries share where it has that form, else a query worked out alone."""

from __future__ import annotations

import re
from collections.abc import Mapping

from weft.errors import QueryError, UnsupportedError
from weft.languages.reader import MOST_NESTED, NAME, OnWarning, behind_comments
from weft.languages.xpath.names import Names
from weft.languages.xquery.expression_reader import LANGUAGE
from weft.languages.xquery.parser import FlwrParser
from weft.languages.xquery.whole_query import parse_lone_query
from weft.plans.flwr import Flwr
from weft.plans.lone_query import LoneQuery
from weft.plans.plan import Selection

_DECLARED = re.compile(rf"""declare\s+namespace\s+({NAME})\s*=\s*("[^"&]+"|'[^'&]+')\s*;""")


def parse(
    query: str,
    namespaces: Mapping[str, str] | None = None,
    ignore_namespaces: bool = False,
    most_nested: int = MOST_NESTED,
    on_warning: OnWarning | None = None,
) -> Flwr | Selection | LoneQuery:
    """The plan of a FLWR query: what all queries share where it has that form, else a query worked out alone.

    >>> parse("for $b in /bib/book return $b/title").path[-1].label
    'title'
    """
    try:
        return _shared(query, namespaces, ignore_namespaces, most_nested, on_warning)
    except QueryError as error:
        shared = error
    if isinstance(shared, UnsupportedError) and shared.feature.startswith("nesting deeper"):
        raise shared
    try:
        place = f"what stands at {shared.line}:{shared.column} has no form that queries share"
        why = shared.feature if isinstance(shared, UnsupportedError) else place
        return parse_lone_query(query, namespaces, ignore_namespaces, most_nested, on_warning, why)
    except QueryError as error:
        raise (shared if shared.at > error.at else error) from None


def _shared(
    query: str,
    namespaces: Mapping[str, str] | None,
    ignore_namespaces: bool,
    most_nested: int,
    on_warning: OnWarning | None,
) -> Flwr | Selection:
    """The plan that is merged into the one of all queries."""
    declared, start = _prolog(query, namespaces or {}) if "declare" in query else (namespaces or {}, 0)
    parser = FlwrParser(query, Names(declared, ignore_namespaces), LANGUAGE).within(most_nested, on_warning)
    if start:
        parser.seek(start)
    return parser.query_plan()


def parse_flwr(query: str) -> Flwr:
    """The plan of a query that builds messages: one with an enclosing element."""
    plan = parse(query)
    assert isinstance(plan, Flwr), "without an enclosing element it is a selection"
    return plan


def _prolog(query: str, namespaces: Mapping[str, str]) -> tuple[Mapping[str, str], int]:
    """The namespaces with those that a query declares, and where it goes on behind that."""
    declared, at = dict(namespaces), 0
    while (found := _DECLARED.match(query, behind_comments(query, at) or at)) is not None:
        declared[found[1]], at = found[2][1:-1], found.end()
    return declared, at
