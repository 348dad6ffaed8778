"""Comparisons with several constants."""

from collections.abc import Iterator
from dataclasses import replace

from weft.languages.xpath.comparing.written_comparison import Compare, WrittenComparison
from weft.languages.xpath.operand import Operand
from weft.plans.plan import Always, And, Or, Test

MOST_LISTED = 64  # constants in a list: each is a test of its own


def lists(compared: WrittenComparison, compare: Compare) -> Test | None:
    """One of the constants stands in the relation.

    before  //a[b = ("x", "y")]
    after   //a[b = "x" or b = "y"]
    """
    right = compared.right
    if right.kind == "range" and compared.left.kind == "count" and compared.operator == "=":
        low = compare(replace(compared, operator=">=", right=right.parts[0]))
        high = compare(replace(compared, operator="<=", right=right.parts[1]))
        return And((low, high)) if low is not None and high is not None else None
    if right.kind not in ("list", "range"):
        return None
    parts = list(constants_in(right))
    tests = [compare(replace(compared, right=part)) for part in parts[: MOST_LISTED + 1]]
    if len(parts) > MOST_LISTED or None in tests:
        return None
    found = tuple(test for test in tests if test is not None)
    return found[0] if len(found) == 1 else Or(found) if found else Always(False)


def constants_in(operand: Operand) -> Iterator[Operand]:
    """The constants of a list or a range, not many more than are taken."""
    if operand.kind == "range":
        low, high = (int(end.constant) for end in operand.parts if isinstance(end.constant, float))
        for each in range(low, min(high, low + MOST_LISTED) + 1):
            yield Operand("number", constant=float(each))
    elif operand.kind == "list":
        for part in operand.parts:
            yield from constants_in(part)
    else:
        yield operand
