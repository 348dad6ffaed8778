"""Counts compared with a number."""

from functools import partial

from weft.languages.xpath.comparing.written_comparison import Compare, WrittenComparison
from weft.languages.xpath.predicates import count, over
from weft.plans.plan import Test


def counts(compared: WrittenComparison, _compare: Compare) -> Test | None:
    """A count has a test of its own.

    before  //a["2" < count(b)]
    after   //a[count(b) > 2]
    """
    if compared.left.kind != "count" or compared.right.kind not in ("number", "string"):
        return None
    constant = compared.as_number(compared.right.constant)
    return over(compared.left.paths[0], partial(count, compared.operator, constant))
