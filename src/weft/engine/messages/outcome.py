"""What holds for a batch in, which subscriptions match which documents, and with which nodes, out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial, reduce
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from weft.columns.integers import MOST, Ints, Longs, expand, spans, unique_pairs
from weft.columns.kept import kept_property
from weft.engine.evaluation.evaluate import Evaluation
from weft.engine.messages.alone import LoneWork
from weft.engine.messages.budget import Budget
from weft.engine.messages.built import BuiltQueries
from weft.engine.messages.follower import Follower
from weft.engine.messages.groups import Groups, Refusing, group, joined
from weft.engine.messages.messages import Messages
from weft.engine.messages.writing import MessageWriting
from weft.kernel.subscribers import Subscribers

#: A result, or an operation on several: `except` and `intersect` are worked out node by node.
Compound: TypeAlias = "int | tuple[str, tuple[Compound, ...]]"
_SET_OPERATIONS: dict[str, Callable[[Ints, Ints], Any]] = {
    "union": np.union1d,
    "intersect": np.intersect1d,
    "except": np.setdiff1d,
}


def told(subscription: Ints, begins: Longs, twice: bool, budget: Budget | None = None) -> list[Ints]:
    """For each document its subscriptions, each once even if some may come twice, whose answer is known; in no order.

    Those of a document begin where `begins` says.
    """
    if twice or (budget is not None and budget.unknown):
        document = np.repeat(np.arange(begins.size - 1, dtype=np.int32), np.diff(begins))
        if twice:
            document, subscription = unique_pairs(document, subscription, int(subscription.max(initial=0)) + 1)
        if budget is not None and budget.unknown:
            known = budget.is_known(document, subscription)
            document, subscription = document[known], subscription[known]
        begins = np.searchsorted(document, np.arange(begins.size))
    return [subscription[start:end] for start, end in pairwise(begins.tolist())]


class Outcome:
    """The answer to a batch: results first, subscriptions as late as possible."""

    def __init__(
        self,
        evaluation: Evaluation,
        subscribers: Subscribers,
        compounds: dict[int, Compound],
        built: BuiltQueries,
        budget: Budget,
        selects: bool = True,
        lone: LoneWork | None = None,
    ) -> None:
        """`selects` says whether some subscription is neither a compound nor a query that builds messages."""
        self._lone = lone
        self._evaluation, self._subscribers, self._compounds = evaluation, subscribers, compounds
        self._built, self._budget = built, budget
        self._table, self._selects = evaluation.table, selects

    def subscriptions(self) -> list[Ints]:
        """For each document the subscriptions that match it, each once, in no order."""
        return self._with_compounds(self._with_lone(self._told))

    @property
    def _told(self) -> list[Ints]:
        subscription, begins = self._evaluation.results(self._subscribers)
        return told(subscription, begins, self._subscribers.is_wanted_twice, self._budget)

    def _with_lone(self, matched: list[Ints]) -> list[Ints]:
        """Of those whose programs are worked out alone only the ones that have a message."""
        return matched if self._lone is None else list(map(self._lone.matching, range(len(matched)), matched))

    @property
    def _candidates(self) -> list[Ints]:
        """For each document the subscriptions with programs of their own whose conditions hold."""
        assert self._lone is not None
        numbers = self._lone.numbers
        return [found[np.isin(found, numbers)] for found in self._told]

    def nodes(self) -> tuple[Ints, Ints, Ints]:
        """(document, subscription, node), sorted by document, then subscription, then document order."""
        if self._selects:
            result, node = self._all_pairs
            at, subscription = self._subscribers.pairs(result)
            node = node[at]
        else:
            subscription = node = np.zeros(0, np.int32)
        for others in (self._built.numbers, *([] if self._lone is None else [self._lone.numbers])):
            if others.size:
                selected = ~np.isin(subscription, others)
                subscription, node = subscription[selected], node[selected]
        for compound, nodes in self._compound_nodes:
            subscription = np.append(subscription, np.full(nodes.size, compound, np.int32))
            node = np.append(node, nodes)
        subscription, node = unique_pairs(subscription, node, max(self._table.nodes, 1))
        document = self._table.node_document[node]
        if self._budget.unknown:
            known = self._budget.is_known(document, subscription)
            document, subscription, node = document[known], subscription[known], node[known]
        order = np.lexsort((self._table.order[node], subscription, document))
        return document[order], subscription[order], node[order]

    @kept_property
    def groups(self) -> Groups:
        """The groups of all FLWR queries."""
        return joined(self._groups())

    def _groups(self, only: Ints | None = None) -> Iterator[Groups]:
        """The groups of all FLWR queries, or of some shapes, in parts that are not too large."""
        built, result_row = self._built, self._all_pairs
        shapes, wanted = built.shapes.frozen(), built.is_wanted
        if only is not None:
            wanted &= np.isin(np.arange(wanted.size), only)
        follower = Follower(self._evaluation, shapes)
        with self._evaluation.profile("OuterJoin-Select"):
            yield from group(shapes, follower, *result_row, wanted, self._refusing)

    @property
    def _refusing(self) -> Refusing:
        budget = self._budget

        def tell(refuse: Callable[[int, int, Any], object], document: int, shape: int, why: int | str) -> None:
            for subscription in self._built.subscriptions_of(shape):
                refuse(document, subscription, why)

        return Refusing(
            most=budget.limits.max_messages,
            many=partial(tell, budget.refuse_many),
            lists=partial(tell, budget.refuse),
            unknown=partial(tell, budget.refuse_unknown),
        )

    def edges(self, most: int = MOST) -> tuple[Ints, Ints, Ints]:
        """(subscription, node, node) of edges: each node of the pattern with those that the links lead to."""
        groups = self.groups
        which, inside = expand(groups.starts, groups.ends, most)
        of_list = np.repeat(np.arange(groups.shape.size), np.diff(groups.first))[which]
        shape, above, below = groups.shape[of_list], groups.binding[of_list], groups.nodes[inside]
        found = []
        for each in np.unique(shape).tolist():
            here = np.flatnonzero(shape == each)
            for number in self._built.subscriptions_of(each):
                found.append((np.full(here.size, number, np.int32), above[here], below[here]))
        subscription, above, below = (
            np.concatenate([np.zeros(0, np.int32), *(part[column] for part in found)]) for column in range(3)
        )
        order = np.lexsort((self._table.order[below], self._table.order[above], subscription))
        return subscription[order], above[order], below[order]

    def messages(self) -> Messages:
        """The messages of the FLWR queries, sorted by document, then subscription."""
        parts = self._groups() if len(self._built) else ()
        made = MessageWriting(self._table, self._built, self._budget).messages(parts)
        return (
            made
            if self._lone is None
            else Messages.together([made, self._lone.messages(self._candidates, self._all_pairs)])
        )

    @kept_property
    def _all_pairs(self) -> tuple[Ints, Ints]:
        """Every (result, node) there is."""
        result, node = self._evaluation.result_pairs
        found = self._evaluation.found
        return np.concatenate([result, found[0]]), np.concatenate([node, found[1]])

    @kept_property
    def _compound_nodes(self) -> list[tuple[int, Ints]]:
        """The nodes of the subscriptions that subtract or intersect."""
        if not self._compounds:
            return []
        result, node = self._all_pairs
        order = np.lexsort((node, result))
        sorted_results: Longs = result[order].astype(np.int64)
        sorted_nodes = node[order]

        def nodes_of(compound: Compound) -> Ints:
            if isinstance(compound, int):
                start, end = spans(sorted_results, np.array([compound]))
                return sorted_nodes[start[0] : end[0]]
            operator, parts = compound
            return np.asarray(reduce(_SET_OPERATIONS[operator], map(nodes_of, parts)), np.int32)

        return [(subscription, nodes_of(compound)) for subscription, compound in self._compounds.items()]

    def _with_compounds(self, matched: list[Ints]) -> list[Ints]:
        found = [(at, self._table.node_document[nodes]) for at, nodes in self._compound_nodes]
        found += self._inexact()
        for subscription, documents in found:
            for document in np.unique(documents).tolist():
                if (document, subscription) in self._budget.unknown:
                    continue
                matched[document] = np.sort(np.append(matched[document], np.int32(subscription)))
        if self._built.streams:
            for at, document in enumerate(self._table.documents):
                if document.stream:
                    place = np.full(matched[at].size, at, np.int32)
                    matched[at] = matched[at][self._built.is_in_stream(self._table.documents, place, matched[at])]
        return matched

    def _inexact(self) -> Iterator[tuple[int, Ints]]:
        """The subscriptions that only their bindings tell the matches of, each with the documents of these."""
        shapes = np.array(list(set(self._built.inexact.values())), np.int32)
        for groups in self._groups(shapes) if shapes.size else ():
            for shape in np.unique(groups.shape).tolist():
                documents = self._table.node_document[groups.binding[groups.shape == shape]]
                yield from ((subscription, documents) for subscription in self._built.subscriptions_of(shape))
