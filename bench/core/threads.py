"""A call that threads may make at once in, how much faster two threads get it done than one out.

The only time in this experiment that is taken from the clock: processor time would not tell that threads wait.
"""

from __future__ import annotations

import gc
import threading
from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from time import perf_counter

from bench.batches import BATCH

Batches = list[list[bytes]]


def measure_threads(
    work: Callable[[list[bytes]], object], documents: Iterator[bytes], batches: int, rounds: int
) -> float:
    """One thread's time over that of two, both on new documents in turn; of each its best round.

    What else runs on the machine can only make a round longer, so the best round says most.
    """
    best = {1: float("inf"), 2: float("inf")}
    for turn in range(rounds):
        for threads in (1, 2) if turn % 2 else (2, 1):
            some = [list(islice(documents, BATCH)) for _ in range(batches)]
            best[threads] = min(best[threads], clock_seconds(work, some, threads))
    return best[1] / best[2]


def clock_seconds(work: Callable[[list[bytes]], object], batches: Batches, threads: int) -> float:
    """The seconds until so many threads, which take batches as they come, are done with all; raises what they raise."""
    left, failures = deque(batches), deque[Exception]()
    start = threading.Barrier(threads + 1)

    def take() -> None:
        start.wait()
        try:
            while left:
                work(left.popleft())
        except IndexError:  # another thread took the last one
            pass
        except Exception as error:
            failures.append(error)

    running = [threading.Thread(target=take, daemon=True) for _ in range(threads)]
    for thread in running:
        thread.start()
    gc.collect()
    start.wait()
    begun = perf_counter()
    for thread in running:
        thread.join()
    seconds = perf_counter() - begun
    for error in failures:
        raise error
    return seconds
