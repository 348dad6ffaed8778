"""One side of a comparison, or a whole condition, as it is read."""

from __future__ import annotations

from math import isnan
from typing import Literal, NamedTuple

from weft.languages.xpath.trails import Trails
from weft.plans.formulas import Formula, type_of
from weft.plans.instants import Instant, InstantType
from weft.plans.plan import Always, Constant, Or, Test, Value

#: What a function makes of the first node of a path: `string(b)`, `number(b)`, `xs:date(b)`.
Item = Literal["string", "number"] | InstantType


class Operand(NamedTuple):
    """One side of a comparison: paths, a count of one, its first item, a constant, position(), last(), a test.

    A formula is worked out. A list has constants or ranges as parts; a range has its two ends, which are numbers.
    """

    kind: str
    paths: Trails = ()
    constant: Constant = ""
    test: Test | None = None
    scope: int | None = None  # the variable that the paths start from
    item: Item | None = None
    parts: tuple[Operand, ...] = ()
    formula: Formula | None = None  # what is worked out node by node

    @property
    def is_constant(self) -> bool:
        """Whether values can be compared with it."""
        return self.kind in ("string", "number", "instant", "list", "range")

    @property
    def is_position(self) -> bool:
        """Alone in a predicate, a number is a position."""
        if self.formula is not None:
            return type_of(self.formula) == "number"
        return self.kind in ("number", "last", "count", "range") or (self.kind == "item" and self.item == "number")


def truth_of(constant: Constant) -> Test:
    """A string or a number as a condition: it is not empty, or neither 0 nor not-a-number."""
    return Always(bool(constant) and not (isinstance(constant, float) and isnan(constant)))


def any_of(tests: list[Test]) -> Test:
    """One of several tests, or the only one there is."""
    return tests[0] if len(tests) == 1 else Or(tuple(tests))


def exists(paths: Trails, test: Value | None = None) -> Test:
    """Some node at the end of one of the paths passes the test."""
    return paths[0].test(test) if len(paths) == 1 else any_of([trail.test(test) for trail in paths])


_TYPES = {"path": "text", "string": "text", "test": "truth"} | dict.fromkeys(
    ("number", "count", "position", "last"), "number"
)


def type_of_operand(operand: Operand) -> str | None:
    """What eq and its like compare an operand as; nothing for several values."""
    match operand.kind:
        case "item":
            return "text" if operand.item == "string" else operand.item
        case "instant":
            return operand.constant.type if isinstance(operand.constant, Instant) else None
        case kind:
            return _TYPES.get(kind)
