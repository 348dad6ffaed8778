"""Nodes compared with a constant."""

from weft.languages.xpath.comparing.written_comparison import Compare, WrittenComparison
from weft.languages.xpath.operand import exists
from weft.plans.plan import Test


def nodes(compared: WrittenComparison, _compare: Compare) -> Test | None:
    """Some node stands in the relation.

    before  //a[b | c = "x"]
    after   //a[b[. = "x"] or c[. = "x"]]
    """
    if compared.left.kind != "path" or compared.right.kind not in ("string", "number", "instant"):
        return None
    return exists(compared.left.paths, compared.value)
