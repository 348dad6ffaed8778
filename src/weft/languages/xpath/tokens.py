"""Query text in, tokens with their places out."""

from __future__ import annotations

import re
from typing import NamedTuple

from weft.errors import QueryError

_NAME = r"[^\W\d][\w.\-·]*"
_TOKEN = re.compile(
    rf"""\s*(?:
      (?P<axis>{_NAME}(?=\s*::)) |
      (?P<name>{_NAME}(?::(?!:)(?:{_NAME}|\*))?|\*:{_NAME}) |
      (?P<number>\d+(?:\.\d*)?|\.\d+) |
      (?P<string>"(?:[^"]|"")*"|'(?:[^']|'')*') |
      (?P<sign>//|::|\.\.|!=|<=|>=|:=|->|[/\[\]()@.,|*=<>+\-$\{{\}}]) |
      (?P<end>\Z) |
      (?P<bad>.)
    )""",
    re.VERBOSE | re.DOTALL,
)


class Token(NamedTuple):
    """A token: its kind (axis, name, number, string, sign, end), its text and where it starts."""

    kind: str
    text: str
    at: int


def tokenize(query: str, language: str = "XPath") -> list[Token]:
    """The tokens of a query, the last one being its end."""
    tokens = []
    for found in _TOKEN.finditer(query):
        kind = found.lastgroup or "end"
        at = found.start(kind)
        if kind == "bad":
            raise QueryError(language, query, at, _bad_character(query, at))
        tokens.append(Token(kind, found[kind], at))
        if kind == "end":
            break
    return tokens


def _bad_character(query: str, at: int) -> str:
    if query[at] in "\"'":
        return f"a string that starts with {query[at]} does not end"
    return f"expected a token of a query, found {query[at]!r}"
