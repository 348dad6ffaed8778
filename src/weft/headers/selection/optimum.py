"""The exact optimum of restricted view selection, by integer programming (HiGHS in SciPy).

NP-complete (Theorem 3.2), and yet solved in seconds for some tens of expressions: a yardstick for what is quick.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weft.errors import ConfigurationError
from weft.headers.selection.instance import Instance, hits, rows_of

try:
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import coo_array, vstack
except ImportError:  # told when it is needed
    milp = None

_TIME_LIMIT = 1  # HiGHS' status


@dataclass(frozen=True, slots=True)
class Optimum:
    """The best views that were found, their hits, and the most hits that any could have: the same if it is proven."""

    chosen: tuple[int, ...]
    hits: float
    bound: float
    is_proven: bool


def select_optimum(instance: Instance, size: int, seconds: float | None = None) -> Optimum:
    """At most so many views with the most hits; after so many seconds the best that was found by then."""
    if milp is None:
        raise ConfigurationError("the exact optimum needs SciPy: pip install 'weft[optimum]'")
    groups = {each: weight for each, weight in instance.aggregated().items() if 0 < len(each) <= size and weight}
    sure = sum(weight for each, weight in instance.aggregated().items() if not each)
    if not groups:
        return Optimum((), hits(instance, ()), sure, is_proven=True)
    total, weights = len(instance.expressions), np.array(list(groups.values()))
    starts, needed = rows_of(groups)
    options = {"mip_rel_gap": 0.0, **({} if seconds is None else {"time_limit": seconds})}
    solved = milp(
        np.concatenate([np.zeros(total), -weights]),
        integrality=np.concatenate([np.ones(total), np.zeros(len(groups))]),  # groups follow: all or nothing
        bounds=Bounds(0, 1),
        constraints=_constraints(total, np.diff(starts), needed, size),
        options=options,
    )
    if solved.x is None:
        if solved.status != _TIME_LIMIT:
            raise ConfigurationError(f"the exact optimum was not found: {solved.message}")
        return Optimum((), hits(instance, ()), sum(groups.values()) + sure, is_proven=False)
    chosen = tuple(np.flatnonzero(solved.x[:total] > 0.5).tolist())
    found = hits(instance, chosen)
    is_proven = solved.status == 0
    return Optimum(chosen, found, found if is_proven else sure - solved.mip_dual_bound, is_proven)


def _constraints(total: int, lengths: np.ndarray, needed: np.ndarray, size: int) -> LinearConstraint:
    """A group has a hit only if each of its expressions is a view, and there are at most so many views."""
    entries, groups = np.arange(needed.size), np.repeat(np.arange(lengths.size), lengths)
    ones = np.ones(needed.size)
    rows, columns = np.concatenate([entries, entries]), np.concatenate([total + groups, needed])
    follow = coo_array((np.concatenate([ones, -ones]), (rows, columns)), shape=(needed.size, total + lengths.size))
    views = coo_array(np.concatenate([np.ones(total), np.zeros(lengths.size)])[None, :])
    upper = np.append(np.zeros(needed.size), size)
    return LinearConstraint(vstack([follow, views], format="csr"), -np.inf, upper)
