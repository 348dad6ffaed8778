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
        tokens.append(_token(found, query, language))
        if tokens[-1][0] == "end":
            break
    return tokens


def token_at(query: str, at: int, language: str) -> Token:
    """The token that starts at a place, or behind the white space there."""
    found = _TOKEN.match(query, at)
    assert found is not None, "every text has a token, if only its end"
    return _token(found, query, language)


def _token(found: re.Match[str], query: str, language: str) -> Token:
    kind = found.lastgroup or "end"
    text = found[kind]
    if kind == "bad":
        at = found.end() - 1
        raise QueryError(language, query, at, _bad_character(query, at))
    return kind, text, found.end() - len(text)


def _bad_character(query: str, at: int) -> str:
    if query[at] in "\"'":
        return f"a string that starts with {query[at]} does not end"
    return f"expected a token of a query, found {query[at]!r}"
