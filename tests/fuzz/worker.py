"""A process that runs one fuzzer, and tells what it found; whoever started it sees if it dies or hangs."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import sys
import time
import traceback
from pathlib import Path
from types import FrameType

import kernels

OTHER_BUILD = kernels.load()  # before anything of Weft

from fuzz.case import Case, Fuzzer, kept  # noqa: E402
from fuzz.kinds import fuzzer  # noqa: E402
from fuzz.mutate import mutate  # noqa: E402

SECONDS_A_CASE = 10  # of the processor: other work must not make a case look slow
_MOST_FINDINGS = 20
_FRESH = 0.5  # part of the cases that begin with a new input, and of these, that are tried as they are


class HangError(Exception):
    """A case that takes too long."""


def peak_memory() -> int:
    """The most that this process has taken, in MB."""
    found = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())
    return int(found[1]) // 1024 if found else 0


class Worker:
    """Tries cases until the time or their number is up."""

    def __init__(self, kind: str, seed: int, current: Path) -> None:
        self._kind, self._chance, self._current = kind, random.Random(f"{kind}/{seed}"), current.open("wb", buffering=0)
        self._fuzzer: Fuzzer = fuzzer(kind)
        self._places: set[str] = set()  # where the faults that are known lie
        self._warm = peak_memory()
        self.cases, self.slowest, self.findings = 0, 0.0, list[str]()

    def run(self, seconds: float, most: int) -> None:
        seeds = [*self._fuzzer.seeds(), *kept(self._kind)]
        for case in seeds:
            self._try(case)
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.cases < most and len(self.findings) < _MOST_FINDINGS:
            is_fresh = self._chance.random() < _FRESH
            seed = self._fuzzer.fresh(self._chance) if is_fresh else self._chance.choice(seeds)
            is_good = is_fresh and self._chance.random() < _FRESH
            self._try(seed if is_good else mutate(seed, seeds, self._fuzzer.words, self._chance))

    def _try(self, case: Case) -> None:
        self._current.seek(0)
        self._current.truncate()
        self._current.write(case.suffix.encode().ljust(16) + case.data)
        start = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, SECONDS_A_CASE)
        try:
            self._fuzzer.check(case)
        except Exception as error:
            self._found(case, error)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        self.slowest = max(self.slowest, time.process_time() - start)
        self.cases += 1
        if not OTHER_BUILD and peak_memory() > self._fuzzer.most_memory:
            self._found(case, MemoryError(f"{peak_memory()} MB"))
            self._fuzzer.most_memory = 2 * peak_memory()

    def _found(self, case: Case, error: Exception) -> None:
        frames = traceback.extract_tb(error.__traceback__)
        place = f"{type(error).__name__} {[(frame.name, frame.lineno) for frame in frames[-1:]]}"
        if place not in self._places:
            self._places.add(place)
            self.findings.append(f"{case.save(self._kind)}: {type(error).__name__}: {error}"[:1_500])
            print(self.findings[-1], file=sys.stderr, flush=True)


def _stop(unraisable: sys.UnraisableHookArgs) -> None:
    """An error in code that cannot raise it, such as a place beyond an array: nothing is right any more."""
    print(f"{type(unraisable.exc_value).__name__}: {unraisable.exc_value} in {unraisable.object}", file=sys.stderr)
    os.abort()


def _hang(_: int, __: FrameType | None) -> None:
    raise HangError(f"more than {SECONDS_A_CASE} seconds")


def main(kind: str, seconds: str, most: str, seed: str, current: str) -> None:
    """Run, and print what came of it as JSON."""
    signal.signal(signal.SIGPROF, _hang)
    sys.unraisablehook = _stop
    worker = Worker(kind, int(seed), Path(current))
    start = time.monotonic()
    worker.run(float(seconds), int(most))
    print(
        json.dumps(
            {
                "cases": worker.cases,
                "seconds": time.monotonic() - start,
                "slowest": worker.slowest,
                "memory": peak_memory(),
                "findings": worker.findings,
                "other_build": OTHER_BUILD,
            }
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
