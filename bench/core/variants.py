"""Queries in, the same queries out that come less far: what they ask for is in no document, from some point on.

The time of a broker with a variant, taken from that with the queries themselves, is what lies between.
"""

from __future__ import annotations

import re
from functools import partial

ABSENT = "absent"  # no document has an element, an attribute or a value of that name
_COMPARISON = re.compile(r'(?P<operator>!?=|[<>]=?) (?:"[^"]*"|\d+)|(?P<second>, )"[^"]*"(?=\))')
_OPERAND = re.compile(r'(?P<path>[\w./@]*?)(?P<last>@?\w+|text\(\)|\.)(?= (?:!?=|[<>]=?) ["\d]|, ")')


def without_results(queries: list[str]) -> list[str]:
    """Paths with one step more, which no document has: label paths are found, and nothing else."""
    return [f"{query}/{ABSENT}" for query in queries]


def without_operands(queries: list[str]) -> list[str]:
    """What is compared is an attribute or an element that no document has: no value is looked up."""
    return [_OPERAND.sub(_absent_operand, query) for query in queries]


def without_constants(queries: list[str]) -> list[str]:
    """What values are compared with is in no document, another one in each query: nothing is found by a value."""
    return [_COMPARISON.sub(partial(_absent_constant, number), query) for number, query in enumerate(queries)]


def _absent_operand(match: re.Match[str]) -> str:
    return match["path"] + ("@" if match["last"].startswith("@") else "") + ABSENT


def _absent_constant(number: int, match: re.Match[str]) -> str:
    """Values are words, or numbers from 0 on; `!=` would hold for all others, so that it becomes `=`."""
    match match["operator"]:
        case ">" | ">=":
            return f"> {1_000_000 + number}"
        case "<" | "<=":
            return "< 0"
        case operator:
            return f'{"= " if operator else match["second"]}"{ABSENT} {number}"'
