"""Functions on texts."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import re2

from weft.engine.expressions.atomics import atoms, number_or_nan, string_of, text_argument, text_of
from weft.engine.expressions.items import DynamicError, Items
from weft.engine.expressions.scope import Run
from weft.plans.regex import translate

_SPACES = re.compile(r"[ \t\r\n]+")
_REPLACEMENT = re.compile(r"\\[\\$]|\$(\d)|[^\\$]")
_LONGEST_PATTERN = 1_000


def _concat(run: Run, *arguments: Items) -> Items:
    return [run.write("".join(string_of(each, run, "concat()") for each in arguments))]


def _string_join(run: Run, items: Items, separator: Items | None = None) -> Items:
    between = "" if separator is None else text_argument(separator, run, "string-join()")
    singles = [text_of(single) for single in atoms(items, run)]
    run.spend(len(singles))
    run.characters -= len(between) * len(singles)
    run.write("")
    return [run.write(between.join(singles))]


def _substring(run: Run, items: Items, start: Items, length: Items | None = None) -> Items:
    text = text_argument(items, run, "substring()")
    first = _rounded(number_or_nan(start, run))
    end = math.inf if length is None else first + _rounded(number_or_nan(length, run))
    if math.isnan(first) or math.isnan(end):
        return [""]
    low, high = max(first, 1), min(end, len(text) + 1)
    return [text[int(low) - 1 : int(high) - 1] if low < high else ""]


def _rounded(number: float) -> float:
    return math.floor(number + 0.5) if math.isfinite(number) else number


def _pair(name: str, make: Callable[[str, str], str | bool]) -> Callable[[Run, Items, Items], Items]:
    def function(run: Run, items: Items, other: Items) -> Items:
        return [make(text_argument(items, run, f"{name}()"), text_argument(other, run, f"{name}()"))]

    return function


def _before(text: str, part: str) -> str:
    return text.partition(part)[0] if part and part in text else ""


def _one(name: str, make: Callable[[str], str | int]) -> Callable[[Run, Items], Items]:
    def function(run: Run, items: Items) -> Items:
        found = make(text_argument(items, run, f"{name}()"))
        return [run.write(found) if isinstance(found, str) else found]

    return function


def _string_length(run: Run, items: Items) -> Items:
    return [len(string_of(items, run, "string-length()"))]


def _translate(run: Run, items: Items, before: Items, after: Items) -> Items:
    text, old, new = (text_argument(each, run, "translate()") for each in (items, before, after))
    table: dict[int, str | None] = {}
    for place, character in enumerate(old):
        table.setdefault(ord(character), new[place] if place < len(new) else None)
    return [run.write(text.translate(table))]


# -- regular expressions


def _pattern(run: Run, items: Items, what: str) -> re2._Regexp:
    text = text_argument(items, run, what)
    if len(text) > _LONGEST_PATTERN:
        raise DynamicError(f"{what}: a regular expression of {len(text)} characters")
    found = run.memo.get((what, text))
    if found is None:
        options = re2.Options()
        options.log_errors = False
        try:
            found = run.memo[what, text] = re2.compile(translate(text), options)
        except (ValueError, re2.error) as error:
            raise DynamicError(f"{what}: this regular expression: {error}") from None
    return found


def _matches(run: Run, items: Items, pattern: Items) -> Items:
    text = text_argument(items, run, "matches()")
    run.spend(len(text) // 8)
    return [_pattern(run, pattern, "matches()").search(text) is not None]


def _replace(run: Run, items: Items, pattern: Items, replacement: Items) -> Items:
    text, compiled = text_argument(items, run, "replace()"), _pattern(run, pattern, "replace()")
    run.spend(len(text) // 8)
    if compiled.search("") is not None:
        raise DynamicError("replace(): a regular expression that matches nothing at all")
    pieces = _pieces(text_argument(replacement, run, "replace()"), compiled.groups)
    made, at = [], 0
    for found in compiled.finditer(text):
        made += [text[at : found.start()], *(each if isinstance(each, str) else found[each] or "" for each in pieces)]
        at = found.end()
    return [run.write("".join([*made, text[at:]]))]


def _pieces(replacement: str, groups: int) -> list[str | int]:
    """Texts, and the numbers of groups."""
    pieces: list[str | int] = []
    at = 0
    while at < len(replacement):
        found = _REPLACEMENT.match(replacement, at)
        if found is None:
            raise DynamicError(r"replace(): expected \\ or \$ in the replacement")
        if found[1] is None:
            pieces.append(found[0][-1])
        else:
            pieces += [int(found[1])] if int(found[1]) <= groups else []
        at = found.end()
    return pieces


def _tokenize(run: Run, items: Items, pattern: Items | None = None) -> Items:
    text = text_argument(items, run, "tokenize()")
    run.spend(len(text))
    if pattern is None:
        return [each for each in _SPACES.split(text) if each]
    compiled = _pattern(run, pattern, "tokenize()")
    if compiled.search("") is not None:
        raise DynamicError("tokenize(): a regular expression that matches nothing at all")
    if not text:
        return []
    made: Items = []
    at = 0
    for found in compiled.finditer(text):
        made.append(text[at : found.start()])
        at = found.end()
    return [*made, text[at:]]


TEXT_FUNCTIONS: dict[str, Callable[..., Items]] = {
    "string": lambda run, items: [string_of(items, run, "string()")],
    "concat": _concat,
    "string-join": _string_join,
    "substring": _substring,
    "string-length": _string_length,
    "normalize-space": _one("normalize-space", lambda text: _SPACES.sub(" ", text).strip(" ")),
    "upper-case": _one("upper-case", str.upper),
    "lower-case": _one("lower-case", str.lower),
    "translate": _translate,
    "contains": _pair("contains", lambda text, part: part in text),
    "starts-with": _pair("starts-with", str.startswith),
    "ends-with": _pair("ends-with", str.endswith),
    "substring-before": _pair("substring-before", _before),
    "substring-after": _pair("substring-after", lambda text, part: text.partition(part)[2] if part else text),
    "matches": _matches,
    "replace": _replace,
    "tokenize": _tokenize,
}
