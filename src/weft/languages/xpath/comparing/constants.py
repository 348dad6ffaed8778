"""Constants compared with each other."""

from weft.languages.xpath.comparing.written_comparison import Compare, WrittenComparison
from weft.plans.comparisons import HOLDS
from weft.plans.instants import Instant
from weft.plans.plan import Always, Test


def constants(compared: WrittenComparison, _compare: Compare) -> Test | None:
    """What holds whatever the document is told at once.

    before  //a[1 < 2]
    after   //a[true()]
    """
    left, right = compared.left.constant, compared.right.constant
    if {compared.left.kind, compared.right.kind} - {"string", "number", "instant"}:
        return None
    if isinstance(left, Instant) or isinstance(right, Instant):
        if not isinstance(left, Instant) or not isinstance(right, Instant) or left.type != right.type:
            return None
    elif isinstance(left, str) and isinstance(right, str):
        if compared.operator not in ("=", "!=") and not compared.orders_texts:
            left, right = compared.as_number(left), compared.as_number(right)
    elif compared.is_xquery and type(left) is not type(right):
        return None  # an error in XQuery
    else:
        left, right = compared.as_number(left), compared.as_number(right)
    return Always(bool(HOLDS[compared.operator](left, right)))
