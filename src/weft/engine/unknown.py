"""Nodes of the shared plan that were not worked out in, the subscriptions whose answers are not known for that out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from weft.engine.messages.budget import Budget
from weft.engine.shared.frozen import Frozen

if TYPE_CHECKING:
    from weft.engine.index import Index


def refuse_unknown(frozen: Frozen, reasons: dict[int, dict[int, str]], budget: Budget, index: Index) -> None:
    """Tell whose answers are not known; the reasons are by document and node."""
    for document, by_node in reasons.items():
        by_reason: dict[str, list[int]] = {}
        for node, reason in by_node.items():
            by_reason.setdefault(reason, []).append(node)
        for reason, nodes in by_reason.items():
            for subscription in _depending_on(index, frozen, nodes):
                budget.refuse_unknown(document, subscription, reason)


def _depending_on(index: Index, frozen: Frozen, nodes: list[int]) -> Iterator[int]:
    """The subscriptions whose answers depend on nodes of the shared plan."""
    marks = frozen.depending_on(nodes)
    results = set(frozen.result_of_node[marks].tolist())
    for subscription in index.results:
        used = index.built.building(subscription).nodes if subscription in index.built else ()
        if not results.isdisjoint(index.results_below(subscription)) or any(marks[node] for node in used):
            yield subscription
