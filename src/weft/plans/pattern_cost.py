"""A translated pattern in, what RE2 may need for each byte of a value at worst out.

RE2 makes an automaton of a pattern while it reads. Mostly this has few states, and a byte costs some nanoseconds. But
`a[ab]{20}c` has a million, and then every byte costs a step for each position in the pattern that is open there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_PIECE = re.compile(
    r"""
    (?P<class>\[(?:\\.|[^\]\\])*\] | \\[pP]\{[^}]*\}) |
    (?P<times>\{(?P<least>\d+)(?P<comma>,(?P<most>\d*))?\}) |
    (?P<some>[*+?]) |
    (?P<open>\((?:\?:)?) | (?P<close>\)) |
    (?P<bar>\|) | (?P<edge>[\^$]) |
    (?P<literal>\\.|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_FEW = 8  # open positions that together make few states
#: Nanoseconds for each byte, as measured: with few states; for each instruction, or each position, that is open.
_QUICK, _INSTRUCTION, _POSITION = 4, 50, 300


@dataclass(slots=True)
class _Part:
    """How many characters a part of a pattern is for, and how many of these may be open whatever came before."""

    positions: int = 0
    open: int = 0

    def add(self, other: _Part) -> None:
        self.positions += other.positions
        self.open += other.open


def positions(translated: str) -> tuple[int, int]:
    """How many positions a pattern has when its repetitions are written out, and how many of them are not plain text.

    >>> positions("ab[cd]{3}"), positions("a(b|c)d*")
    ((5, 3), (4, 3))
    """
    stack, last, has_bar = [_Part()], _Part(), [False]
    for piece in _PIECE.finditer(translated):
        match piece.lastgroup:
            case "open":
                stack.append(_Part())
                has_bar.append(False)
                continue
            case "bar":
                has_bar[-1] = True
                last = _Part()
                continue
            case "close" if len(stack) > 1:
                group = stack.pop()
                last = _Part(group.positions, group.positions if has_bar.pop() else group.open)
            case "times" | "comma" | "most" | "least" | "some":
                times = _times(piece)
                more = _Part(last.positions * (times - 1), 0)
                more.open = last.positions * times - last.open
                last = _Part(last.positions * times, last.positions * times)
                stack[-1].add(more)
                continue
            case kind:
                last = _Part(int(kind != "edge"), int(kind == "class"))
        stack[-1].add(last)
    return sum(part.positions for part in stack), sum(part.open for part in stack)


def _times(piece: re.Match[str]) -> int:
    """How often a part is written out."""
    if piece["some"]:
        return 1
    least = int(piece["least"])
    return max(int(piece["most"]) if piece["most"] else least + bool(piece["comma"]), 1)


def worst_alone(translated: str, instructions: int) -> int:
    """Nanoseconds for each byte, if a pattern is searched for alone."""
    return _QUICK if positions(translated)[1] <= _FEW else worst_together(translated, instructions)


def worst_together(translated: str, instructions: int) -> int:
    """Nanoseconds for each byte that a pattern adds to those of a set, in which all that is open makes states."""
    return min(instructions * _INSTRUCTION, positions(translated)[0] * _POSITION) + _QUICK
