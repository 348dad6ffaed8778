"""The evaluation runs as it stands, as Python, and gives what it gives compiled; fuzzing has it in other builds too."""

from __future__ import annotations

import pickle
import subprocess
import sys
from random import Random
from typing import Any

import pytest

import kernels
from fuzz.case import Case
from fuzz.evaluation import Evaluation, brought
from fuzz.mutate import mutate

EVALUATION = ("evaluator", "sifting", "probing", "text_probing", "holding", "counting", "values", "ways", "memo")
CHILD = """
import pickle, sys
import kernels
kernels.load()
from importlib import import_module
from fuzz.case import Case
from fuzz.evaluation import brought

modules, cases = pickle.load(sys.stdin.buffer)
files = [import_module(f"weft.kernel.{name}").__file__ for name in modules]
pickle.dump((files, [brought(Case(*case)) for case in cases]), sys.stdout.buffer)
"""


def run_as_python(cases: list[Case]) -> Any:
    """What a process that has nothing compiled of the evaluation comes to."""
    environment = {**kernels.as_python(), "PYTHONPATH": f"{kernels.ROOT / 'src'}:{kernels.ROOT / 'tests'}"}
    given = pickle.dumps((EVALUATION, [tuple(case) for case in cases]))
    ran = subprocess.run([sys.executable, "-c", CHILD], input=given, env=environment, check=True, capture_output=True)
    return pickle.loads(ran.stdout)


def cases_of(number: int) -> list[Case]:
    """Good cases and as many that are changed at random."""
    evaluation, chance = Evaluation(), Random(number)
    seeds = evaluation.seeds()[:number]
    return seeds + [mutate(chance.choice(seeds), seeds, evaluation.words, chance) for _ in range(number)]


@pytest.mark.slow
def test_the_evaluation_as_python_gives_the_same() -> None:
    cases = cases_of(15)

    files, found = run_as_python(cases)

    assert all(file.endswith(".py") for file in files)
    assert found == [brought(case) for case in cases]
