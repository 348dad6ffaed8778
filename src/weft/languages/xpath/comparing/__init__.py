"""Comparisons as they are written: rules, the first that knows one makes its test."""

from weft.languages.xpath.comparing.constants import constants
from weft.languages.xpath.comparing.counts import counts
from weft.languages.xpath.comparing.first_items import first_items
from weft.languages.xpath.comparing.lists import lists
from weft.languages.xpath.comparing.names import names
from weft.languages.xpath.comparing.nodes import nodes
from weft.languages.xpath.comparing.written_comparison import WrittenComparison
from weft.plans.plan import Test

RULES = (
    nodes,  # first: nearly all comparisons are of this kind
    counts,
    first_items,
    names,
    constants,
    lists,  # last: it takes a list apart and asks all rules for its parts
)


def compare(compared: WrittenComparison) -> Test | None:
    """The test that a comparison means; nothing where no rule knows it."""
    for rule in RULES:
        test = rule(compared, compare)
        if test is not None:
            return test
    return None


__all__ = ["RULES", "WrittenComparison", "compare"]
