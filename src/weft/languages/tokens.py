"""Query text in, tokens with their places out; the three languages share them."""

from __future__ import annotations

import re

from weft.errors import QueryError

_NAME = r"[^\W\d][\w.\-·]*"
_TOKEN = re.compile(
    rf"""\s*(?:
      (?P<name>{_NAME}(?::(?!:)(?:{_NAME}|\*))?|\*:{_NAME}) |
      (?P<sign>//|::|\.\.|!=|<=|>=|:=|->|[/\[\]()@,|*=<>+\-$\{{\}}]|\.(?!\d)) |
      (?P<number>\d+(?:\.\d*)?|\.\d+) |
      (?P<string>"(?:[^"]|"")*"|'(?:[^']|'')*') |
      (?P<end>\Z) |
      (?P<bad>.)
    )""",
    re.VERBOSE | re.DOTALL,
)

#: A token: its kind (name, sign, number, string, end), its text, and where it starts.
Token = tuple[str, str, int]


def tokenize(query: str, language: str) -> list[Token]:
    """The tokens of a query, the last one being its end."""
    tokens: list[Token] = []
    for found in _TOKEN.finditer(query):
        kind = found.lastgroup or "end"
        text = found[kind]
        tokens.append((kind, text, found.end() - len(text)))
        if kind == "end":
            break
        if kind == "bad":
            at = found.end() - 1
            raise QueryError(language, query, at, _bad_character(query, at))
    return tokens


def _bad_character(query: str, at: int) -> str:
    if query[at] in "\"'":
        return f"a string that starts with {query[at]} does not end"
    return f"expected a token of a query, found {query[at]!r}"
