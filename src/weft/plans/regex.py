"""A regular expression as XPath writes it in, the same for RE2 out.

RE2 matches in linear time whatever the expression; `pattern_cost` knows how much that is at worst. What RE2 would
read but XPath does not have is refused, and so is what RE2 could read alone but not in a set, where all are matched.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property, lru_cache

import re2

from weft.plans.pattern_cost import worst_alone, worst_together

_CLASSES = {
    "d": r"\p{Nd}",
    "D": r"\P{Nd}",
    "w": r"\p{L}\p{M}\p{N}\p{S}",
    "W": r"\p{P}\p{Z}\p{C}",
    "s": r" \t\n\r",
}
_NEGATED = {"W": r"[^\p{L}\p{M}\p{N}\p{S}]", "S": r"[^ \t\n\r]"}
_PIECE = re.compile(
    r"""
    (?P<category>\\[pP]\{(?:[LMNPZSC][a-z]?)\}) |
    \\(?P<escape>.) |
    (?P<open>\[\^?) | (?P<close>\]) |
    (?P<times>\{\d+(?:,\d*)?\}) |
    (?P<group>\((?:\?:)?(?!\?)) |
    (?P<dot>\.) |
    (?P<bad>[{}\\]|\(\?) |
    (?P<plain>.)
    """,
    re.VERBOSE | re.DOTALL,
)
#: The instructions of a set: so many are compiled in some tens of milliseconds, and leave room for its automaton.
MOST_INSTRUCTIONS = 100_000
#: The instructions of all patterns of a query.
MOST_IN_QUERY = 200_000
_FEW = 5_000  # instructions that do with little memory, which matters where there are very many small sets
_LITTLE, _MUCH = 1 << 20, 8 << 20
#: Matches every value: a set that does not find it has failed.
_SENTINEL = r"\A"


def _options(max_mem: int) -> re2.Options:
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = max_mem
    return options


_OPTIONS = _options(_MUCH)


def translate(pattern: str) -> str:
    """The pattern for RE2; raises ValueError with the reason where it has no such pattern."""
    out: list[str] = []
    class_at = -1  # where in `out` the character class that is open begins
    for piece in _PIECE.finditer(pattern):
        kind, text = piece.lastgroup, piece[0]
        inside = class_at >= 0
        if kind == "open":
            if inside:
                raise ValueError("subtraction in a character class has no counterpart")
            class_at = len(out)
        elif kind == "close":
            if not inside or len(out) == class_at + 1:
                raise ValueError("expected \\] for a bracket that is meant as such")
            class_at = -1
        elif kind == "bad":
            raise ValueError(f"{text} is not a pattern")
        elif kind == "escape":
            text = _escape(piece["escape"], inside)
        elif kind == "dot" and not inside:
            text = r"[^\n\r]"
        out.append(text)
    translated = "".join(out)
    instructions(translated)
    try:
        PatternSet([translated])
    except re2.error:
        raise ValueError("it is too large") from None
    return translated


def _escape(escaped: str, inside: bool) -> str:
    if escaped in _NEGATED and not inside:
        return _NEGATED[escaped]
    if escaped in _CLASSES:
        return _CLASSES[escaped] if inside else f"[{_CLASSES[escaped]}]"
    if escaped not in r"nrt\|.?*+(){}$-[]^":
        raise ValueError(f"\\{escaped} has no counterpart")
    return "\\" + escaped


@lru_cache(maxsize=1_000)  # patterns may have many kilobytes
def instructions(translated: str) -> int:
    """How large the program of a translated pattern is; raises ValueError where RE2 refuses it."""
    return int(compile_pattern(translated).programsize)


class PatternSet:
    """Translated patterns that are matched in one pass; raises re2.error where they are too large for one."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self.patterns = tuple(patterns)
        size = sum(map(instructions, self.patterns))
        self._set = re2.Set.SearchSet(_options(_LITTLE if size <= _FEW else _MUCH))
        for pattern in (*self.patterns, _SENTINEL):
            self._set.Add(pattern)
        self._set.Compile()
        self._alone: list[LonePattern] = []

    @cached_property
    def nanoseconds(self) -> int:
        """What a byte of a value costs at worst."""
        return sum(worst_together(pattern, instructions(pattern)) for pattern in self.patterns)

    def alone(self) -> list[LonePattern]:
        """The patterns one by one."""
        if not self._alone:
            self._alone = [LonePattern(pattern) for pattern in self.patterns]
        return self._alone

    def matching(self, value: str) -> list[int]:
        """The places of the patterns that match a value.

        A set whose automaton runs out of memory finds nothing, not even the sentinel, or raises an error: then the
        patterns are searched one by one, which needs no automaton.
        """
        try:
            found = self._set.Match(value) or ()
        except re2.error:
            found = ()
        last = len(self.patterns)
        if last in found:
            return [place for place in found if place != last]
        return [at for at, each in enumerate(self.patterns) if compile_pattern(each).search(value) is not None]


class LonePattern:
    """A translated pattern that is searched for alone; where its automaton would be large, RE2 does without one."""

    def __init__(self, pattern: str) -> None:
        self._compiled = compile_pattern(pattern)
        self.nanoseconds = worst_alone(pattern, instructions(pattern))

    def matching(self, value: str) -> list[int]:
        """As of a set with this pattern alone."""
        return [0] if self._compiled.search(value) is not None else []


def compile_pattern(translated: str) -> re2._Regexp:
    """A translated pattern, ready to search with; raises ValueError where RE2 refuses it."""
    try:
        return re2.compile(translated, _OPTIONS)
    except re2.error as error:
        reason = error.args[0]
        raise ValueError(reason.decode() if isinstance(reason, bytes) else str(reason)) from None
