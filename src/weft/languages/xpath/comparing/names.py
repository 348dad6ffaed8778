"""Names of elements compared with a constant."""

import re

from weft.languages.reader import NAME
from weft.languages.xpath.comparing.written_comparison import Compare, WrittenComparison
from weft.plans.plan import Always, Named, Not, Test

_NAME = re.compile(NAME)


def names(compared: WrittenComparison, _compare: Compare) -> Test | None:
    """The name of an element is a label test.

    before  //*[local-name() = "a"][namespace-uri() = "urn:u"]
    after   //*[self::*:a][self::u:*]
    """
    constant, kind = compared.right.constant, compared.left.kind
    if compared.right.kind != "string" or not isinstance(constant, str) or compared.operator not in ("=", "!="):
        return None
    if kind == "local-name":
        test: Test = Named(f"*:{constant}") if _NAME.fullmatch(constant) else Always(False)
    elif kind == "namespace-uri" and constant and not set("{}*") & set(constant):
        test = Named(f"{{{constant}}}*")
    else:
        return None
    if compared.operator == "=":
        return test
    return Always(True) if test == Always(False) else Not(test)
