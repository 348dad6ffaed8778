"""A setting served over HTTP on loopback at imposed rates, and a query server before it: what queries really take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from bench.materialized_views.workload import SOURCES, Setting
from weft.views.planning import Recommendation
from weft.views.server import QueryServer
from weft.views.sources.local import FileSource
from weft.views.sources.rates import Rate, Rates
from weft.views.sources.running import serving

#: Bytes a second found, bytes a second sent, seconds until an answer begins; by source.
_ALIKE = ((1.5e6, 0.5e6, 0.015),) * 5
_UNLIKE = ((3e6, 2e6, 0.010), (1.5e6, 0.5e6, 0.015), (1e6, 0.25e6, 0.020), (0.75e6, 0.15e6, 0.020), (3e6, 1e6, 0.010))
CHARACTERISTICS: dict[str, dict[str, Rates]] = {
    kind: {source: Rates(*map(Rate, three)) for source, three in zip(SOURCES, figures, strict=True)}
    for kind, figures in (("alike", _ALIKE), ("unlike", _UNLIKE))
}


class MissingAnswerError(Exception):
    """A source did not answer, or an answer from views is not the sources': its time would tell nothing."""


class Arena:
    """A query server and its sources while they run."""

    def __init__(self, setting: Setting, server: QueryServer) -> None:
        self._server = server
        self.found: Recommendation = server.recommend(setting.workload, float("inf"))
        self._answers = {query.name: server.query(query.text).rows for query in self.found.workload.queries}

    def store(self, found: Recommendation) -> int:
        """Store a choice of parts; the bytes that all of it takes, with what is kept to refresh it."""
        manifest = self._server.materialize(replace(found, budget=4 * found.budget + 1e6))  # the choice keeps to it
        if sum(part.files is not None for part in manifest.parts) != len(found.choice.keys):
            raise MissingAnswerError(f"expected {len(found.choice.keys)} parts to be stored, found others")
        return manifest.size

    def times(self, rounds: int) -> dict[str, float]:
        """By query the least seconds until its answer is here, which is compared with that of the sources.

        The least, since other work on the machine only adds; and all but the first find in memory what they read.
        """
        return _least([self._round(self._server) for _ in range(rounds)])

    def cold_times(self, rounds: int) -> dict[str, float]:
        """The same of a server that is opened anew for each round, and holds nothing in memory: opening it counts."""
        taken = []
        for _ in range(rounds):
            start = perf_counter()
            with QueryServer(self._server.folder) as server:
                taken.append(self._round(server, start))
        return _least(taken)

    def _round(self, server: QueryServer, start: float | None = None) -> dict[str, float]:
        """Each query once; the first one counts from `start`."""
        taken: dict[str, float] = {}
        for query in self.found.workload.queries:
            start = perf_counter() if start is None else start
            answer = server.query(query.text, record=False)
            taken[query.name], start = perf_counter() - start, None
            if not answer.is_whole or not answer.rows.equals(self._answers[query.name]):
                raise MissingAnswerError(f"{query.text}: {answer.explain()}")
        return taken


def _least(rounds: list[dict[str, float]]) -> dict[str, float]:
    return {name: min(each[name] for each in rounds) for name in rounds[0]}


@contextmanager
def serving_setting(setting: Setting, rates: Mapping[str, Rates]) -> Iterator[Arena]:
    """Serve the sources of a setting for as long as this is open."""
    with TemporaryDirectory() as folder, ExitStack() as stack:
        server = stack.enter_context(QueryServer(Path(folder, "server")))
        for name, document in setting.documents.items():
            assert isinstance(document.data, str), "it was made as text"
            file = Path(folder, f"{name}.xml")
            file.write_text(document.data, encoding="utf-8")
            address = stack.enter_context(serving(FileSource(file), rates[name]))
            server.add_source(address, rates=rates[name])
        yield Arena(setting, server)
