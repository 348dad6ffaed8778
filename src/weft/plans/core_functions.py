"""What XPath's functions on texts and numbers make of values: values in, a value out."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from math import ceil, copysign, floor, fmod, inf, isfinite, isnan, nan

_SPACE = re.compile(r"[ \t\r\n]+")


def written_number(value: float) -> str:
    """A number as XPath's string() writes it: without an exponent, and as short as tells it from all others."""
    if isnan(value):
        return "NaN"
    if not isfinite(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == int(value):
        return str(int(value))
    return f"{Decimal(repr(value)):f}"


def normalized_space(text: str) -> str:
    """Without white space at the ends, and with one space for each run of it inside."""
    return _SPACE.sub(" ", text).strip(" ")


def translated(text: str, old: str, new: str) -> str:
    """With each character of `old` replaced by that at its place in `new`, or left out if there is none."""
    table: dict[int, str | None] = {}
    for at, character in enumerate(old):
        table.setdefault(ord(character), new[at] if at < len(new) else None)
    return text.translate(table)


def substring(text: str, start: float, length: float = inf) -> str:
    """The characters whose places, from 1 on, are at least the rounded start, and below it and the rounded length."""
    first = rounded(start)
    end = first + rounded(length)
    if isnan(first) or isnan(end):
        return ""
    begin = max(int(first), 1) - 1 if isfinite(first) else 0 if first < 0 else len(text)
    if not isfinite(end):
        return text[begin:] if end > 0 else ""
    return text[begin : max(int(end) - 1, begin)]


def before(text: str, mark: str) -> str:
    """What stands before the first place of a text in another; nothing where it is not there."""
    at = text.find(mark)
    return text[:at] if at > 0 else ""


def behind(text: str, mark: str) -> str:
    """What stands behind the first place of a text in another; nothing where it is not there."""
    at = text.find(mark)
    return text[at + len(mark) :] if at >= 0 else ""


def rounded(value: float) -> float:
    """The nearest whole number, the greater one of two that are."""
    if not isfinite(value):
        return value
    return copysign(float(floor(value)) if value - floor(value) < 0.5 else float(ceil(value)), value)


def _lower(text: str) -> str:
    """Each character by itself: a sigma at the end of a word is like any other."""
    return "".join(map(str.lower, text)) if "\u03a3" in text else text.lower()


def _floor(value: float) -> float:
    return copysign(float(floor(value)), value) if isfinite(value) else value


def _ceiling(value: float) -> float:
    return copysign(float(ceil(value)), value) if isfinite(value) else value


def divided(left: float, right: float) -> float:
    """Division of doubles, by zero too."""
    if right:
        return left / right
    return nan if not left or isnan(left) else copysign(inf, left) * copysign(1, right)


def remainder(left: float, right: float) -> float:
    """What is left of a division that is cut; it has the sign of what is divided."""
    return nan if not right or not isfinite(left) else fmod(left, right)


def quotient(left: float, right: float) -> float:
    """A division that is cut."""
    found = divided(left, right)
    return float(int(found)) if isfinite(found) else nan


#: Functions of texts and numbers alone, by name.
ON_VALUES: dict[str, Callable[..., str | float | bool]] = {
    "concat": lambda *texts: "".join(texts),
    "contains": lambda text, part: part in text,
    "starts-with": lambda text, part: text.startswith(part),
    "ends-with": lambda text, part: text.endswith(part),
    "substring": substring,
    "substring-before": before,
    "substring-after": behind,
    "string-length": lambda text: float(len(text)),
    "normalize-space": normalized_space,
    "translate": translated,
    "upper-case": str.upper,
    "lower-case": _lower,
    "floor": _floor,
    "ceiling": _ceiling,
    "round": rounded,
    "abs": abs,
}
#: Arithmetic on two numbers, by operator.
ON_NUMBERS: dict[str, Callable[[float, float], float]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "div": divided,
    "mod": remainder,
    "idiv": quotient,
}
