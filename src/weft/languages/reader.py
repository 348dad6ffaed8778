"""Tokens in, one after the other out, with the errors that every language tells in the same words."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn, Self

from weft.documents.document import Limits
from weft.errors import QueryError, QueryWarning, UnsupportedError
from weft.languages.tokens import Token, place_of, tokenize

#: How deep a query may be nested; what reads and runs it is recursive.
MOST_NESTED = Limits().max_query_nesting
_MOST_WARNINGS = 10  # of one query: each has to find its place, and nobody reads more
OnWarning = Callable[[QueryWarning], object]


class Reader:
    """A place in the tokens of a query: `kind`, `text` and `at` are those of the next token."""

    def __init__(self, query: str, language: str) -> None:
        self.query, self.language = query, language
        self._tokens = self.tokens()
        self._next = 0
        self._nested = 0
        self.most_nested = MOST_NESTED
        self._on_warning: OnWarning | None = None
        self._warned: set[tuple[int, str]] = set()
        self.kind, self.text, self.at = self._tokens[0]

    def within(self, most_nested: int, on_warning: OnWarning | None) -> Self:
        """The same reader, for queries that are nested so deep at most; whoever wants to know of warnings is told."""
        self.most_nested, self._on_warning = most_nested, on_warning
        return self

    def tokens(self) -> list[Token]:
        """The tokens to begin with."""
        return tokenize(self.query, self.language)

    def advance(self) -> str:
        """Go to the next token; the text of this one comes back."""
        text = self.text
        self._next += 1
        self.kind, self.text, self.at = self._tokens[self._next]
        return text

    def enter(self) -> None:
        """Go into brackets, but not too deep."""
        self._nested += 1
        self.check_nesting(self._nested, self.at)

    def check_nesting(self, depth: int, at: int) -> None:
        """Refuse what is nested too deep, whether by brackets or otherwise."""
        if depth > self.most_nested:
            self.refuse(f"nesting deeper than {self.most_nested}", at)

    def leave(self) -> None:
        """Come out of brackets."""
        self._nested -= 1

    @property
    def following(self) -> str:
        """The text of the token behind the next one."""
        return self._tokens[self._next + 1][1] if self.kind != "end" else ""

    def accept(self, sign: str) -> bool:
        """Take a sign if it is next."""
        if self.text == sign and self.kind == "sign":
            self.advance()
            return True
        return False

    def accept_word(self, word: str) -> bool:
        """Take a name that is a word of the language here, if it is next."""
        if self.text == word and self.kind == "name":
            self.advance()
            return True
        return False

    def expect(self, sign: str) -> None:
        """Take a sign that must be next."""
        if not self.accept(sign):
            self.unexpected(repr(sign))

    def unexpected(self, expected: str) -> NoReturn:
        """Something else was expected here."""
        found = repr(self.text) if self.kind != "end" else "the end of the query"
        self.fail(f"expected {expected}, found {found}", self.at)

    def fail(self, reason: str, at: int) -> NoReturn:
        """The query cannot be read."""
        raise QueryError(self.language, self.query, self.offset(at), reason)

    def refuse(self, feature: str, at: int, instead: str | None = None) -> NoReturn:
        """The query asks for what there is not."""
        raise UnsupportedError(self.language, self.query, self.offset(at), feature, instead)

    def warn(self, reason: str, at: int) -> None:
        """The query can be read, but a part of it cannot mean what it says; told once, however often it is read."""
        is_new = (at, reason) not in self._warned and len(self._warned) < _MOST_WARNINGS
        if self._on_warning is not None and is_new:
            self._warned.add((at, reason))
            self._on_warning(QueryWarning(self.language, self.query, self.offset(at), reason))

    def offset(self, at: int) -> int:
        """Where in the query a token's place is."""
        return place_of(self.query, at)
