"""A regular expression as XPath writes it in, the same for RE2 out.

RE2 matches in linear time whatever the expression, so no subscriber's pattern can hold up the others.
"""

from __future__ import annotations

import re

import re2

_CLASSES = {
    "d": r"\p{Nd}",
    "w": r"\p{L}\p{M}\p{N}\p{S}",
    "s": r" \t\n\r",
    "D": r"\P{Nd}",
    "W": r"\p{P}\p{Z}\p{C}",
}
_PIECE = re.compile(r"\\(.)|(\[\^?)|(\])|([^\\\[\]]+)", re.DOTALL)
_OPTIONS = re2.Options()
_OPTIONS.log_errors = False
_OPTIONS.never_capture = True


def translate(pattern: str) -> str:
    """The pattern for RE2; raises ValueError with the reason where it has no such pattern."""
    out, inside = [], False
    for piece in _PIECE.finditer(pattern):
        escaped, opening, closing, plain = piece.groups()
        if opening and inside:
            raise ValueError("subtraction in a character class has no counterpart")
        inside = bool(opening) or (inside and not closing)
        if escaped is None:
            out.append(opening or closing or plain)
        elif escaped in _CLASSES:
            out.append(_CLASSES[escaped] if inside else f"[{_CLASSES[escaped]}]")
        elif escaped == "S":
            if inside:
                raise ValueError(r"\S in a character class has no counterpart")
            out.append(r"[^ \t\n\r]")
        elif escaped in "ic" or escaped in "IC" or escaped.isdigit():
            raise ValueError(f"\\{escaped} has no counterpart")
        else:
            out.append("\\" + escaped)
    translated = "".join(out)
    compile_pattern(translated)
    return translated


def compile_pattern(translated: str) -> re2._Regexp:
    """A translated pattern, ready to search with; raises ValueError where RE2 refuses it."""
    try:
        return re2.compile(translated, _OPTIONS)
    except re2.error as error:
        reason = error.args[0]
        raise ValueError(reason.decode() if isinstance(reason, bytes) else str(reason)) from None
