"""The standard output kept for what is printed on purpose: what libraries in C print unasked goes to stderr."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_OUT, _ERR = 1, 2


@contextmanager
def kept_clean() -> Iterator[None]:
    """For as long as this is open, lines of HiGHS and the like are diverted, also those that C still has to flush."""
    sys.stdout.flush()
    before = os.dup(_OUT)
    os.dup2(_ERR, _OUT)
    try:
        yield
    finally:
        sys.stdout.flush()
        ctypes.CDLL(None).fflush(None)
        os.dup2(before, _OUT)
        os.close(before)
