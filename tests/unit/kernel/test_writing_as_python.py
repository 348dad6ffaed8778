"""What writes messages runs as it stands, as Python, and writes what it writes compiled."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import kernels

CHILD = """
import pickle, sys
import kernels
kernels.load()
from importlib import import_module
from weft import Broker

queries, documents = pickle.load(sys.stdin.buffer)
files = [import_module(f"weft.kernel.{name}").__file__ for name in ("stretches", "piece_writer")]
broker = Broker()
for query in queries:
    broker.subscribe(query)
messages = broker.publish(documents)
texts = [part.rows.text for part in messages._parts]
joined = [bytes(each.joined(0, len(each))[0]) for each in texts]
sizes = [each.sizes(0, len(each)).tolist() for each in texts]
pickle.dump((files, [message.nodes for message in messages], joined, sizes), sys.stdout.buffer)
"""
QUERIES = [
    "//b",
    "//b/@k",
    "//text()",
    "<m>{ for $b in //b return <i>{ $b, $b/c }</i> }</m>",
    "<m>{ for $b in //b order by $b/@k return <i>{ $b/text() }</i> }</m>",
    "<m>{ for $b in //b return <i>{ $b/@k }{ count($b/c) }</i> }</m>",
]
DOCUMENTS = [
    "<a><b k='2'>x<c/>é</b><b k='1'/></a>",
    "<p:a xmlns:p='u' xmlns='v'><b k='&quot;'><c >&lt;</c></b><p:b xmlns='' k='3'/></p:a>",
    "<b>💡</b>",
]


def run(environment: dict[str, str]) -> Any:
    environment = environment | {"PYTHONPATH": f"{kernels.ROOT / 'src'}:{kernels.ROOT / 'tests'}"}
    given = pickle.dumps((QUERIES, DOCUMENTS))
    ran = subprocess.run([sys.executable, "-c", CHILD], input=given, env=environment, check=True, capture_output=True)
    return pickle.loads(ran.stdout)


def test_messages_are_written_as_python_as_they_are_compiled() -> None:
    files, *as_python = run(kernels.as_python())
    compiled_files, *compiled = run({})

    assert all(file.endswith(".py") for file in files)
    assert not any(file.endswith(".py") for file in compiled_files)
    assert as_python == compiled
    assert len(as_python[0]) > 10
