"""A subscription in, what of it is not compiled out, as lines for people: what asks Python, and when."""

from __future__ import annotations

from collections.abc import Iterator

from weft.engine.index import Index
from weft.engine.shared.comparisons import INSTANTS, Reading
from weft.engine.shared.nodes import COMPARISONS, NOTHING, OPERATORS, NodeKind
from weft.engine.shared.show_nodes import NodeLines
from weft.plans.write_formula import write_formula

_ODD = "a number that is not written with few digits, such as 1e3 or .5"
THOROUGH = "all of a batch that takes too many steps: elements nested very deep, or very long values"


def fallbacks(index: Index, number: int) -> list[str]:
    """What of a subscription the compiled core leaves to Python."""
    nodes = NodeLines(index.shared, index.access)
    conditions = [node for _, node in map(index.origin, index.results_below(number)) if node != NOTHING]
    if number in index.built:
        building = index.built.building(number)
        chains = (*building.chains, *building.slots)
        conditions += [node for chain in chains for _, node in chain if node != NOTHING]
    driving = {driver for node in conditions for driver in nodes.drivers(node)}
    told = [
        line
        for at in sorted({at for node in conditions for at in nodes.all_below(node)})
        for line in _of_node(index, nodes, at, at in driving)
    ]
    return list(dict.fromkeys([*told, *([THOROUGH] if conditions else [])]))


def _of_node(index: Index, nodes: NodeLines, node: int, drives: bool) -> Iterator[str]:
    shared, row = index.shared, index.shared.nodes.row[node]
    at = nodes.path(shared.nodes.state[node])
    match NodeKind(shared.nodes.kind[node]):
        case NodeKind.TEST:
            yield from _of_test(OPERATORS[shared.tests.operator[row]], Reading(shared.tests.reading[row]), at)
        case NodeKind.NAMED if not drives:
            yield f"Python looks at the name of each {at} that is asked for it"
        case NodeKind.DERIVED:
            formula, is_member = nodes.formula(row), shared.derivations.is_member[row]
            where = "once for a document in which something may be" if is_member else f"for each {at} that is looked at"
            yield f"Python works out {write_formula(formula)} {where}"
        case NodeKind.LINKED:
            yield f"Python looks at the value of the first node that is found from each {at}"


def _of_test(operator: str, reading: Reading, at: str) -> Iterator[str]:
    if operator == "matches":
        yield f"Python hands each {at} to RE2, for all patterns there at once"
    elif operator in COMPARISONS and reading in INSTANTS:
        yield f"Python reads the date or time of each {at} that is looked at"
    elif operator in COMPARISONS and reading is not Reading.TEXT:
        yield f"Python reads the value of a {at} where it may be {_ODD}"
