"""An engine and a node table in, what the documents bring to whom out, as columns, within the limits."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from weft.columns.integers import Flags, Ints, Longs
from weft.documents.excerpts import Excerpts
from weft.documents.fragment import Fragments
from weft.documents.table import NodeTable
from weft.engine.engine import Engine
from weft.engine.matches import Matches
from weft.engine.messages.budget import Budget, size_of
from weft.engine.messages.texts import ListedTexts, Texts

Refused = list[tuple[int, int, str]]


@dataclass(frozen=True, slots=True)
class Deliveries:
    """One row for each node or message: the document's place in its batch, the subscription's number, the XML.

    Sorted by document, then subscription, then document order. `refused` tells which messages are not made (place of
    the document, subscription, reason), `rejected` which documents could not be matched at all (place, reason).
    """

    document: Ints
    subscription: Ints
    text: Texts
    refused: Refused = field(default_factory=list)
    rejected: list[tuple[int, str]] = field(default_factory=list)

    @property
    def is_first(self) -> Flags:
        """Where the rows of one document and subscription begin."""
        return _is_first(self.document, self.subscription)

    @property
    def position(self) -> Longs:
        """The place of each row among those of its document and subscription, from 1."""
        starts = np.flatnonzero(self.is_first)
        return np.arange(1, len(self.text) + 1) - np.repeat(starts, np.diff([*starts, len(self.text)]))


def deliveries(engine: Engine, table: NodeTable, place: int | None = None) -> Deliveries:
    """What the documents bring: the nodes that XPath selects, the messages that FLWR builds.

    With a `place` other batches are answered meanwhile, as by `Engine.match`.
    """
    matches = engine.match(table, place=place)
    selected, built = _selected(table, matches), matches.messages()
    refused = matches.refused
    if not built:
        return replace(selected, refused=refused)
    if not selected.document.size:
        return Deliveries(built.document, built.subscription, built.texts, refused)
    document = np.concatenate([selected.document, built.document])
    subscription = np.concatenate([selected.subscription, built.subscription])
    return in_order(document, subscription, Texts.together([selected.text, built.texts]), refused)


def in_order(document: Ints, subscription: Ints, text: Texts, refused: Refused) -> Deliveries:
    """Rows sorted by document and subscription; nodes stay in their order."""
    order = np.lexsort((subscription, document))
    return Deliveries(document[order], subscription[order], text.take(order), sorted(refused))


def _selected(table: NodeTable, matches: Matches) -> Deliveries:
    """A node that many want is written once."""
    document, subscription, node = matches.nodes()
    budget = matches.budget
    distinct, place = np.unique(node, return_inverse=True)
    sizes = budget.sizes(distinct) + budget.declared
    starts = np.append(np.flatnonzero(_is_first(document, subscription)), node.size)
    most = int(np.diff(starts).max(initial=0))
    limits, spent = budget.limits, int(sizes.sum())
    can_exceed = most > limits.max_messages or spent > limits.max_output_bytes
    if can_exceed or most * int(sizes.max(initial=0)) > limits.max_message_bytes:
        return _Careful(budget, Fragments(table)).selected(document, subscription, node, starts)
    for at, size in zip(*_by_document(table.node_document[distinct], sizes), strict=True):
        budget.left[at] -= size
    return Deliveries(document, subscription, Texts.of(Excerpts(table, distinct), place.astype(np.int32)))


def _by_document(document: Ints, sizes: Longs) -> tuple[list[int], list[int]]:
    sums = np.bincount(document, sizes)
    some = np.flatnonzero(sums)
    return some.tolist(), sums[some].astype(np.int64).tolist()


class _Careful:
    """Writes nodes where limits may be exceeded: what is too much is known, or noticed, before it is written."""

    def __init__(self, budget: Budget, fragments: Fragments) -> None:
        self._budget, self._fragments = budget, fragments
        self._written: dict[int, str] = {}

    def selected(self, document: Ints, subscription: Ints, node: Ints, starts: Longs) -> Deliveries:
        keep, text = np.zeros(node.size, bool), []
        sizes = self._budget.sizes(node)
        for start, end in pairwise(starts.tolist()):
            found = self._group(int(document[start]), int(subscription[start]), node[start:end], sizes[start:end])
            if found is not None:
                keep[start:end] = True
                text += found
        return Deliveries(
            document[keep], subscription[keep], Texts.of(ListedTexts(text), np.arange(len(text), dtype=np.int32))
        )

    def _group(self, document: int, subscription: int, nodes: Ints, sizes: Longs) -> list[str] | None:
        """The nodes that one subscription selects in one document, if it may have them."""
        budget, written = self._budget, self._written
        if nodes.size > budget.limits.max_messages:
            budget.refuse_many(document, subscription, nodes.size)
            return None
        is_new = np.array([node not in written for node in nodes.tolist()], bool)
        is_large = int(sizes.sum()) > budget.limits.max_message_bytes
        if is_large or int(sizes[is_new].sum()) > budget.left[document]:
            budget.refuse_large(document, subscription, in_all=not is_large)
            return None
        total = 0
        for node in nodes.tolist():
            if node not in written:
                written[node] = self._fragments.text(node)
                budget.left[document] -= size_of(written[node])
            total += size_of(written[node])
            is_large = total > budget.limits.max_message_bytes
            if is_large or budget.left[document] < 0:
                budget.refuse_large(document, subscription, in_all=not is_large)
                return None
        return [written[node] for node in nodes.tolist()]


def _is_first(document: Ints, subscription: Ints) -> Flags:
    if not document.size:
        return np.zeros(0, bool)
    return np.append(True, (np.diff(document) != 0) | (np.diff(subscription) != 0))
