"""Entries in, a sparse matrix of SciPy out, which is loaded when the first is made: nothing else takes as long."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from weft.errors import ConfigurationError

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def matrix_of(rows: Sequence[tuple[int, ...]], columns: int) -> csr_array:
    """Ones in each row's columns."""
    starts = np.concatenate([[0], np.cumsum([len(each) for each in rows], dtype=np.int64)])
    entries = np.array([each for row in rows for each in row], np.int64)
    return _matrix((np.ones(entries.size), entries, starts), (len(rows), columns))


def matrix_with(
    values: Sequence[float], rows: Sequence[int], columns: Sequence[int], shape: tuple[int, int]
) -> csr_array:
    """Each value in its row and column; values at the same place are added."""
    return _matrix((values, (rows, columns)), shape)


def _matrix(entries: tuple[Any, ...], shape: tuple[int, int]) -> csr_array:
    try:
        from scipy.sparse import csr_array  # noqa: PLC0415
    except ImportError:
        raise ConfigurationError("the choice of views needs SciPy: pip install 'weft[views]'") from None
    return csr_array(entries, shape)
