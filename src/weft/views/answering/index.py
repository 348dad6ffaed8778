"""Views in, for each place of a query the few out that could have its nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import overload

from weft.documents.kind import Kind
from weft.plans.containment.demands import demands_of
from weft.plans.containment.label_tests import is_name, labels_apart
from weft.plans.containment.steps import TooLargeError, from_document, links_of
from weft.plans.plan import Label, Path, Pattern, Selection, Step
from weft.views.answering.prefixes import result_patterns
from weft.views.answering.rewriting import StoredView

_ANY = "*"
#: What the first step of a pattern is for, the kind of the last, and what that is for; `*` where it is not one name.
Ends = tuple[str, Kind, str]


@dataclass(frozen=True, slots=True)
class IndexedView:
    """A view, the names that its documents surely have, and the paths to its nodes."""

    view: StoredView
    needs: frozenset[Label]
    paths: tuple[Path, ...]


class ViewIndex(Sequence[StoredView]):
    """Views by the names at the ends of their paths."""

    def __init__(self, views: Sequence[StoredView]) -> None:
        self._views = tuple(views)
        self.by_selection: dict[Selection, StoredView] = {}
        self._by_ends: dict[Ends, list[IndexedView]] = {}
        for view in self._views:
            self.by_selection.setdefault(view.selection, view)
            paths = tuple(map(_path, result_patterns(view.selection)))
            entry = IndexedView(view, _needs(view.selection), paths)
            for ends in dict.fromkeys(map(_ends, paths)):
                self._by_ends.setdefault(ends, []).append(entry)

    @overload
    def __getitem__(self, at: int) -> StoredView: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[StoredView]: ...
    def __getitem__(self, at: int | slice) -> StoredView | Sequence[StoredView]:
        """A view by its place."""
        return self._views[at]

    def __len__(self) -> int:
        return len(self._views)

    def may_contain(self, path: Path, mentioned: frozenset[Label]) -> Iterator[StoredView]:
        """Views that may have all nodes on such a path of a query that mentions these names."""
        path = _from_document(path)
        for root in _forms(_first_name(path[0])):
            for name in _forms(_name(path[-1])):
                for entry in self._by_ends.get((root, path[-1].kind, name), ()):
                    if entry.needs <= mentioned and any(_may_be_within(path, other) for other in entry.paths):
                        yield entry.view

    def may_overlap(self, path: Path) -> Iterator[StoredView]:
        """Views that may have some nodes on such a path."""
        path = _from_document(path)
        kind, name, root = path[-1].kind, _name(path[-1]), _first_name(path[0])
        seen: set[str] = set()
        for (their_root, their_kind, their_name), entries in self._by_ends.items():
            if their_kind is kind and _may_be_one(their_name, name) and _may_be_one(their_root, root):
                for entry in entries:
                    if entry.view.name not in seen and any(_may_meet(path, other) for other in entry.paths):
                        seen.add(entry.view.name)
                        yield entry.view


def indexed(views: Sequence[StoredView]) -> ViewIndex:
    """Views with an index; it is worth keeping."""
    return views if isinstance(views, ViewIndex) else ViewIndex(views)


def _path(pattern: Pattern) -> Path:
    return _from_document(tuple(step for link in links_of(pattern) for step in link.path))


def _from_document(path: Path) -> Path:
    """`//@x` as `//*/@x`, so that lengths can be compared."""
    return tuple(step for step, _ in from_document([(step, []) for step in path]))


def _ends(path: Path) -> Ends:
    return _first_name(path[0]), path[-1].kind, _name(path[-1])


def _may_be_within(path: Path, other: Path) -> bool:
    """Whether it cannot be seen from the lengths that some node on the first path is not on the other."""
    if not any(step.deep for step in other):
        return len(path) == len(other) and _may_meet(path, other)
    return len(path) >= len(other) and _may_meet(path, other)


def _may_meet(one: Path, other: Path) -> bool:
    """Whether it cannot be seen from the steps up to a `//`, and from those behind the last, that nodes differ."""
    are_deep = [any(step.deep for step in path) for path in (one, other)]
    if (len(one) > len(other) and not are_deep[1]) or (len(other) > len(one) and not are_deep[0]):
        return False
    return _are_alike(zip(one, other, strict=False)) and _are_alike(zip(one[::-1], other[::-1], strict=False), True)


def _are_alike(pairs: Iterable[tuple[Step, Step]], backward: bool = False) -> bool:
    for mine, theirs in pairs:
        if not backward and (mine.deep or theirs.deep):
            return True
        if mine.kind is not theirs.kind or labels_apart(mine.label, theirs.label):
            return False
        if mine.deep or theirs.deep:
            return True
    return True


def _name(step: Step) -> str:
    return step.label if isinstance(step.label, str) and is_name(step.label) else _ANY


def _first_name(step: Step) -> str:
    return _ANY if step.deep or step.kind is not Kind.ELEMENT else _name(step)


def _may_be_one(one: str, other: str) -> bool:
    return one == other or _ANY in (one, other)


def _forms(name: str) -> tuple[str, ...]:
    return (name, _ANY) if name != _ANY else (_ANY,)


def _needs(selection: Selection) -> frozenset[Label]:
    if not isinstance(selection, Pattern):
        return frozenset()
    try:
        return frozenset(demands_of(selection).labels)
    except TooLargeError:
        return frozenset()
