"""Text to plan: one folder for each language."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from weft.documents.document import Limits
from weft.errors import ConfigurationError, QueryError, WeftError, failure_of
from weft.languages import xpath, xquery, xscl
from weft.languages.expressions import starts_xquery
from weft.languages.reader import OnWarning, behind_comments
from weft.plans.flwr import Flwr
from weft.plans.lone_query import LoneQuery
from weft.plans.plan import Selection
from weft.plans.walk import count_steps
from weft.plans.xscl import Xscl

Plan = Selection | Flwr | LoneQuery | Xscl
LANGUAGES: dict[str, Callable[[str, Mapping[str, str] | None, bool, int, OnWarning | None], Plan]] = {
    "xpath": xpath.parse,
    "xquery": xquery.parse,
    "xscl": xscl.parse,
}
_NAMES = {"xpath": "XPath", "xquery": "XQuery", "xscl": "XSCL", None: "query"}
_WRITTEN_OUT = 20  # times the steps that a query may have, with those that positions repeat
_SHOWN = 1_000  # characters of a query too long to be read that its error keeps
_LITERAL = re.compile(r""""[^"]*"|'[^']*'|\(:""")
_FLWR = re.compile(r"\b(?:for|let)\s+\$\s*\w")  # what XPath has not, wherever it stands
_XSCL = re.compile(r"^\s*SELECT\s|->\s*\w|\sAS\s+\w|\b(?:JOIN|FOLLOWED\s+BY)\s*\{|\bPUBLISH\s+\w+\s*$")


def parse(
    query: str,
    language: str | None = None,
    namespaces: Mapping[str, str] | None = None,
    ignore_namespaces: bool = False,
    limits: Limits | None = None,
    on_warning: OnWarning | None = None,
) -> Plan:
    """The plan of a query; raises QueryError or UnsupportedError with the place, also for one that breaks a limit.

    `on_warning` is told of what can never be true, or always is.
    """
    if language not in (None, *LANGUAGES):
        raise ConfigurationError(f"language: expected one of {', '.join(LANGUAGES)}, found {language!r}")
    for prefix, uri in (namespaces or {}).items():
        if not isinstance(uri, str):
            raise ConfigurationError(f"namespaces: expected a namespace for prefix {prefix!r}, found {uri!r}")
    limits = limits or Limits()
    if _may_be_common(query, language, limits):
        common = xpath.parse_common(query, namespaces, ignore_namespaces, limits.max_query_nesting)
        if common is not None:
            return common
    return _parse(query, language, namespaces, ignore_namespaces, limits, on_warning)


def _parse(
    query: str,
    language: str | None,
    namespaces: Mapping[str, str] | None,
    ignore_namespaces: bool,
    limits: Limits,
    on_warning: OnWarning | None,
) -> Plan:
    """The plan of a query of any form, made by the parser of its language."""
    if (size := _bytes(query, limits.max_query_bytes)) > limits.max_query_bytes:
        reason = f"a query of {size} bytes, more than {limits.max_query_bytes}"
        raise QueryError(_NAMES[language], query[:_SHOWN], 0, reason)
    if language is None:
        language = recognize(query)
    try:
        plan = LANGUAGES[language](query, namespaces, ignore_namespaces, limits.max_query_nesting, on_warning)
    except WeftError:
        raise
    except Exception as error:  # whatever it is, it is this query's own
        raise QueryError(_NAMES[language], query, 0, f"a query that cannot be read: {failure_of(error)}") from None
    steps, written_out = count_steps(plan)
    if steps > limits.max_query_states:
        reason = f"{steps} steps in the paths of a query, more than {limits.max_query_states}"
        raise QueryError(_NAMES[language], query, 0, reason)
    if written_out > (most := _WRITTEN_OUT * limits.max_query_states):
        reason = f"positions behind predicates with positions: written out they have more than {most} steps"
        raise QueryError(_NAMES[language], query, 0, reason)
    return plan


def _may_be_common(query: str, language: str | None, limits: Limits) -> bool:
    """Whether a query may be XPath in a common form, and is so short that it is surely within the limits."""
    if 4 * len(query) > limits.max_query_bytes or len(query) > limits.max_query_states:
        return False
    return language == "xpath" or (language is None and "->" not in query)  # `[a->1]` looks like XSCL


def _bytes(query: str, enough: int) -> int:
    """The size of a query; of one with more characters than there may be bytes it need not be exact."""
    return len(query) if len(query) > enough else len(query.encode("utf-8", "surrogatepass"))


def recognize(query: str) -> str:
    """The language of a query: FLWR starts with an element or a word such as `for $`, XSCL has words of its own.

    An XSCL query that is a stream or a path alone looks like XPath: there the language must be told.
    """
    start = behind_comments(query, 0)
    if start is not None and starts_xquery(query, start):
        return "xquery"
    plain = _without_literals(query)
    if _XSCL.search(plain):
        return "xscl"
    return "xquery" if _FLWR.search(plain) else "xpath"


def _without_literals(query: str) -> str:
    """A query with empty strings for those that it has, and without comments."""
    kept, at = [], 0
    while (found := _LITERAL.search(query, at)) is not None:
        is_comment = found[0] == "(:"
        kept += [query[at : found.start()], " " if is_comment else "''"]
        end = behind_comments(query, found.start()) if is_comment else found.end()
        at = len(query) if end is None else end
    return "".join([*kept, query[at:]])


__all__ = ["LANGUAGES", "Plan", "parse", "recognize"]
