"""Run fuzzers for a while, each in a process of its own, and tell in a table what they did; a fault is kept."""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

import kernels
from fuzz.case import ROOT, Case, scratch
from fuzz.kinds import KINDS

_LONGEST_CASE = 120  # seconds, on a machine that is busy; the worker itself ends a case after ten of the processor
_WITH_SANITIZERS = ("documents", "headers", "evaluation")


@dataclass(slots=True)
class Outcome:
    """What came of one kind."""

    kind: str
    cases: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    memory: int = 0
    findings: list[str] = field(default_factory=list)
    notes: str = ""

    def add(self, told: dict[str, Any]) -> None:
        self.cases += told["cases"]
        self.seconds += told["seconds"]
        self.slowest = max(self.slowest, told["slowest"])
        self.memory = max(self.memory, told["memory"])
        self.findings += told["findings"]


def run_kind(kind: str, seconds: float, cases: int, seed: int, checked: bool) -> Outcome:
    """One kind; if its process dies, the case is kept and another goes on."""
    outcome = Outcome(kind)
    environment = dict(os.environ)
    if checked:
        environment, outcome.notes = kernels.checked(), "with bounds checked"
    elif kind in _WITH_SANITIZERS:
        built = kernels.sanitized()
        outcome.notes = "no compiler with sanitizers" if built is None else "with sanitizers"
        environment = built or environment
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")])
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0 and outcome.cases < cases and len(outcome.findings) < 20:
        current = scratch() / "current"
        arguments = [kind, str(left), str(cases - outcome.cases), str(seed), str(current)]
        died = _run(arguments, environment, current, outcome)
        if died is not None:
            told = current.read_bytes()
            path = Case(told[16:], told[:16].decode().strip()).save(kind)
            outcome.findings.append(f"{path}: {died}")
        elif outcome.cases < cases:
            break
        seed += 1
    return outcome


def _run(arguments: list[str], environment: dict[str, str], current: Path, outcome: Outcome) -> str | None:
    """Run a worker; how it died, or None."""
    command = [sys.executable, "-m", "fuzz.worker", *arguments]
    current.unlink(missing_ok=True)
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        while True:
            try:
                told, _ = process.communicate(timeout=1)
                break
            except subprocess.TimeoutExpired:  # each case touches the file
                if current.exists() and time.time() - current.stat().st_mtime > _LONGEST_CASE:
                    process.kill()
                    return f"no end after {_LONGEST_CASE} seconds"
    if process.returncode:
        return f"the process ends with {process.returncode}"
    outcome.add(json.loads(told.splitlines()[-1]))
    return None


def main() -> int:
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="for all kinds together")
    parser.add_argument("--cases", type=int, default=1 << 62, help="of each kind at most")
    parser.add_argument("--seed", type=int, default=None, help="to repeat a run")
    parser.add_argument("--kinds", default=",".join(KINDS), help=f"some of {','.join(KINDS)}")
    parser.add_argument("--checked", action="store_true", help="with a build that checks the bounds of all arrays")
    given = parser.parse_args()
    kinds = given.kinds.split(",")
    if unknown := set(kinds) - set(KINDS):
        parser.error(f"unknown kinds {', '.join(sorted(unknown))}")
    seed = random.SystemRandom().randrange(1 << 32) if given.seed is None else given.seed
    console = Console(width=110)
    console.print(f"seed {seed}")
    outcomes = [run_kind(kind, given.seconds / len(kinds), given.cases, seed, given.checked) for kind in kinds]
    table = Table("kind", "cases", "seconds", "a second", "slowest, ms", "peak, MB", "faults", "")
    for each in outcomes:
        rate = f"{each.cases / each.seconds:,.0f}" if each.seconds else ""
        numbers = f"{each.cases:,}", f"{each.seconds:.0f}", rate, f"{1000 * each.slowest:,.0f}", f"{each.memory:,}"
        table.add_row(each.kind, *numbers, str(len(each.findings)), each.notes)
    console.print(table)
    for each in outcomes:
        for finding in each.findings:
            console.print(f"{each.kind}: {finding}", style="red", markup=False, soft_wrap=True)
    return 1 if any(each.findings for each in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
