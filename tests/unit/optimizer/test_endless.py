"""One document of 50 MB: its elements are answered one by one, and what is held does not grow with it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_MB = 1 << 20
_SIZE = 50 * _MB
_ROW = b"<auction><reserve>%d</reserve><bidder><increase>7</increase><note>%s</note></bidder></auction>"
_CHILD = """
import sys
from weft import Document
from weft.optimizer import ElementMatcher, read_elements

def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))  # in KiB

matcher = ElementMatcher("/auction[reserve > 500][bidder/increase = 7]")
matcher.matches([Document("<auction/>")] * 100)
before = peak()
found = sum(1 for _ in matcher.stream(read_elements(sys.argv[1], "auction")))
print(found, before, peak())
"""


@pytest.mark.slow
def test_the_memory_of_an_endless_document_is_bounded(tmp_path: Path) -> None:
    file, rows = tmp_path / "auctions.xml", 0
    with file.open("wb") as stream:
        stream.write(b"<auctions>")
        while stream.tell() < _SIZE:
            stream.write(b"".join(_ROW % (at % 1000, b"some words " * 20) for at in range(rows, rows + 1000)))
            rows += 1000
        stream.write(b"</auctions>")

    done = subprocess.run([sys.executable, "-c", _CHILD, str(file)], capture_output=True, check=True, timeout=300)

    found, before, peak = map(int, done.stdout.split())
    assert found == sum(at % 1000 > 500 for at in range(rows))
    assert (peak - before) * 1024 < _SIZE / 2
    assert peak * 1024 < 300 * _MB
