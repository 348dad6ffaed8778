"""The modules of the scan run as they stand, as Python, and give the columns that they give compiled."""

from __future__ import annotations

import pickle
import subprocess
import sys
from random import Random
from typing import Any

import kernels
from fuzz.documents import Documents, observed
from fuzz.mutate import mutate

MODULES = (
    *("characters", "written_names", "name_paths", "scan_columns", "scan_state"),
    *("tag_scanner", "text_scanner", "plain_scanner", "scanner"),
)
CHILD = """
import pickle, sys
import kernels
kernels.load()
from fuzz.documents import observed
import weft.kernel as kernel
from importlib import import_module

cases, modules = pickle.load(sys.stdin.buffer)
files = [import_module(f"weft.kernel.{name}").__file__ for name in modules]
kinds = [kernel.written_names.WrittenNames() for _ in range(2)]
seeds = [(each.seed, each.factor) for each in kinds]
pickle.dump((files, seeds, [observed(*case, compiled=True) for case in cases]), sys.stdout.buffer)
"""
DOCUMENTS = [
    b'<r xmlns="u" xmlns:p="v"><p:a p:b="1" b="&lt;&#233;"/>t<![CDATA[<&]]]]>u<!-- c -->v\r\nw<?i x?></r>',
    '<ä é="1\t2"><a-long-name-of-many-bytes>ü &amp; ]] &#x1F600;</a-long-name-of-many-bytes></ä>'.encode(),
    b"<r>" + b"".join(b"<n%d/>" % number for number in range(1_100)) + b"</r>",
    b"<r " + b" ".join(b'a%d="%d"' % (number, number) for number in range(100)) + b"/>",
    b"<a>" * 50 + b"text " * 2_000 + b"</a>" * 50,
    b"<?xml version='1.0' encoding='utf-8'?><a/>",
    b"<!DOCTYPE a [<!ENTITY e 'x'>]><a>&e;</a>",
]


def run_as_python(cases: list[tuple[bytes, ...]]) -> Any:
    """What a process that has nothing compiled of the scan sees of batches."""
    environment = kernels.as_python()
    environment["PYTHONPATH"] = f"{kernels.ROOT / 'src'}:{kernels.ROOT / 'tests'}"
    given = pickle.dumps((cases, MODULES))
    ran = subprocess.run([sys.executable, "-c", CHILD], input=given, env=environment, check=True, capture_output=True)
    return pickle.loads(ran.stdout)


def test_the_scan_as_python_gives_the_same_columns() -> None:
    fuzzer, chance = Documents(), Random(5)
    seeds = fuzzer.seeds()
    mutated = [mutate(chance.choice(seeds), seeds, fuzzer.words, chance).data for _ in range(200)]
    cases = [(document,) for document in DOCUMENTS] + [tuple(mutated[at : at + 10]) for at in range(0, 200, 10)]

    files, seeds_of_tables, seen = run_as_python(cases)

    assert all(file.endswith(".py") for file in files)
    assert len(set(seeds_of_tables)) == 2  # no document can be made whose names collide
    for case, columns in zip(cases, seen, strict=True):
        assert columns == observed(*case, compiled=True)
