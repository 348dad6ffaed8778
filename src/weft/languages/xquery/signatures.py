"""The prolog of a query in, what its functions take out: they may be called before they are declared."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from weft.errors import QueryError
from weft.languages.xquery.primaries import FunctionSignature

if TYPE_CHECKING:
    from weft.languages.xquery.whole_query import ProgramParser

_NAMESPACE = re.compile(r"""\bdeclare\s+namespace\s+([\w.\-]+)\s*=\s*("[^"]*"|'[^']*')""")
_FUNCTION = re.compile(r"\bdeclare\s+function\s+(?=\w)")


def find_signatures(parser: ProgramParser) -> dict[tuple[str, int], FunctionSignature]:
    """Of each function by its name and number of parameters; what cannot be read is told when its turn comes."""
    start, namespaces = parser.at, dict(parser.namespaces)
    found: dict[tuple[str, int], FunctionSignature] = {}
    for declared in _NAMESPACE.finditer(parser.query, start):
        parser.namespaces[declared[1]] = declared[2][1:-1]
    for declared in _FUNCTION.finditer(parser.query, start):
        try:
            parser.seek(declared.end())
            name = parser.function_name(parser.advance(), declared.end())
            _, signature, _ = parser.signature()
        except QueryError:
            continue
        found[name, len(signature.parameters)] = signature
    parser.namespaces = namespaces
    parser.seek(start)
    return found
