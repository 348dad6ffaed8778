"""What holds for a batch in, which subscriptions match which documents, and with which nodes, out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, partial, reduce
from itertools import pairwise
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np

from weft.columns.integers import MOST, Ints, Longs, as_lists, expand, spans, unique_pairs
from weft.documents.document import is_in_stream
from weft.engine.evaluation.evaluate import Evaluation
from weft.engine.messages.budget import Budget
from weft.engine.messages.building import Building
from weft.engine.messages.built import BuiltQueries
from weft.engine.messages.factory import Factory, Lists
from weft.engine.messages.groups import Follower, Groups, group, tuples_of
from weft.engine.shared.nodes import Chain
from weft.errors import failure_of
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
    ) -> None:
        self._evaluation, self._subscribers, self._compounds = evaluation, subscribers, compounds
        self._built, self._budget = built, budget
        self._table = evaluation.table

    def subscriptions(self) -> list[Ints]:
        """For each document the subscriptions that match it, each once, in no order."""
        subscription, begins = self._evaluation.results(self._subscribers)
        return self._with_compounds(told(subscription, begins, self._subscribers.is_wanted_twice, self._budget))

    def nodes(self) -> tuple[Ints, Ints, Ints]:
        """(document, subscription, node), sorted by document, then subscription, then document order."""
        result, node = self._all_pairs
        at, subscription = self._subscribers.pairs(result)
        node = node[at]
        if len(self._built):
            selected = ~np.isin(subscription, self._built.numbers())
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

    @cached_property
    def groups(self) -> Groups:
        """The groups of all simple FLWR queries."""
        shapes = self._built.shapes
        result, row = self._all_pairs
        known = result < shapes.of_result.starts.size - 1
        with self._evaluation.profile("OuterJoin-Select"):
            return group(shapes, self._follower, result[known], row[known], self._refuse_shape)

    def _refuse_shape(self, document: int, shape: int, reason: str) -> None:
        for subscription in self._built.subscriptions_of(shape):
            self._budget.refuse(document, subscription, reason)

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

    @cached_property
    def _follower(self) -> Follower:
        return Follower(self._evaluation)

    def _tuples(self, subscription: int) -> Iterator[Ints]:
        """The bindings of a FLWR query that is not simple, some documents at a time."""
        wanted, building = self._built.others[subscription]
        result, row = self._all_pairs
        rows = np.sort(row[result == wanted])
        if rows.size:
            refuse = partial(self._refuse_bindings, subscription)
            most = self._budget.limits.max_messages
            yield from tuples_of(building, self._follower, self._evaluation, rows, most, refuse)

    def _refuse_bindings(self, subscription: int, document: int, found: int | str) -> None:
        if isinstance(found, int):
            self._budget.refuse_many(document, subscription, found)
        else:
            self._budget.refuse_unknown(document, subscription, found)

    def messages(self) -> list[tuple[int, int, str]]:
        """(document, subscription, message) of the FLWR queries, sorted."""
        if not len(self._built):
            return []
        factory = Factory(self._table, self._budget)
        made = [
            (document, subscription, text)
            for document, subscription, text in (*self._simple_messages(factory), *self._other_messages(factory))
            if text is not None
        ]
        made.sort(key=itemgetter(0, 1))
        return made

    def _simple_messages(self, factory: Factory) -> Iterator[tuple[int, int, str | None]]:
        groups = self.groups
        document = self._table.node_document[groups.binding]
        is_new = np.append(True, (groups.shape[1:] != groups.shape[:-1]) | (document[1:] != document[:-1]))
        begins = np.append(np.flatnonzero(is_new), groups.shape.size).tolist() if groups.shape.size else [0]
        nodes, first = groups.nodes.tolist(), groups.first.tolist()
        starts, ends = groups.starts.tolist(), groups.ends.tolist()
        documents, shapes = document.tolist(), groups.shape.tolist()
        listed = np.append(0, np.cumsum(groups.ends - groups.starts))[groups.first].tolist()  # nodes before a group
        for begin, end in pairwise(begins):
            at, entries = documents[begin], listed[end] - listed[begin]
            of_groups: list[Lists] | None = None
            for subscription, building in self._built.subscriptions_of(shapes[begin]).items():
                if building.recipe is None:  # an edge
                    continue
                if self._is_wanted(at, subscription) and factory.has_room(at, subscription, end - begin, entries):
                    if of_groups is None:
                        lists = [nodes[starts[each] : ends[each]] for each in range(first[begin], first[end])]
                        cuts = [each - first[begin] for each in first[begin : end + 1]]
                        of_groups = [lists[low:high] for low, high in pairwise(cuts)]
                    yield at, subscription, factory.make(at, subscription, building.recipe, of_groups, entries)

    def _other_messages(self, factory: Factory) -> Iterator[tuple[int, int, str | None]]:
        for subscription, (_, building) in self._built.others.items():
            for tuples in self._tuples(subscription):
                document = self._table.node_document[tuples[:, 0]]
                for at in np.unique(document).tolist():
                    if self._is_wanted(at, subscription):
                        yield (
                            at,
                            subscription,
                            self._built_of(factory, at, subscription, building, tuples[document == at]),
                        )

    def _built_of(
        self, factory: Factory, document: int, subscription: int, building: Building, tuples: Ints
    ) -> str | None:
        """The message of a query that is not simple, from its bindings in one document."""
        slots = zip(building.slots, building.slot_variables, strict=True)
        try:
            columns = [self._lists(chain, tuples[:, variable]) for chain, variable in slots]
        except MemoryError as error:
            self._budget.refuse(document, subscription, failure_of(error))
            return None
        lists = [[column[row] for column in columns] for row in range(len(tuples))]
        entries = sum(len(each) for row in lists for each in row)
        assert building.recipe is not None  # edges are simple
        return factory.make(document, subscription, building.recipe, lists, entries)

    def _lists(self, chain: Chain, rows: Ints) -> list[list[int]]:
        """The list of each row; rows that are the same have the same list."""
        distinct, place = np.unique(rows, return_inverse=True)
        lists = as_lists(*self._follower.lists([chain], np.zeros(distinct.size, np.int64), distinct))
        return [lists[at] for at in place.tolist()]

    @cached_property
    def _all_pairs(self) -> tuple[Ints, Ints]:
        """Every (result, node) there is."""
        result, node = self._evaluation.result_pairs
        found = self._evaluation.found
        return np.concatenate([result, found[0]]), np.concatenate([node, found[1]])

    @cached_property
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
        found = list(self._compound_nodes)
        residual = [at for at, (_, building) in self._built.others.items() if building.where is not None]
        found += [(at, np.unique(tuples[:, 0])) for at in residual for tuples in self._tuples(at)]
        for subscription, nodes in found:
            for document in np.unique(self._table.node_document[nodes]).tolist():
                if (document, subscription) in self._budget.unknown:
                    continue
                matched[document] = np.sort(np.append(matched[document], np.int32(subscription)))
        if self._built.streams:
            for at, document in enumerate(self._table.documents):
                if document.stream:
                    keep = [self._is_in_stream(at, subscription) for subscription in matched[at].tolist()]
                    matched[at] = matched[at][np.array(keep, bool)]
        return matched

    def _is_wanted(self, document: int, subscription: int) -> bool:
        if (document, subscription) in self._budget.unknown:
            return False
        return not self._built.streams or self._is_in_stream(document, subscription)

    def _is_in_stream(self, document: int, subscription: int) -> bool:
        return is_in_stream(self._table.documents[document], self._built.streams.get(subscription, ""))
