"""States of the NFA in, all that lead to them out."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from weft.columns.integers import Flags, Ints


def leading(wanted: Flags, above: Ints, loop: Ints, is_deep: Flags) -> Generator[None, None, Flags]:
    """Marks on some states and on all that lead to them, in steps; the last mark, which is on no state, is not set.

    A state is led to from the one above it, if its step is deep from that one's loop, too.
    """
    leads = np.zeros(above.size + 1, bool)
    leads[: wanted.size] = wanted
    some = np.flatnonzero(leads).astype(np.int32)
    while some.size:
        yield
        some = np.concatenate([above[some], loop[above[some[is_deep[some]]]]])
        is_new = np.zeros(leads.size, bool)
        is_new[some[some >= 0]] = True
        is_new &= ~leads
        leads |= is_new
        some = np.flatnonzero(is_new).astype(np.int32)
    return leads
