"""The common forms of XPath in, the same plan as the parser's out, or nothing: then the parser is to read the query.

Plain steps, and predicates that compare a plain path with a constant, ask for a part of its text or whether it leads
anywhere, are cut out of a query by one regular expression. The parser reads a step once, and it is remembered; whole
paths and predicates are not: there are as many of them as queries, and all that is kept is walked by the garbage
collector.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import cast

from weft.documents.kind import Kind
from weft.errors import WeftError
from weft.languages.reader import NAME
from weft.languages.xpath.names import Names
from weft.languages.xpath.parser import Parser
from weft.languages.xpath.predicates import string_function
from weft.plans.plan import Has, Link, Operator, Pattern, Step, Test, Value, conjunction, has

_STEP = rf"(?:text\(\)|@?(?:{NAME}|\*))"
_PATH = rf"(?:\.(?://?{_STEP})*|{_STEP}(?://?{_STEP})*)"
_STRING = r"""(?:"[^"]*"|'[^']*')"""
_NUMBER = r"-?(?:\d+(?:\.\d*)?|\.\d+)"


def _predicate(group: str) -> str:
    """What a predicate looks like; `group` opens a group of what matters in it."""
    compared = rf"\s*{group}!?=)\s*{group}{_STRING}|{_NUMBER})|\s*{group}[<>]=?)\s*{group}{_NUMBER})"
    function = rf"{group}contains|starts-with|ends-with)\({group}{_PATH}),\s*{group}{_STRING})\)"
    return rf"\[(?:{function}|{group}{_PATH})(?:{compared})?)\]"


_STEPS = re.compile(rf"//?{_STEP}")
_PIECE = re.compile(rf"//?{_STEP}|{_predicate('(?:')}")
_PREDICATE = re.compile(_predicate("("))
_REMEMBERED = 1 << 13  # steps; beyond that they are begun anew
_MOST_NAMES = 64  # default namespaces whose steps are remembered
_ELEMENT = Kind.ELEMENT  # an enumeration's members are found slowly in Python 3.11


class _KnownSteps(dict[str, Step]):
    """Steps by their text; one that is not there is read."""

    def __init__(self, names: Names) -> None:
        super().__init__()
        self._names = names

    def __missing__(self, text: str) -> Step:
        if len(self) >= _REMEMBERED:
            self.clear()
        (link,) = Parser(text, self._names).path(absolute=True)
        (step,) = link.path
        self[text] = step
        return step


class CommonForms:
    """The pieces of queries whose names are read in one way."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._steps = _KnownSteps(names)

    def parse(self, query: str, most_nested: int) -> Pattern | None:
        """The plan of a query; nothing where it has another form, or cannot be read."""
        pieces: list[str] = _PIECE.findall(query)
        if "".join(pieces) != query or not query.startswith("/"):
            return None
        try:
            if "[" not in query:
                steps = tuple([self._steps[piece] for piece in pieces])
                has_leaves = "@" in query or "(" in query
                return None if has_leaves and any(map(_is_leaf, steps[:-1])) else Pattern(None, steps)
            return self._patterns(pieces) if len(pieces) + 2 <= most_nested else None
        except WeftError:
            return None  # the parser tells the place in the whole query

    def _patterns(self, pieces: list[str]) -> Pattern | None:
        """Stretches of steps, each closed by the predicates at its end."""
        pattern: Pattern | None = None
        steps: list[Step] = []
        tests: list[Test] = []
        step: Step | None = None
        for piece in pieces:
            if piece[0] == "[":
                tests.append(self._read_test(piece))
                continue
            if tests:
                pattern = _close(pattern, steps, tests)
                tests = []
            if step is not None and step.kind is not _ELEMENT:
                return None
            step = self._steps[piece]
            steps.append(step)
        if tests:
            pattern = _close(pattern, steps, tests)
        return Pattern(pattern, tuple(steps)) if steps else pattern

    # -- predicates

    def _read_path(self, text: str) -> tuple[Link, ...]:
        """A path from a node; the parser reads what is no plain stretch of steps."""
        rest = text[1:] if text[0] == "." else f"/{text}"
        steps = tuple([self._steps[piece] for piece in _STEPS.findall(rest)])
        if not steps or (("@" in text or "(" in text) and any(map(_is_leaf, steps[:-1]))):
            return Parser(text, self._names).path()
        return (Link(steps),)

    def _read_test(self, text: str) -> Test:
        found = _PREDICATE.fullmatch(text)
        assert found is not None, "pieces have the form of predicates"
        function, subject, part, path, equality, constant, order, number = found.groups()
        if function is not None:
            return string_function(cast(Operator, function), part[1:-1], self._read_path(subject))
        operator = cast(Operator, equality or order)
        if operator is None:
            return has(self._read_path(path))
        constant = constant or number
        is_string = constant[0] in "\"'"
        return has(self._read_path(path), Value(operator, constant[1:-1] if is_string else float(constant)))


def _is_leaf(step: Step) -> bool:
    return step.kind is not _ELEMENT


def _close(pattern: Pattern | None, steps: list[Step], tests: list[Test]) -> Pattern | None:
    """The steps so far and the tests at their end as a pattern; where nothing is tested the steps go on."""
    test = tests[0] if len(tests) == 1 and type(tests[0]) is Has else conjunction(tests)
    if test is None:
        return pattern
    closed = Pattern(pattern, tuple(steps), test)
    steps.clear()
    return closed


@lru_cache(_MOST_NAMES)
def _forms(default: str, ignore_namespaces: bool) -> CommonForms:
    return CommonForms(Names({"": default} if default else {}, ignore_namespaces))


def parse_common(
    query: str, namespaces: Mapping[str, str] | None, ignore_namespaces: bool, most_nested: int
) -> Pattern | None:
    """The plan of a query in a common form; nothing for others. No such query has anything to warn of."""
    default = namespaces.get("", "") if namespaces else ""
    return _forms(default, ignore_namespaces).parse(query, most_nested)
