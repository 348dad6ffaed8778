"""Processes of their own for tests that kill them: forked from one that has loaded all and does nothing else.

A test's own process has threads of Arrow and of pytest-xdist. What one of them holds in the moment of a fork is held in
the child for ever: the child would wait without end, and the test for the child.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess

from weft.views.store.locks import StoreBusyError

FRESH = multiprocessing.get_context("forkserver")
FRESH.set_forkserver_preload(
    ["weft.views.server", "weft.kernel", "pyarrow.dataset", "pandas", "scipy.optimize", "duckdb", "pytest"]
)


def start(act: Callable[..., object], *arguments: object) -> ForkServerProcess:
    """A process that begins to do this now; it can be pickled, and so can its arguments."""
    here, there = FRESH.Pipe()
    process = FRESH.Process(target=_act, args=(there, act, *arguments))
    process.start()
    there.close()
    here.recv()
    return process


def end_of(process: ForkServerProcess) -> int | None:
    """Its exit code: 3 if the store was busy, 4 if anything else went wrong, -9 if it was killed."""
    process.join()
    return process.exitcode


def _act(starter: Connection, act: Callable[..., object], *arguments: object) -> None:
    starter.send(None)
    try:
        act(*arguments)
    except StoreBusyError:
        os._exit(3)
    except BaseException:
        os._exit(4)
