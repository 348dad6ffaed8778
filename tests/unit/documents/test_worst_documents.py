"""The table of costs in docs/documents.md holds for the worst documents that we know."""

import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from weft.documents import Limits
from worst_documents import WORST

ROOT = Path(__file__).resolve().parents[3]
LIMITS = Limits()
SMALL = 512 * 1024
#: What does not grow with its size alone is measured at full size; all else at a small one, and taken times so many.
FULL = ("one_long_comment", "entity_declarations", "entities_in_entities", "entities_that_come_to_nothing")
MARGIN = 3  # other machines, and other work on this one
GIGABYTE = 1024**3
# Each document is read in a process of its own, whose highest mark of memory is set back before.
MEASURE = """
import json, os, re, sys, time
from pathlib import Path
import worst_documents
from weft.documents import Document, read

def memory(mark):
    return int(re.search(mark + r":\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024

def measure(name, size):
    data = getattr(worst_documents, name)(size)
    Path("/proc/self/clear_refs").write_text("5")
    before, began = memory("VmRSS"), time.process_time()
    table = read([Document(data)])
    took, used = time.process_time() - began, memory("VmHWM") - before
    nodes = table.nodes + len(table.namespaces) if table.documents else data.count(b"<")
    size = max(len(data), *map(len, table.sources), 0) if table.sources else len(data)
    print(json.dumps([name, took, used, size, nodes, [str(error) for error in table.rejected]]), flush=True)

for given in sys.argv[1:]:
    name, size = given.split("=")
    if os.fork() == 0:
        measure(name, int(size))
        os._exit(0)
    os.wait()
"""


@cache
def measured() -> dict[str, tuple[float, float, list[str]]]:
    """For each of the worst documents seconds and bytes, as they would be for one as large as the limits allow."""
    names = [builder.__name__ for builders in WORST.values() for builder in builders]
    sizes = [f"{name}={LIMITS.max_bytes if name in FULL else SMALL}" for name in names]
    paths = {"PYTHONPATH": f"{ROOT / 'tests'}:{ROOT / 'src'}"}
    run = subprocess.run([sys.executable, "-c", MEASURE, *sizes], capture_output=True, text=True, check=True, env=paths)
    found = {}
    for name, took, used, size, nodes, rejected in map(json.loads, run.stdout.splitlines()):
        factor = 1 if name in FULL else min(LIMITS.max_bytes / size, LIMITS.max_nodes / nodes)
        found[name] = took * factor, used * factor, rejected
    assert list(found) == names
    return found


def told(limit: str) -> tuple[float, float]:
    """Seconds and bytes in the table of the page."""
    page = (ROOT / "docs" / "documents.md").read_text()
    row = re.search(rf"\| `{limit}` \|[^|]*\| ([\d.]+) s \| ([\d.]+) GB \|", page)
    assert row is not None
    return float(row[1]), float(row[2]) * GIGABYTE


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="measures memory as Linux tells it")
@pytest.mark.parametrize("limit", WORST)
def test_no_document_within_the_limits_costs_more_than_the_page_says(limit: str) -> None:
    seconds, memory = told(limit)

    costs = {builder.__name__: measured()[builder.__name__] for builder in WORST[limit]}

    beyond = {name: cost for name, cost in costs.items() if cost[0] > MARGIN * seconds or cost[1] > MARGIN * memory}
    assert beyond == {}


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="measures memory as Linux tells it")
def test_the_worst_documents_keep_the_limits() -> None:
    rejected = {name: errors for name, (_, _, errors) in measured().items() if errors}

    assert list(rejected) == ["broken_at_the_end"]
