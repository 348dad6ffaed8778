"""A plan in, a graph of its operators in Graphviz's language out."""

from __future__ import annotations

from collections.abc import Iterable

from weft.documents.dtd import Dtd
from weft.languages import Plan
from weft.optimizer import optimize
from weft.plans.flwr import Flwr
from weft.plans.show import show
from weft.plans.show_operators import operator_lines


def graph(plan: Plan, dtd: Dtd | None = None) -> str:
    """The operators of a FLWR query, or the patterns and tests of an XPath query, as a directed graph."""
    if isinstance(plan, Flwr):
        lines = list(operator_lines(optimize(plan, "FWR", dtd)))
    else:
        told = show(plan).splitlines()
        lines = [((len(line) - len(line.lstrip())) // 2, line.strip()) for line in told]
    return "\n".join(["digraph plan {", '  rankdir=BT; node [shape=box, fontname="sans-serif"];', *_body(lines), "}"])


def _body(lines: Iterable[tuple[int, str]]) -> Iterable[str]:
    above: list[int] = []
    for number, (depth, text) in enumerate(lines):
        label = text.replace("\\", "\\\\").replace('"', '\\"')
        yield f'  n{number} [label="{label}"];'
        del above[depth:]
        if above:
            yield f"  n{number} -> n{above[-1]};"
        above.append(number)
