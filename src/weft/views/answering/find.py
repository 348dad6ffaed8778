"""A query and views in, a rewriting out: which views have the query's nodes, and what is still to be applied to them.

A row knows the names on its way from the root, and all that lies below it. So of a *prefix* of the query the names are
looked up in the row's path, tests on its last node in the row's fragment, and everything else must follow from the row
being in the view: tests on nodes further up, and positions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import islice
from typing import TypeVar

from weft.plans.containment import apart, contains, contains_plainly
from weft.plans.plan import Combine, Label, Named, Pattern, Selection
from weft.plans.walk import paths_in, walk
from weft.views.answering.index import ViewIndex, indexed
from weft.views.answering.prefixes import Prefix, prefixes, result_patterns
from weft.views.answering.rewriting import (
    CompensatedRows,
    Compensation,
    MergedRows,
    Rewriting,
    RowsPlan,
    StoredView,
    ViewRows,
)

_MOST_TOGETHER = 16  # views that are looked at as parts of a union, an intersection or a difference
Entry = TypeVar("Entry")
ContainsView = Callable[[Selection, Selection], bool]


def find_rewriting(query: Selection, views: Sequence[StoredView]) -> Rewriting | None:
    """How to answer a query from views exactly; None if nobody knows how. Give a `ViewIndex` to ask more than once."""
    plan = _plan(query, indexed(views))
    return None if plan is None else Rewriting(plan)


def _plan(query: Selection, views: ViewIndex) -> RowsPlan | None:
    same = views.by_selection.get(query)
    if same is not None:
        return ViewRows(same.name)
    if isinstance(query, Pattern):
        return _PatternFinder(query, views).find()
    parts = [plan for part in query.parts if (plan := _plan(part, views)) is not None]
    if len(parts) == len(query.parts):
        return MergedRows(query.operator, tuple(parts))
    return _equal(query, views)


def _equal(query: Selection, views: ViewIndex) -> RowsPlan | None:
    """A view that has the same nodes as a combination."""
    mentioned = _mentioned(query)
    for pattern in result_patterns(query)[:1]:
        prefix = next(prefixes(pattern), None)
        for view in views.may_contain(prefix.path, mentioned) if prefix else ():
            if contains(view.selection, query) and contains(query, view.selection):
                return ViewRows(view.name)
    return None


def _mentioned(query: Selection) -> frozenset[Label]:
    steps = {step.label for path in paths_in(query) for step in path}
    return frozenset(steps | {part.label for part in walk(query) if isinstance(part, Named)})


class _PatternFinder:
    """Looks for the rewriting of one pattern."""

    def __init__(self, query: Pattern, views: ViewIndex) -> None:
        self._query, self._views = query, views
        self._containing: dict[int, list[StoredView]] = {}  # by the prefix, views that have all its nodes and more

    def find(self) -> RowsPlan | None:
        """By one view, seen at once or by models, or else by several."""
        for within in (contains_plainly, contains):
            self._containing.clear()
            for at, prefix in enumerate(self._prefixes):
                if (plan := self._by_one(at, prefix, within)) is not None:
                    return plan
        for at, prefix in enumerate(self._prefixes):
            if (plan := self._by_intersection(at, prefix) or self._by_union(prefix)) is not None:
                return plan
        return None

    @cached_property
    def _prefixes(self) -> list[Prefix]:
        return list(prefixes(self._query))

    def _by_one(self, at: int, prefix: Prefix, within: ContainsView) -> RowsPlan | None:
        best: tuple[tuple[bool, bool], RowsPlan] | None = None
        for view in self._views.may_contain(prefix.path, self._mentioned):
            if not within(view.selection, prefix.bound):
                continue
            compensation = _exact(prefix, view.selection, within)
            if compensation is None:
                self._containing.setdefault(at, []).append(view)
                continue
            effort = compensation.test is not None, compensation.path is not None
            if best is None or effort < best[0]:
                best = effort, _compensated(ViewRows(view.name), compensation)
            if not effort[0]:
                break
        return best[1] if best else None

    @cached_property
    def _mentioned(self) -> frozenset[Label]:
        return _mentioned(self._query)

    def _by_intersection(self, at: int, prefix: Prefix) -> RowsPlan | None:
        """Nodes that are in some views, each with more, and not in others: what is left has no more."""
        containing = self._containing.get(at, [])[:_MOST_TOGETHER]
        if not containing:
            return None
        overlapping = islice(self._views.may_overlap(prefix.path), _MOST_TOGETHER)
        gone = [view for view in overlapping if view not in containing and apart(view.selection, prefix.bound)]
        if _exact(prefix, _selection(containing, gone)) is None:
            return None
        gone = _fewest(gone, lambda left: _exact(prefix, _selection(containing, left)) is not None)
        containing = _fewest(containing, lambda left: _exact(prefix, _selection(left, gone)) is not None, least=1)
        compensation = _exact(prefix, _selection(containing, gone))
        assert compensation is not None, "it was exact with these"
        rows: tuple[RowsPlan, ...] = tuple(ViewRows(view.name) for view in containing)
        within = MergedRows("intersect", rows) if len(rows) > 1 else rows[0]
        without = MergedRows("except", (within, *(ViewRows(view.name) for view in gone))) if gone else within
        return _compensated(without, compensation)

    def _by_union(self, prefix: Prefix) -> RowsPlan | None:
        """Views that together have all nodes, each of them with something that tells which of its rows count."""
        found: list[tuple[StoredView, Compensation]] = []
        for view in islice(self._views.may_overlap(prefix.path), _MOST_TOGETHER):
            compensation = _exact(prefix, view.selection)
            if compensation is not None:
                found.append((view, compensation))
        if len(found) < 2 or not _have_all(prefix, found):
            return None
        fewest = _fewest(found, lambda left: _have_all(prefix, left), least=1)
        parts = tuple(_compensated(ViewRows(view.name), compensation) for view, compensation in fewest)
        return MergedRows("union", parts)


def _exact(prefix: Prefix, rows: Selection, within: ContainsView = contains) -> Compensation | None:
    """What tells which rows are nodes of the prefix; None if nothing does."""
    if within(prefix.nodes, rows):
        return prefix.compensation(by_path=False, by_test=False)
    if within(prefix.nodes, Combine("intersect", (rows, prefix.passing_path))):
        return prefix.compensation(by_path=True, by_test=False)
    if within(prefix.nodes, Combine("intersect", (rows, prefix.passing))):
        return prefix.compensation(by_path=not within(prefix.passing_path, rows), by_test=True)
    return None


def _have_all(prefix: Prefix, found: Sequence[tuple[StoredView, Compensation]]) -> bool:
    return contains(Combine("union", tuple(view.selection for view, _ in found)), prefix.bound)


def _selection(containing: Sequence[StoredView], gone: Sequence[StoredView]) -> Selection:
    selections = tuple(view.selection for view in containing)
    within = Combine("intersect", selections) if len(selections) > 1 else selections[0]
    return Combine("except", (within, *(view.selection for view in gone))) if gone else within


def _fewest(entries: list[Entry], suffices: Callable[[list[Entry]], bool], least: int = 0) -> list[Entry]:
    """As few as suffice, one after the other left out."""
    for entry in list(entries):
        fewer = [each for each in entries if each is not entry]
        if len(fewer) >= least and suffices(fewer):
            entries = fewer
    return entries


def _compensated(rows: RowsPlan, compensation: Compensation) -> RowsPlan:
    return rows if compensation.is_identity else CompensatedRows(rows, compensation)
