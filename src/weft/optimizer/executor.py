"""A plan and bottom input elements in, those that survive it out; what each operator took and let through is told.

All elements of a batch are at the same place of a plan, so a plan is swapped between batches or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from weft.columns.integers import Flags, Ints
from weft.documents.build import read
from weft.documents.document import Document, Limits
from weft.documents.kind import Kind
from weft.documents.scan import scan_paths
from weft.documents.table import NodeTable
from weft.engine.paths.bounds import Bounds
from weft.errors import DocumentError
from weft.optimizer.algebra import ElementPlan, Pass, is_settled
from weft.optimizer.bindings import NodePairs, PatternBindings, distinct_sorted
from weft.optimizer.leads import Lead, Leads, read_leads, share_of_leads
from weft.optimizer.navigation import Navigator, StepNames
from weft.optimizer.pattern_tree import PatternTree
from weft.optimizer.statistics import Statistics
from weft.optimizer.token_nav import PatternAutomaton
from weft.optimizer.unit_costs import ProcessorClock
from weft.optimizer.value_tests import Values
from weft.plans.names import passes

_PROBED, _TRIES = 32, 2  # elements, and how often


@dataclass(slots=True)
class Survivors:
    """The elements of a batch that survive, as places in a node table; and what could not be read."""

    table: NodeTable
    places: Ints
    rejected: list[DocumentError] = field(default_factory=list)


class ElementExecutor:
    """Runs the plans of one pattern tree."""

    def __init__(
        self,
        tree: PatternTree,
        limits: Limits,
        statistics: Statistics,
        leads: Leads,
        clock: ProcessorClock,
        bounds: Bounds | None = None,
        *,
        trusted: bool = False,
    ) -> None:
        self._tree, self._limits, self._statistics, self._leads = tree, limits, statistics, leads
        self._clock, self._trusted = clock, trusted
        self._automaton = PatternAutomaton(tree, bounds)
        self._below_root = PatternAutomaton(tree, bounds, is_below=True)
        self._names = StepNames()

    def run(self, plan: ElementPlan, documents: Sequence[Document], *, is_observed: bool = True) -> Survivors:
        """The elements of a batch that have all patterns."""
        size = sum(len(document.data) for document in documents) if is_observed else 0
        self._statistics.begin_batch(len(documents), size, is_observed=is_observed)
        rejected: list[DocumentError] = []
        is_first, lead = True, self._leads.lead(plan.inside) if plan.scan == "lead" else None
        if plan.scan == "narrow":
            documents, is_first = self._narrow(plan, documents, rejected), False
        elif lead is not None:
            documents, is_first = self._lead(plan, lead, documents, rejected)
        survivors = self._whole(plan, documents, is_first=is_first, is_observed=is_first and lead is None)
        survivors.rejected += rejected
        return survivors

    def probe(self, documents: Sequence[Document]) -> None:
        """What the passes would take that no plan has run yet: they are tried on some elements of this stream."""
        some, self._statistics.is_observed = documents[:_PROBED], True
        kinds, names = self._automaton.kinds, {"attributes": False, "texts": False}
        found: list[int] = []
        self._try("narrow", len(some), lambda: scan_paths(some, self._limits, **kinds))
        self._try("check", len(some), lambda: scan_paths(some, self._limits, **names))
        self._try("whole", len(some), lambda: found.append(read(some, self._limits).nodes))
        self._statistics.nodes.add(len(some), found[0])
        start = self._clock()
        self._statistics.saw_pass("lead", self._leads.probe(some), self._clock() - start)

    def _try(self, name: Pass | Literal["check"], elements: int, work: Callable[[], object]) -> None:
        """The best of some times: the first one also learns names, and what disturbs only ever adds."""
        times = []
        for _ in range(_TRIES):
            start = self._clock()
            work()
            times.append(self._clock() - start)
        self._statistics.saw_pass(name, elements, min(times))

    def _now(self) -> int:
        """The time, where somebody asks for it."""
        return self._clock() if self._statistics.is_observed else 0

    # -- first passes that let elements fall before they are read whole

    def _narrow(
        self, plan: ElementPlan, documents: Sequence[Document], rejected: list[DocumentError]
    ) -> Sequence[Document]:
        """The elements in which all names stand that the patterns that are in ask for."""
        start = self._now()
        scanned = scan_paths(documents, self._limits, **self._automaton.kinds)
        labels = self._automaton.labels(scanned)
        number = len(scanned.documents)
        document = np.repeat(np.arange(number), np.diff(scanned.begins))
        present: dict[int | None, Flags] = {None: np.ones(number, bool)}
        kept = np.ones(number, bool)
        for pattern in sorted(plan.inside):
            above = present[self._tree.patterns[pattern].parent]
            flags = np.zeros(number, bool)
            flags[document[self._automaton.located(pattern, labels)]] = True
            present[pattern] = flags
            kept &= flags
            if self._statistics.is_observed:
                counting = self._now()
                self._statistics.saw_share(pattern, int(above.sum()), int((above & flags).sum()))
                self._statistics.counting += self._now() - counting
        self._statistics.saw_pass("narrow", len(documents), self._now() - start)
        rejected += scanned.rejected
        return [scanned.documents[at] for at in np.flatnonzero(kept).tolist()]

    def _lead(
        self, plan: ElementPlan, lead: Lead, documents: Sequence[Document], rejected: list[DocumentError]
    ) -> tuple[Sequence[Document], bool]:
        """The elements whose leads have the patterns that are in; and whether these must still be asked of some.

        The rest of the others is passed over: it is checked, and nothing else.
        """
        start = self._now()
        if self._statistics.is_observed:
            self._leads.saw(plan.inside, share_of_leads(lead, documents[:_PROBED]))
            start, began = self._now(), start
            self._statistics.counting += start - began
        leads = read_leads(lead, documents, self._limits)
        if leads is None:
            return documents, True
        self._statistics.saw_pass("lead", len(leads.places), self._now() - start)
        bindings = self._retrieve(leads.table, leads.roots, sorted(plan.inside), self._below_root, is_observed=True)
        found = leads.places[np.searchsorted(leads.roots, bindings.roots)]
        failed = np.setdiff1d(leads.places, found, assume_unique=True).tolist()
        if not self._trusted:
            start = self._now()
            scanned = scan_paths([documents[at] for at in failed], self._limits, attributes=False, texts=False)
            self._statistics.saw_pass("check", len(failed), self._now() - start)
            rejected += scanned.rejected
        gone = set(failed)
        kept = [document for at, document in enumerate(documents) if at not in gone]
        return kept, len(kept) > found.size

    # -- the pass that makes rows

    def _whole(
        self, plan: ElementPlan, documents: Sequence[Document], *, is_first: bool, is_observed: bool
    ) -> Survivors:
        """The elements that survive all patterns; those that are in and were decided before are not looked at again."""
        start = self._now()
        table = read(documents, self._limits)
        self._statistics.saw_pass("whole", len(documents), self._now() - start, table.nodes)
        inside = [each for each in sorted(plan.inside) if is_first or not is_settled(self._tree, each)]
        bindings = self._retrieve(table, table.ranges[0][:-1], inside, self._automaton, is_observed=is_observed)
        navigator, values = Navigator(table, self._names), Values(table)
        for pattern in plan.order:
            if not (came := bindings.roots.size):
                break
            start = self._now()
            node = self._tree.patterns[pattern]
            pairs = navigator.path(bindings.holders(node.parent), node.path)
            number = pairs[0].size
            bindings.join(pattern, self._select(pattern, pairs, values))
            self._statistics.saw_cost(pattern, came, self._now() - start, number, inside=False)
            self._statistics.saw_share(pattern, came, bindings.roots.size)
        return Survivors(table, table.document[bindings.roots], list(table.rejected))

    def _retrieve(
        self, table: NodeTable, roots: Ints, inside: list[int], automaton: PatternAutomaton, *, is_observed: bool
    ) -> PatternBindings:
        """What the automaton retrieves: each pattern of every element, then their join."""
        number = int(roots.size)  # with those of other names, and leads with nothing in them
        if self._tree.label is not None:
            root_names = table.name[roots].tolist()
            is_named = {name: passes(self._tree.label, table.names[name]) for name in set(root_names)}
            roots = roots[np.array([is_named[name] for name in root_names], bool)]
        bindings = PatternBindings(table, self._tree, roots)
        if not inside:
            return bindings
        start = self._now()
        labels = automaton.labels(table)
        self._statistics.saw_pass("labels", number, self._now() - start)
        values = Values(table)
        retrieved: dict[int, NodePairs] = {}
        has: dict[int | None, int] = {None: number}
        for pattern in inside:
            start = self._now()
            pairs = self._below(pattern, automaton.nodes(pattern, table, labels), table, roots, retrieved)
            found = pairs[0].size
            retrieved[pattern] = pairs = self._select(pattern, pairs, values)
            self._statistics.saw_cost(pattern, number, self._now() - start, found, inside=True)
            if is_observed and self._statistics.is_observed:
                start = self._now()
                has[pattern] = bindings.elements(pairs[0])
                self._statistics.saw_share(pattern, has[self._tree.patterns[pattern].parent], has[pattern])
                self._statistics.counting += self._now() - start
        for pattern, pairs in retrieved.items():
            bindings.join(pattern, pairs)
        return bindings

    def _below(
        self, pattern: int, nodes: Ints, table: NodeTable, roots: Ints, retrieved: dict[int, NodePairs]
    ) -> NodePairs:
        """The nodes of a pattern, each beside those that its parent pattern holds above it."""
        node = self._tree.patterns[pattern]
        holders = roots if node.parent is None else distinct_sorted(retrieved[node.parent][1])
        above = nodes
        for _ in node.path[1:]:
            above = table.parent[above]
        if node.path[0].deep:
            kind = node.path[0].kind
            if len(node.path) == 1:
                places, found = Navigator(table, self._names).inside(holders, nodes, kind)
                return holders[places], found
            order = np.argsort(above, kind="stable")
            return _deep_pairs(Navigator(table, self._names), holders, above[order], nodes[order], kind)
        above = table.parent[above]
        kept = np.isin(above, holders, assume_unique=False, kind="table") if above.size else np.zeros(0, bool)
        above, nodes = above[kept], nodes[kept]
        if (above[1:] < above[:-1]).any():
            order = np.lexsort((nodes, above))
            above, nodes = above[order], nodes[order]
        return above, nodes

    def _select(self, pattern: int, pairs: NodePairs, values: Values) -> NodePairs:
        """The bindings that pass the tests of a pattern, one test after the other."""
        above, nodes = pairs
        node = self._tree.patterns[pattern]
        if node.is_first and above.size:
            is_first = np.append(True, above[1:] != above[:-1])
            above, nodes = above[is_first], nodes[is_first]
        for test in node.tests:
            passed = values.passing(nodes, test)
            above, nodes = above[passed], nodes[passed]
        return above, nodes


def _deep_pairs(navigator: Navigator, holders: Ints, tops: Ints, nodes: Ints, kind: Kind) -> NodePairs:
    """Each node beside the holders above the top of its stretch; several nodes may have one top."""
    distinct = distinct_sorted(tops)
    places, found = navigator.inside(holders, distinct, kind)
    starts, ends = np.searchsorted(tops, found), np.searchsorted(tops, found, side="right")
    counts = ends - starts
    which = np.repeat(np.arange(found.size), counts)
    inside = np.arange(which.size) - np.repeat(np.cumsum(counts) - counts, counts) + starts[which]
    above, at = holders[places[which]], nodes[inside]
    order = np.lexsort((at, above))
    return above[order], at[order]
