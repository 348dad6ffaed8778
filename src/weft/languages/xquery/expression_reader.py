"""The text of a query in, the tokens of all of XQuery's expressions out, and what names mean where they stand."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal

from weft.languages.reader import NAME, Reader, behind_comments
from weft.languages.xpath.names import Names
from weft.plans.expressions import ContextItem, QueryExpression

_TOKEN = re.compile(
    rf"""\s*(?:
      (?P<name>{NAME}(?::(?!:)(?:{NAME}|\*))?|\*:{NAME})
      |(?P<comment>\(:)
      |(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)
      |(?P<sign>//|::|\.\.|!=|<=|>=|<<|>>|:=|\|\||=>|[/\[\]()@,|*=<>+\-${{}};!?%\#]|\.)
      |(?P<string>"(?:[^"]|"")*"|'(?:[^']|'')*')
      |(?P<end>\Z)|(?P<bad>.)
    )""",
    re.VERBOSE | re.DOTALL,
)
LANGUAGE = "XQuery"
#: Namespaces of functions that have a prefix; `fn` and `xs` are there without being declared.
_FUNCTIONS = "http://www.w3.org/2005/xpath-functions"
LOCAL = "http://www.w3.org/2005/xquery-local-functions"
SCHEMA = "http://www.w3.org/2001/XMLSchema"
_USUAL = {"fn": _FUNCTIONS, "local": LOCAL, "xs": SCHEMA, "xml": "http://www.w3.org/XML/1998/namespace"}


class ExpressionReader(Reader):
    """Reads tokens; knows which namespaces and variables there are at the place where it is."""

    def __init__(self, query: str, namespaces: Mapping[str, str], ignore_namespaces: bool = False) -> None:
        self.namespaces = dict(namespaces)
        self.ignore_namespaces = ignore_namespaces
        self.variables: dict[str, QueryExpression | None] = {}  # those that are bound here
        super().__init__(query, LANGUAGE)

    def seek(self, at: int) -> None:
        """Go on with the token that starts at a place, or behind the white space and the comments there."""
        found = _TOKEN.match(self.query, at)
        assert found is not None, "every text has a token, if only its end"
        kind = found.lastgroup or "end"
        if kind == "comment":
            self.seek(self._behind_comments(found.start(kind)))
            return
        self.text, self.at, self.kind = found[kind], found.start(kind), kind
        if self.kind == "bad":
            self.fail(_bad_character(self.query, self.at), self.at)

    @property
    def following(self) -> str:
        """The text of the token behind the next one."""
        found = _TOKEN.match(self.query, self.at + len(self.text)) if self.kind != "end" else None
        if found is not None and found.lastgroup == "comment":
            behind = behind_comments(self.query, found.start("comment"))
            found = None if behind is None else _TOKEN.match(self.query, behind)
        return _text(found)

    @property
    def next_two(self) -> str:
        """The two tokens behind the next one."""
        found = _TOKEN.match(self.query, self.at + len(self.text))
        second = _TOKEN.match(self.query, found.end()) if found is not None else None
        return f"{_text(found)} {_text(second)}"

    def is_word(self, *words: str) -> bool:
        """Whether one of these words is next."""
        return self.kind == "name" and self.text in words

    def expect_word(self, word: str) -> None:
        """Take a word that must be next."""
        if not self.accept_word(word):
            self.unexpected(word)

    # -- names

    def label(self, is_attribute: bool) -> str:
        """The name test that is next."""
        if self.accept("*"):
            return "*"
        if self.kind != "name":
            self.unexpected("a name")
        at, name = self.at, self.advance()
        try:
            return Names(self.namespaces, self.ignore_namespaces).label(name, is_attribute)
        except KeyError as prefix:
            self.fail(f"expected a declared prefix, found {prefix.args[0]!r}", at)

    def namespace_of(self, prefix: str, at: int) -> str:
        """What a prefix stands for; the empty one is for elements."""
        found = self.namespaces.get(prefix) if prefix in self.namespaces else _USUAL.get(prefix)
        if found is None:
            if not prefix:
                return ""
            self.fail(f"expected a declared prefix, found {prefix!r}", at)
        return found

    def function_name(self, name: str, at: int) -> str:
        """A function's name, with the prefix that it usually has."""
        prefix, _, local = name.rpartition(":")
        if not prefix:
            return name
        uri = self.namespace_of(prefix, at)
        usual = {_FUNCTIONS: "", SCHEMA: "xs:"}
        return f"{usual[uri]}{local}" if uri in usual else f"{{{uri}}}{local}"

    def variable_name(self) -> str:
        """The name behind the dollar sign that is next."""
        self.expect("$")
        if self.kind != "name":
            self.unexpected("a variable's name")
        at, name = self.at, self.advance()
        prefix, _, local = name.rpartition(":")
        return f"{{{self.namespace_of(prefix, at)}}}{local}" if prefix else local

    # -- for those who build on this

    def single(self) -> QueryExpression:
        """One expression, up to a comma."""
        raise NotImplementedError

    def expression(self) -> QueryExpression:
        """Expressions with commas between them."""
        raise NotImplementedError


def _text(found: re.Match[str] | None) -> str:
    return "" if found is None else found[found.lastgroup or "end"]


def number_of(text: str) -> int | Decimal | float:
    """The value of a number as it is written."""
    if "e" in text or "E" in text:
        return float(text)
    return Decimal(text) if "." in text else int(text)


CONTEXT = ContextItem()


def _bad_character(query: str, at: int) -> str:
    if query[at] in "\"'":
        return f"a string that starts with {query[at]} does not end"
    return f"expected a token of a query, found {query[at]!r}"
