"""A file of auctions without an end, as far as memory goes: its answers, and the memory of the process that read it."""

from __future__ import annotations

import resource
import tempfile
from collections.abc import Callable
from pathlib import Path

from bench.goals import Goal
from bench.in_or_out.section import Section
from bench.in_or_out.workload import ebay
from bench.measure import Child, ChildLostError
from bench.report import Figure, Table
from bench.table import compact

_SEED, _DRAWN = 50, 4_000_000
_TIMEOUT = 600.0
_MB = 1_000_000


def measure_endless(size: int, advance: Callable[[], object]) -> Section:
    """One document of so many bytes, read by a process of its own."""
    workload = ebay(1, _DRAWN, _SEED)
    rows = b"".join(each.data.encode() if isinstance(each.data, str) else each.data for each in workload.elements)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "listings.xml")
        with file.open("wb") as stream:
            stream.write(b"<root>")
            for _ in range(max(size // len(rows), 1)):
                stream.write(rows)
            stream.write(b"</root>")
        written = file.stat().st_size
        child = Child("bench.in_or_out.endless", workload.query)
        try:
            answers, seconds, peak = child.ask(str(file), _TIMEOUT)
        except ChildLostError:
            answers = seconds = peak = None
        finally:
            child.close()
    advance()
    figures: dict[str, Figure] = {"endless_mb": written / _MB, "endless_peak_mb": peak, "endless_seconds": seconds}
    cells = (compact(written / _MB), compact(answers), compact(seconds), compact(peak))
    table = Table("One document", ("MB", "answers", "s", "MB of memory at most"), (cells,))
    goal = Goal("memory of the process that reads one large document, MB", most=500)
    return Section(figures, {"endless_peak_mb": goal}, (table,))


def make(query: str) -> Callable[[str], tuple[int, float, float]]:
    """In the child: answers to a file, seconds, and megabytes at most."""
    from time import process_time  # noqa: PLC0415

    from weft.optimizer import ElementMatcher, read_elements  # noqa: PLC0415

    def answer(file: str) -> tuple[int, float, float]:
        start = process_time()
        number = sum(1 for _ in ElementMatcher(query).stream(read_elements(file, "listing")))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / _MB
        return number, process_time() - start, peak

    return answer
