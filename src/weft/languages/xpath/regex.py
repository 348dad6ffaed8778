"""A regular expression as XPath writes it in, the same for RE2 out.

RE2 matches in linear time whatever the expression, so no subscriber's pattern can hold up the others. What RE2 would
read but XPath does not have is refused.
"""

from __future__ import annotations

import re

import re2

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
_OPTIONS = re2.Options()
_OPTIONS.log_errors = False
_OPTIONS.never_capture = True


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
    compile_pattern(translated)
    return translated


def _escape(escaped: str, inside: bool) -> str:
    if escaped in _NEGATED and not inside:
        return _NEGATED[escaped]
    if escaped in _CLASSES:
        return _CLASSES[escaped] if inside else f"[{_CLASSES[escaped]}]"
    if escaped not in r"nrt\|.?*+(){}$-[]^":
        raise ValueError(f"\\{escaped} has no counterpart")
    return "\\" + escaped


def compile_pattern(translated: str) -> re2._Regexp:
    """A translated pattern, ready to search with; raises ValueError where RE2 refuses it."""
    try:
        return re2.compile(translated, _OPTIONS)
    except re2.error as error:
        reason = error.args[0]
        raise ValueError(reason.decode() if isinstance(reason, bytes) else str(reason)) from None
