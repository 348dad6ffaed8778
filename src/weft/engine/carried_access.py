"""A shared plan with its access in, the same access for another plan of the same queries out: by groups, not by nodes.

What was learned of the one is so not lost when the other takes its place. Conjunctions of the same groups mostly have
the same driver and order, and those of the new plan have what most of the old ones had.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator

import numpy as np
from numpy.typing import NDArray

from weft.columns.integers import Flags, Ints, Longs
from weft.engine.access import Access, fixed_access, group_parts
from weft.engine.shared.nodes import NOTHING, NodeKind
from weft.engine.shared.plan import SharedPlan

_TOGETHER = 1 << 11  # conjunctions that are gone over in a step: a few milliseconds where no two are alike
_MIX = np.uint64(0x9E3779B97F4A7C15)
Arrangement = tuple[int, ...]  # the kinds of a conjunction's parts, the driver's first


def carried_access(old: SharedPlan, access: Access, new: SharedPlan, can: Flags) -> Generator[None, None, Access]:
    """The access to a new plan, in steps; `can` are its nodes that can be in."""
    kinds: dict[object, int] = {}  # of groups, the same in both plans
    before, was_in = _part_kinds(old, kinds), access.of(old)
    yield
    after, carried = _part_kinds(new, kinds), fixed_access(new)
    yield
    inside = np.zeros(len(kinds) + 1, bool)
    inside[before[np.flatnonzero(was_in.is_in)]] = True
    inside[0] = False
    carried.is_in[:] = inside[after] & can
    common: dict[int, Counter[Arrangement]] = {}
    for _, parts, negated in _conjunctions(old, was_in):
        found = before[parts].astype(np.int64) << 1 | negated
        _, first, number = np.unique(_hashed(found), return_index=True, return_counts=True)
        shapes = _hashed(np.sort(found[first], axis=1))
        for shape, row, count in zip(shapes.tolist(), found[first].tolist(), number.tolist(), strict=True):
            common.setdefault(shape, Counter())[tuple(row)] += count
        yield
    usual = {shape: np.array(rows.most_common(1)[0][0], np.int64) for shape, rows in common.items()}
    for rows, parts, negated in _conjunctions(new, carried):
        found = after[parts].astype(np.int64) << 1 | negated
        shapes = _hashed(np.sort(found, axis=1))
        wanted = np.array([usual.get(shape, found[at]) for at, shape in enumerate(shapes.tolist())])
        _arrange(carried, new, rows, parts, negated, found, wanted)
        yield
    return carried


def _part_kinds(shared: SharedPlan, kinds: dict[object, int]) -> Ints:
    """By node what group it is of, as a number that it has in every plan; 0 for what is no part."""
    groups, nodes, path = group_parts(shared), shared.nodes, shared.states.path
    numbers = np.zeros(len(groups), np.int32)
    for group, node in enumerate(groups.example.tolist()[1:], start=1):
        edge, kind = nodes.edge[node], NodeKind(nodes.kind[node])
        test = shared.lifts.child[nodes.row[node]] if kind is NodeKind.LIFT else node
        form: tuple[int, ...] = ()
        if nodes.kind[test] == NodeKind.TEST:
            form = shared.tests.operator[nodes.row[test]], shared.tests.reading[nodes.row[test]]
        below = None if edge == NOTHING else shared.path_of(edge)
        numbers[group] = kinds.setdefault((kind, path(nodes.state[node]), below, form), len(kinds) + 1)
    return np.asarray(numbers[groups.of_node], np.int32)


def _conjunctions(shared: SharedPlan, access: Access) -> Iterator[tuple[Longs, Ints, NDArray[np.bool_]]]:
    """Those that have a driver and as many parts: their rows, and their parts with whether these are negated."""
    start = np.array(shared.conjunctions.start, np.int64)
    sizes = np.diff(start)
    has = (access.driver != NOTHING) & (sizes > 0)
    for size in np.unique(sizes[has]).tolist():
        every = np.flatnonzero(has & (sizes == size))
        for begin in range(0, every.size, _TOGETHER):
            rows = every[begin : begin + _TOGETHER]
            places = start[rows][:, None] + np.arange(size)
            parts = np.concatenate([access.driver[rows][:, None], access.check[places]], axis=1)
            yield rows, parts, np.pad(access.is_negated[places] != 0, ((0, 0), (1, 0)))


def _hashed(rows: Longs) -> NDArray[np.uint64]:
    """A number for each row; that two have one by chance harms nothing, as what follows from it is looked at again."""
    code = np.full(len(rows), rows.shape[1], np.uint64)
    for column in rows.T:
        code = (code ^ column.astype(np.uint64)) * _MIX
        code ^= code >> np.uint64(29)
    return code


# Long: a conjunction has many columns.
def _arrange(
    access: Access, shared: SharedPlan, rows: Longs, parts: Ints, negated: Flags, found: Longs, wanted: Longs
) -> None:
    """Write the parts of conjunctions so that their kinds are those wanted; where these are others, nothing changes."""
    rank = np.argsort(np.argsort(wanted, axis=1, kind="stable"), axis=1, kind="stable")
    at, line = np.argsort(found, axis=1, kind="stable"), np.arange(rows.size)[:, None]
    order = at[line, rank]
    same = (found[line, order] == wanted).all(axis=1) & ~negated[line, order][:, 0]
    rows, parts, negated = rows[same], parts[line, order][same], negated[line, order][same]
    places = np.array(shared.conjunctions.start, np.int64)[rows][:, None] + np.arange(parts.shape[1] - 1)
    access.driver[rows] = parts[:, 0]
    access.check[places], access.is_negated[places] = parts[:, 1:], negated[:, 1:]
