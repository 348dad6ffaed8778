"""Queries as the paper on view selection writes them in, standard XPath out: bars for what is negated, signs of sets.

A negated label test is braces, with their bar or without, because print often loses it; a negated predicate has the
bar over what is in its brackets. Of the signs ∩ and − bind tighter than ∪, from left to right, as in XPath.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from weft.errors import QueryError, UnsupportedError
from weft.languages.reader import MOST_NESTED
from weft.languages.xpath import parse
from weft.plans.plan import Selection

_BAR = "\u0305"  # the combining overline: it stands behind the character that it is over
_LANGUAGE = "XPath"
_NAME = r"[^\W\d][\w.\-·]*"
_TOKEN = re.compile(
    rf"""\s*(
      {_NAME}(?::(?!:)(?:{_NAME}|\*))?|\*:{_NAME}     # name
      |\\[a-z]+|\\[{{}}]                              # a command of LaTeX
      |//|::|\.\.|!=|<=|>=
      |\d+(?:\.\d*)?|\.\d+                            # number
      |"(?:[^"]|"")*"|'(?:[^']|'')*'                  # string
      |\Z|.
    )""",
    re.VERBOSE | re.DOTALL,
)
_OPERATORS = {
    **dict.fromkeys(("∪", "\\cup"), "union"),
    **dict.fromkeys(("∩", "\\cap"), "intersect"),
    **dict.fromkeys(("−", "–", "\\setminus", "\\minus", "minus"), "except"),
}
_NOT = ("!", "¬", "\\neg", "\\lnot")
_OPEN, _CLOSE = ("{", "\\{"), ("}", "\\}")
_BEFORE_STEP = frozenset({"/", "//", "@", "::", "[", "(", "|", "", ",", *_NOT, *_OPERATORS, "-"})
_WORDS = frozenset({"and", "or", "union", "intersect", "except"})  # that stand between operands


def parse_query(text: str, namespaces: Mapping[str, str] | None = None) -> Selection:
    """The plan of a query in the paper's notation or in XPath; errors tell the place in what was written.

    >>> parse_query("/s4/a/{b}") == parse_query("/s4/a/*[not(self::b)]")
    True
    """
    translated = _Translation(text).translate()
    xpath = "".join(translated.pieces)
    try:
        return parse(xpath, namespaces=namespaces)
    except UnsupportedError as error:
        raise UnsupportedError(_LANGUAGE, text, translated.place_of(error.at), error.feature, error.instead) from None
    except QueryError as error:
        raise QueryError(_LANGUAGE, text, translated.place_of(error.at), error.reason) from None


def to_xpath(text: str) -> str:
    """A query in the paper's notation as standard XPath, which stays as it is.

    >>> to_xpath("/s1/C/* − /s1/C/{a}")
    '/s1/C/* except /s1/C/*[not(self::a)]'
    """
    return "".join(_Translation(text).translate().pieces)


@dataclass(slots=True)
class _Translated:
    """XPath in pieces, and where in the text each of them comes from."""

    text: str
    pieces: list[str] = field(default_factory=list)
    places: list[int] = field(default_factory=list)

    def put(self, piece: str, place: int) -> None:
        self.pieces.append(piece)
        self.places.append(place)

    def place_of(self, at: int) -> int:
        """The place in the text that a place in the XPath comes from."""
        for piece, place in zip(self.pieces, self.places, strict=True):
            if at < len(piece):
                is_copy = self.text.startswith(piece, place)
                return place + (at if is_copy else 0)
            at -= len(piece)
        return len(self.text.rstrip())


class _Translation:
    """A pass over the tokens of one query; `token` is the next one, and `before` the one that was taken last."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._places = [at for at, character in enumerate(text) if character != _BAR]
        self._plain = "".join(text[at] for at in self._places)
        self._places.append(len(text))
        self._barred = [text[at + 1 : at + 2] == _BAR for at in self._places[:-1]]
        self._out = _Translated(text)
        self._at = 0  # of the next token in the plain text
        self._before = ""
        self._nested = -1  # the query itself is not nested
        self._seek(0)

    def translate(self) -> _Translated:
        self._span((), in_predicate=False)
        if True in self._barred:
            self._fail("expected a bar over braces or over all of a predicate", self._barred.index(True))
        return self._out

    # -- tokens

    def _seek(self, at: int) -> None:
        found = _TOKEN.match(self._plain, at)
        assert found is not None, "every text has a token, if only its end"
        self._white, self._token, self._at = self._plain[at : found.start(1)], found[1], found.start(1)

    def _take(self, written: str | None = None) -> str:
        """Go to the next token; what is put out is this one, or what is written in its place."""
        token, place = self._token, self._places[self._at]
        if self._white:
            self._out.put(self._white, place)
        self._out.put(token if written is None else written, place)
        self._before = token
        self._seek(self._at + len(token))
        return token

    def _fail(self, reason: str, at: int | None = None) -> NoReturn:
        raise QueryError(_LANGUAGE, self._text, self._places[self._at if at is None else at], reason)

    def _unexpected(self, expected: str) -> NoReturn:
        found = repr(self._token) if self._token else "the end of the query"
        self._fail(f"expected {expected}, found {found}")

    def _expect(self, what: tuple[str, ...], written: str | None = None) -> None:
        if self._token not in what:
            self._unexpected(repr(what[0]))
        self._take(written)

    @property
    def _is_step_next(self) -> bool:
        return self._before in _BEFORE_STEP or (self._before in _WORDS and not self._token.startswith("/"))

    # -- what the tokens make

    def _span(self, until: tuple[str, ...], in_predicate: bool, is_operand: bool = False) -> None:
        """What is there before a closing sign, or before the end; an operand ends at `and` and `or` too."""
        self._nested += 1
        if self._nested > MOST_NESTED:  # before what reads it, which is recursive, gets there
            raise UnsupportedError(_LANGUAGE, self._text, self._places[self._at], f"nesting deeper than {MOST_NESTED}")
        while self._token and self._token not in until:
            if is_operand and self._token in ("and", "or") and not self._is_step_next:
                break
            self._part(in_predicate)
        self._nested -= 1

    def _part(self, in_predicate: bool) -> None:
        token = self._token
        if token == "[":
            self._predicate(is_negated=False)
        elif token == "(":
            self._take()
            self._span((")",), in_predicate)
            self._expect((")",))
        elif token in _OPEN:
            self._labels()
        elif token == "\\overline" or token in _NOT:
            self._negated(in_predicate)
        elif in_predicate and token == "not" and self._is_step_next and self._is_negation_word():
            self._negation("not")
        else:
            self._word(token, in_predicate)

    def _word(self, token: str, in_predicate: bool) -> None:
        """A token that stays, or an operator between queries."""
        is_operator = token in _OPERATORS and not (token == "minus" and self._is_step_next)
        if is_operator or (token == "-" and not in_predicate):
            written = "-" if in_predicate and _OPERATORS[token] == "except" else _OPERATORS.get(token, "except")
            is_tight = not self._plain[self._at + len(token) :][:1].isspace()
            self._take(f"{'' if self._white else ' '}{written}{' ' if is_tight else ''}")
            return
        if token.startswith("\\"):
            self._fail(f"expected a sign of the notation, found {token!r}")
        self._take()
        if token[:1].isalpha() and token.endswith("-") and self._token in ("/", "//", "("):
            self._fail("expected a space before '-', or a name that does not end in it", self._at - 1)

    def _is_negation_word(self) -> bool:
        """Whether `not` is no function and no element's name: an operand follows it."""
        found = _TOKEN.match(self._plain, self._at + len("not"))
        following = found[1] if found else ""
        is_name = following[:1].isalpha() or following[:1] == "_"
        return (is_name and following not in _WORDS) or following in ("*", "@", ".", *_OPEN, *_NOT, "\\overline")

    def _labels(self) -> None:
        """Braces with labels: any element but those."""
        if not self._is_step_next:
            self._fail("expected '/' before braces")
        start = self._at
        self._take("*[not(")
        while True:
            if not re.fullmatch(rf"(?:{_NAME}:|\*:)?(?:{_NAME}|\*)", self._token):
                self._unexpected("a label")
            self._out.put("self::", self._places[self._at])
            self._take()
            if self._token != ",":
                break
            self._take(" or ")
        self._expect(_CLOSE, ")]")
        self._explain(start)
        self._before = "}"

    def _predicate(self, is_negated: bool) -> None:
        """Brackets; a bar over all that is in them negates it."""
        start, end = self._at, self._closing()
        own = [at for at in self._own(start, end) if not self._plain[at].isspace()]
        is_barred = bool(own) and all(self._barred[at] for at in own)
        if is_barred:
            self._barred[start : end + 1] = [False] * (end + 1 - start)
        self._take("[not(" if is_barred or is_negated else "[")
        self._before = "["
        self._span(("]",), in_predicate=True)
        self._expect(("]",), ")]" if is_barred or is_negated else "]")

    def _negated(self, in_predicate: bool) -> None:
        """What a bar of LaTeX is over, or what follows a sign of negation."""
        is_bar, before = self._token == "\\overline", self._before
        if not is_bar and in_predicate and self._is_step_next and self._following() not in (*_OPEN, "["):
            self._negation(self._token)
            return
        self._take("")
        if is_bar:
            self._expect(("{",), "")
        self._before = before
        if self._token in _OPEN:
            self._labels()
        elif self._token == "[":
            self._predicate(is_negated=True)
        elif in_predicate and is_bar:
            self._out.put("not(", self._places[self._at])
            self._before = "("
            self._span(("}",), in_predicate=True)
            self._out.put(")", self._places[self._at])
        else:
            self._fail("expected braces or a predicate below the negation")
        if is_bar:
            self._expect(("}",), "")
            self._before = "}"

    def _negation(self, sign: str) -> None:
        """A sign of negation before an operand of a predicate: it reaches to the next `and` or `or`."""
        self._take("not(")
        self._before = "("
        self._span(("]", ")", "}"), in_predicate=True, is_operand=True)
        if self._before == "(":
            self._fail(f"expected what {sign!r} negates")
        self._out.put(")", self._places[self._at])

    def _following(self) -> str:
        found = _TOKEN.match(self._plain, self._at + len(self._token))
        return found[1] if found else ""

    # -- bars

    def _explain(self, start: int) -> None:
        """Bars from a place to the next token have their meaning now."""
        self._barred[start : self._at] = [False] * (self._at - start)

    def _closing(self) -> int:
        """Where the bracket that is next closes; the end if it does not, which is told when it is reached."""
        depth, at = 0, self._at
        while (found := _TOKEN.match(self._plain, at)) is not None and found[1]:
            depth += (found[1] == "[") - (found[1] == "]")
            if not depth:
                return found.start(1)
            at = found.end(1)
        return len(self._plain) - 1

    def _own(self, start: int, end: int) -> list[int]:
        """The places inside brackets that are in no brackets or braces further inside."""
        depth, own = 0, []
        for at in range(start + 1, end):
            depth += self._plain[at] in "[{"
            if not depth:
                own.append(at)
            depth -= self._plain[at] in "]}"
        return own
