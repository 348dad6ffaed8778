"""Query servers over documents that tests write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from weft.views.planning import Recommendation
from weft.views.server import QueryServer
from weft.views.sources.rates import Rates
from weft.views.workload import Workload, make_query, workload_of


def server_over(
    folder: Path, documents: Mapping[str, str], clock: float = 1_000.0, rates: Rates | None = None
) -> QueryServer:
    """A server whose sources are these files, in their order; rates that are not given are measured."""
    server = QueryServer(folder / "store", clock=lambda: clock)
    for name, text in documents.items():
        (folder / name).write_text(text)
        server.add_source(folder / name, rates=rates)
    return server


def queries(*texts: str) -> Workload:
    """A workload in which all are asked equally often."""
    return workload_of(make_query(text) for text in texts)


def choosing(found: Recommendation, numbers: Sequence[int]) -> Recommendation:
    """The same with another choice of parts."""
    return replace(found, choice=found.problem.chosen(numbers))
