"""Inputs that once found a fault, and some that are good: they must pass for ever."""

from functools import cache
from pathlib import Path
from random import Random

import pytest

from fuzz.case import CORPUS, Case, Fuzzer
from fuzz.kinds import KINDS, fuzzer
from fuzz.mutate import mutate

KEPT = sorted(path for path in CORPUS.glob("*/*") if path.name != "README.md")
fuzzers = cache(fuzzer)


@pytest.mark.parametrize("path", KEPT, ids=lambda path: str(path.relative_to(CORPUS)))
def test_a_case_of_the_corpus_passes(path: Path) -> None:
    checked: Fuzzer = fuzzers(path.parent.name)

    checked.check(Case(path.read_bytes(), "".join(path.suffixes)))


@pytest.mark.parametrize("kind", KINDS)
def test_the_seeds_of_a_fuzzer_pass(kind: str) -> None:
    checked = fuzzers(kind)

    for case in checked.seeds()[:40]:
        checked.check(case)


def test_the_same_seed_gives_the_same_cases() -> None:
    seeds = [Case(b"<a><b/></a>", ".xml")]
    first, second = ([mutate(seeds[0], seeds, (b"x",), chance) for _ in range(50)] for chance in (Random(3), Random(3)))

    assert first == second
    assert len(set(first)) > 25
