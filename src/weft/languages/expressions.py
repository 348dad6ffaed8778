"""The word that an expression of XQuery starts with in, what errors call it out."""

from __future__ import annotations

import re

_BEHIND = {  # the sign behind the word that makes it more than a name
    "$": ("for", "let", "some", "every"),
    "(": ("if", "switch", "typeswitch"),
    "{": ("try", "element", "attribute", "text", "document", "comment"),
}
_EXPRESSIONS = {
    "for": "a FLWR expression",
    "let": "a FLWR expression",
    "if": "if … then … else",
    **{word: f"a computed {word}" for word in ("element", "attribute", "text", "document", "comment")},
}
_STARTS = re.compile("|".join(rf"(?:{'|'.join(words)})\s*{re.escape(sign)}" for sign, words in _BEHIND.items()))
_MODULE = re.compile(
    r"<|declare\s+(?:base-uri|boundary-space|construction|context|copy-namespaces|default|function|namespace|option|"
    r"ordering|variable)\b|import\s+(?:module|schema)\b|module\s+namespace\b|xquery\s+(?:encoding|version)\b"
)


def expression_name(word: str, following: str) -> str | None:
    """What an expression is called that starts with a word, with the token behind it; nothing for names.

    >>> expression_name("some", "$"), expression_name("if", "/")
    ('some … satisfies', None)
    """
    if word not in _BEHIND.get(following, ()):
        return None
    return _EXPRESSIONS.get(word, f"{word} … satisfies" if following == "$" else word)


def starts_xquery(query: str, at: int = 0) -> bool:
    """Whether a query can only be XQuery, by what it starts with."""
    return _MODULE.match(query, at) is not None or _STARTS.match(query, at) is not None
