"""Query text in, tokens out one after the other, with the errors that every language tells in the same words.

A token is made when it is next: behind it may be the text of a constructor, which has no tokens.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NoReturn, Self

from weft.documents.document import Limits
from weft.errors import QueryError, QueryWarning, UnsupportedError

#: How deep a query may be nested; what reads and runs it is recursive.
MOST_NESTED = Limits().max_query_nesting
_MOST_WARNINGS = 10  # of one query: each has to find its place, and nobody reads more
OnWarning = Callable[[QueryWarning], object]


NAME = r"[^\W\d][\w.\-·]*"
_TOKEN = re.compile(
    rf"""\s*(
      {NAME}(?::(?!:)(?:{NAME}|\*))?|\*:{NAME}                    # name
      |\(:                                                          # a comment
      |//|::|\.\.|!=|<=|>=|:=|->|[/\[\]()@,|*=<>+\-$\{{\}}]|\.(?!\d)  # sign
      |\d+(?:\.\d*)?|\.\d+                                           # number
      |"(?:[^"]|"")*"|'(?:[^']|'')*'                                 # string
      |\Z|.
    )""",
    re.VERBOSE | re.DOTALL,
)
_COMMENT = re.compile(r"\(:|:\)|\s+|.", re.DOTALL)  # what opens a comment, what closes one, and what is in it
_KINDS = dict.fromkeys("/[]()@,|*=<>+-$.{}:!", "sign") | dict.fromkeys("0123456789", "number")
_KINDS |= {'"': "string", "'": "string", "": "end"}
_ALONE = frozenset("\"'!:")  # no token, unless more follows


class Reader:
    """A place in a query: `kind` (name, sign, number, string, end), `text` and `at` are those of the next token."""

    def __init__(self, query: str, language: str) -> None:
        self.query, self.language = query, language
        self._nested = 0
        self.most_nested = MOST_NESTED
        self._on_warning: OnWarning | None = None
        self._warned: set[tuple[int, str]] = set()
        self.seek(0)

    def within(self, most_nested: int, on_warning: OnWarning | None) -> Self:
        """The same reader, for queries that are nested so deep at most; whoever wants to know of warnings is told."""
        self.most_nested, self._on_warning = most_nested, on_warning
        return self

    def advance(self) -> str:
        """Go to the next token; the text of this one comes back."""
        text = self.text
        self.seek(self.at + len(text))
        return text

    def seek(self, at: int) -> None:
        """Go on with the token that starts at a place, or behind the white space and the comments there."""
        found = _TOKEN.match(self.query, at)
        assert found is not None, "every text has a token, if only its end"
        self.text, self.at = found[1], found.start(1)
        self.kind = _kind_of(self.text)
        if self.kind == "bad":
            if self.text == "(:":
                self.seek(self._behind_comments(self.at))
                return
            self.fail(_bad_character(self.query, self.at), self.at)

    def enter(self) -> None:
        """Go into brackets, but not too deep."""
        self._nested += 1
        self.check_nesting(self._nested, self.at)

    def check_nesting(self, depth: int, at: int) -> None:
        """Refuse what is nested too deep, whether by brackets or otherwise."""
        if depth > self.most_nested:
            self.refuse(f"nesting deeper than {self.most_nested}", at, is_final=True)

    @property
    def nested(self) -> int:
        """How many brackets are open."""
        return self._nested

    def leave(self) -> None:
        """Come out of brackets."""
        self._nested -= 1

    @property
    def following(self) -> str:
        """The text of the token behind the next one."""
        found = _TOKEN.match(self.query, self.at + len(self.text)) if self.kind != "end" else None
        if found is not None and found[1] == "(:":
            found = _TOKEN.match(self.query, self._behind_comments(found.start(1)))
        return found[1] if found is not None else ""

    def _behind_comments(self, at: int) -> int:
        """Where the comment that starts there ends, and those right behind it: `(: they (: nest :) :)`."""
        end = behind_comments(self.query, at)
        if end is None:
            self.fail("a comment that starts with (: does not end", at)
        return end

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

    def fail(self, reason: str, at: int, is_final: bool = False) -> NoReturn:
        """The query cannot be read; if it is final, not in another way either."""
        error = QueryError(self.language, self.query, at, reason)
        error.is_final = is_final
        raise error

    def refuse(self, feature: str, at: int, instead: str | None = None, is_final: bool = False) -> NoReturn:
        """The query asks for what there is not; if it is final, it is not read in another way either."""
        error = self.refusal(feature, at, instead)
        error.is_final = is_final
        raise error

    def refusal(self, feature: str, at: int, instead: str | None = None) -> UnsupportedError:
        """The error that tells that the query asks for what there is not."""
        return UnsupportedError(self.language, self.query, at, feature, instead)

    def warn(self, reason: str, at: int) -> None:
        """The query can be read, but a part of it cannot mean what it says; told once, however often it is read."""
        is_new = (at, reason) not in self._warned and len(self._warned) < _MOST_WARNINGS
        if self._on_warning is not None and is_new:
            self._warned.add((at, reason))
            self._on_warning(QueryWarning(self.language, self.query, at, reason))


def behind_comments(query: str, at: int) -> int | None:
    """The place behind white space and comments; nothing where a comment does not end.

    >>> behind_comments("(: a (: b :) :) (::) c", 0)
    21
    """
    depth = 0
    for found in _COMMENT.finditer(query, at):
        mark = found[0]
        if mark == "(:":
            depth += 1
        elif mark == ":)" and depth:
            depth -= 1
        elif not depth and not mark.isspace():
            return found.start()
    return None if depth else len(query)


def _kind_of(text: str) -> str:
    """The kind of a token by its first character."""
    kind = _KINDS.get(text[:1], "name")
    if len(text) == 1:
        if kind == "name":
            return "name" if text.isalpha() or text == "_" else "bad"
        return "bad" if text in _ALONE else kind
    if kind == "sign":
        if text == "(:":
            return "bad"
        if text[1].isalnum() or text[1] == "_" or text[:2] == "*:":
            return "name" if text[0] == "*" else "number" if text[0] == "." else kind
    return kind


def _bad_character(query: str, at: int) -> str:
    if query[at] in "\"'":
        return f"a string that starts with {query[at]} does not end"
    return f"expected a token of a query, found {query[at]!r}"
