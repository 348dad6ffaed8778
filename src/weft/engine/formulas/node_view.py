"""A node table in, its nodes for formulas out: one by one, with the axes of XPath from each.

The document of a node is a node here too: -1 for the first document of a batch, -2 for the second, and so on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

from weft.columns.kept import kept_property
from weft.documents.kind import Kind
from weft.documents.names import NameTable
from weft.documents.table import NodeTable
from weft.plans.names import passes
from weft.plans.numbers import double, number
from weft.plans.plan import Label

#: What a formula may look at in one document whatever all others do, and what all may beyond that.
FEW_VISITS, MOST_VISITS = 20_000, 6_000_000
TOO_MANY_VISITS = f"formulas that look at more than {MOST_VISITS} nodes"
_WORD = 16  # characters that are read in the time of a visit


class TooManyVisitsError(Exception):
    """Formulas look at more nodes than they may in one document."""


class Passing(dict[int, bool]):
    """Whether names, by their numbers, pass a label test; found out when it is asked."""

    def __init__(self, label: Label, names: list[str]) -> None:
        super().__init__()
        self._label, self._names = label, names

    def __missing__(self, name: int) -> bool:
        found = self[name] = passes(self._label, self._names[name])
        return found


class NamesPassing:
    """For every label test the names of a name table that pass it."""

    def __init__(self, names: NameTable) -> None:
        self.names = names
        self._by_label: dict[Label, Passing] = {}

    def of(self, label: Label) -> Passing:
        """The names that pass a label test."""
        found = self._by_label.get(label)
        if found is None:
            found = self._by_label[label] = Passing(label, self.names.names)
        return found


class NodeView:
    """One batch, node by node; columns become lists, of which single entries are read quickly."""

    def __init__(self, table: NodeTable, passing: NamesPassing) -> None:
        self.table, self.passing = table, passing
        self.elements, self.first_text = table.elements, table.first_text
        self.variables: dict[str, int] = {}
        self.kept: dict[tuple[int, int], list[int]] = {}  # by place of a formula and document what it selects
        self.places: dict[tuple[int, int], dict[int, float]] = {}  # by formula and document
        self.left = FEW_VISITS
        self._strings: dict[int, str] = {}
        self._visits: dict[tuple[int, int], int] = {}  # by document and formula
        self._in_all: dict[int, int] = {}  # by document
        self._begun: tuple[int, int, int] | None = None

    # -- columns

    @kept_property
    def parents(self) -> list[int]:
        """The parent of every node; below zero its document."""
        found: list[int] = self.table.parent.tolist()
        for document, root in enumerate(self.roots):
            if root >= 0:
                found[root] = ~document
        return found

    @kept_property
    def roots(self) -> list[int]:
        """By document its root element, or -1."""
        ranges = self.table.ranges[0].tolist()
        return [first if first < end else -1 for first, end in pairwise(ranges)]

    @kept_property
    def last(self) -> list[int]:
        """By element the last one below it."""
        found: list[int] = self.table.last.tolist()
        return found

    @kept_property
    def names(self) -> list[int]:
        """By element and attribute the number of its name."""
        found: list[int] = [*self.table.name.tolist(), *self.table.attribute_name.tolist()]
        return found

    @kept_property
    def documents(self) -> list[int]:
        """By node its document."""
        found: list[int] = self.table.node_document.tolist()
        return found

    @kept_property
    def attributes(self) -> dict[int, list[int]]:
        """By element its attributes, if it has some."""
        return _by_owner(self.parents, self.elements, self.first_text)

    @kept_property
    def texts(self) -> dict[int, list[int]]:
        """By element the texts right below it, if it has some."""
        return _by_owner(self.parents, self.first_text, self.table.nodes)

    @kept_property
    def order(self) -> list[int]:
        """By node a number that puts nodes of all kinds in document order."""
        found: list[int] = self.table.order.tolist()
        return found

    @kept_property
    def text_first(self) -> list[int]:
        """By element the first text below it."""
        found: list[int] = (self.table.text_first + self.first_text).tolist()
        return found

    @kept_property
    def text_last(self) -> list[int]:
        """By element the first text behind it."""
        found: list[int] = (self.table.text_last + self.first_text).tolist()
        return found

    # -- values

    def string(self, node: int) -> str:
        """The string-value of a node."""
        found = self._strings.get(node)
        if found is None:
            found = self._strings[node] = self.table.string_value(node if node >= 0 else self.roots[~node])
        self.left -= len(found) // _WORD
        return found

    def number(self, node: int) -> float:
        """The value of a node as XPath's number."""
        return number(self.string(node))

    def double(self, node: int) -> float:
        """The value of a node as XQuery's double."""
        return double(self.string(node))

    def name(self, node: int) -> str:
        """The expanded name of a node; texts and documents have none."""
        return self.table.names[self.names[node]] if 0 <= node < self.first_text else ""

    def tag(self, node: int) -> str:
        """The name of a node as it is written."""
        if not 0 <= node < self.first_text:
            return ""
        table = self.table
        tag = table.tag[node] if node < self.elements else table.attribute_tag[node - self.elements]
        return table.tags[int(tag)]

    def document_of(self, node: int) -> int:
        """The document of a node, as a node."""
        return ~self.documents[node] if node >= 0 else node

    def sort(self, nodes: Iterable[int]) -> list[int]:
        """Nodes in document order, each once; of one kind they are in the order of their numbers."""
        found = sorted(set(nodes))
        if len(found) > 1 and self._kind_at(found[0]) != self._kind_at(found[-1]):
            found.sort(key=lambda node: self.order[node] if node >= 0 else -1)
        return found

    def _kind_at(self, node: int) -> int:
        return 0 if 0 <= node < self.elements else 3 if node < 0 else 1 if node < self.first_text else 2

    # -- effort

    def begin(self, formula: int, node: int) -> None:
        """A formula is asked about a node: what it looks at counts for both from now on."""
        document = self.documents[node]
        spent, total = self._visits.get((document, formula), 0), self._in_all.get(document, 0)
        self.left = max(FEW_VISITS - spent, MOST_VISITS - total)
        self._begun = document, formula, self.left

    def finish(self) -> None:
        """It is answered."""
        if self._begun is not None:
            document, formula, left = self._begun
            visits = left - self.left + 1
            self._visits[document, formula] = self._visits.get((document, formula), 0) + visits
            self._in_all[document] = self._in_all.get(document, 0) + visits

    def spend(self, visits: int) -> None:
        """So many nodes are looked at."""
        self.left -= visits
        if self.left < 0:
            raise TooManyVisitsError


def _by_owner(parents: list[int], first: int, end: int) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for node in range(first, end):
        found.setdefault(parents[node], []).append(node)
    return found


#: A node, its position and how many nodes have one, in, what a formula makes of it out: nodes in document order, a
#: text, a number, a truth; or None, which is what XQuery's arithmetic makes of nothing.
Work = Callable[[NodeView, int, int, int], Any]
#: A node in, those that an axis leads to out, the nearest first.
AxisLead = Callable[[NodeView, int], list[int]]


def keep_kind(view: NodeView, nodes: list[int], kind: Kind | None) -> list[int]:
    """Nodes of one kind; without a kind all."""
    match kind:
        case None:
            return nodes
        case Kind.ELEMENT:
            return [node for node in nodes if 0 <= node < view.elements]
        case Kind.ATTRIBUTE:
            return [node for node in nodes if view.elements <= node < view.first_text]
        case Kind.TEXT:
            return [node for node in nodes if node >= view.first_text]
