"""Query text in, tokens out; the languages share them. Places are worked out when an error needs them."""

from __future__ import annotations

import re

from weft.errors import QueryError

_NAME = r"[^\W\d][\w.\-·]*"
_TOKEN = re.compile(
    rf"""\s*(
      {_NAME}(?::(?!:)(?:{_NAME}|\*))?|\*:{_NAME}                    # name
      |//|::|\.\.|!=|<=|>=|:=|->|[/\[\]()@,|*=<>+\-$\{{\}}]|\.(?!\d)  # sign
      |\d+(?:\.\d*)?|\.\d+                                           # number
      |"(?:[^"]|"")*"|'(?:[^']|'')*'                                 # string
      |\Z|.
    )""",
    re.VERBOSE | re.DOTALL,
)
_KINDS = dict.fromkeys("/[]()@,|*=<>+-$.{}:!", "sign") | dict.fromkeys("0123456789", "number")
_KINDS |= {'"': "string", "'": "string", "": "end"}
_ALONE = frozenset("\"'!:")  # no token, unless more follows

#: A token: its kind (name, sign, number, string, end), its text, and its place, which `place_of` makes an offset.
Token = tuple[str, str, int]


def tokenize(query: str, language: str) -> list[Token]:
    """The tokens of a query with their numbers, the last one being its end."""
    tokens = [(kind_of(text), text, at) for at, text in enumerate(_TOKEN.findall(query))]
    for kind, _, at in tokens:
        if kind == "bad":
            place = place_of(query, at)
            raise QueryError(language, query, place, _bad_character(query, place))
    return tokens


def kind_of(text: str) -> str:
    """The kind of a token by its first character."""
    kind = _KINDS.get(text[:1], "name")
    if len(text) == 1:
        if kind == "name":
            return "name" if text.isalpha() or text == "_" else "bad"
        return "bad" if text in _ALONE else kind
    if kind == "sign" and (text[1].isalnum() or text[1] == "_" or text[:2] == "*:"):
        return "name" if text[0] == "*" else "number" if text[0] == "." else kind
    return kind


def place_of(query: str, number: int) -> int:
    """The offset of a token that `tokenize` gave this number."""
    for at, found in enumerate(_TOKEN.finditer(query)):
        if at == number:
            return found.start(1)
    return len(query)


def token_at(query: str, at: int, language: str) -> Token:
    """The token that starts at an offset, or behind the white space there; its place is an offset."""
    found = _TOKEN.match(query, at)
    assert found is not None, "every text has a token, if only its end"
    kind, text, place = kind_of(found[1]), found[1], found.start(1)
    if kind == "bad":
        raise QueryError(language, query, place, _bad_character(query, place))
    return kind, text, place


def _bad_character(query: str, at: int) -> str:
    if query[at] in "\"'":
        return f"a string that starts with {query[at]} does not end"
    return f"expected a token of a query, found {query[at]!r}"
