"""What a function makes of the first node of a path, compared with a constant."""

from dataclasses import replace
from functools import partial

from weft.languages.xpath.comparing.written_comparison import Compare, WrittenComparison
from weft.languages.xpath.operand import Operand
from weft.languages.xpath.predicates import first_item, over
from weft.plans.instants import Instant
from weft.plans.plan import Test


def first_items(compared: WrittenComparison, _compare: Compare) -> Test | None:
    """Numbers are compared with number(b), texts with string(b), instants with those of their type.

    before  //a[string(b) = "x"][number(c) > 3][xs:date(@d) < xs:date("2026-01-31")]
    after   //a[(b)[1] = "x"][(c)[1] > 3][@d < xs:date("2026-01-31")]
    """
    item, right = compared.left.item, compared.right
    if item is None or compared.left.kind != "item":
        return None
    if isinstance(right.constant, Instant):
        if right.constant.type != item:
            return None
    elif item == "number" or (item == "string" and right.kind == "number"):
        if compared.is_xquery and (item, right.kind) != ("number", "number"):
            return None  # an error in XQuery: a text is no number
        right = Operand("number", constant=compared.as_number(right.constant))
    elif item != "string" or right.kind != "string":
        return None
    return over(compared.left.paths[0], partial(first_item, replace(compared, right=right).value))
