"""Sources that tell beforehand what an answer takes, as databases do by EXPLAIN: they are asked, and believed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from query_servers import queries
from rude_server import rude_server, sending
from weft.views.server import QueryServer
from weft.views.sources.asking import ask_to_explain
from weft.views.sources.http import HttpSource
from weft.views.sources.local import FileSource
from weft.views.sources.rates import Rate, Rates
from weft.views.sources.running import serving
from weft.views.sources.source import Question, SourceError, read_question

QUESTIONS = [read_question("/s/a"), read_question("/s/b")]
RATES = Rates(transmission=Rate(1e6), latency=Rate(0.01))
MARKED = b"weft-source: 1\r\n"


class Database(FileSource):
    """A source that finds some nodes by an index, and looks everywhere for all else."""

    def __init__(self, path: Path, indexed: str = "/s/b") -> None:
        super().__init__(path)
        self._indexed = indexed

    def explain(self, questions: Sequence[Question]) -> tuple[float | None, ...]:
        return tuple(0.001 if question.text == self._indexed else 30.0 for question in questions)


class Failing(FileSource):
    def explain(self, questions: Sequence[Question]) -> tuple[float | None, ...]:
        raise SourceError(self.name, f"no EXPLAIN of {len(questions)} queries today")


def write(folder: Path) -> Path:
    file = folder / "s.xml"
    file.write_text(f"<s>{'<a>one</a>' * 300}{'<b>two</b>' * 300}</s>")
    return file


@pytest.mark.parametrize(("indexed", "other"), [("/s/a", "/s/b"), ("/s/b", "/s/a")])
def test_what_a_source_says_takes_long_is_stored_first(tmp_path: Path, indexed: str, other: str) -> None:
    server = QueryServer(tmp_path / "store")
    server.add_source(Database(write(tmp_path), indexed), rates=RATES)
    full = server.recommend(queries("/s/a", "/s/b"), 1e9)

    found = full.within(max(each.size for each in full.problem.candidates))  # of two answers of one size

    assert list(found.definitions().values()) == [other]


def test_adapting_believes_it_too(tmp_path: Path) -> None:
    server = QueryServer(tmp_path / "store")
    server.add_source(Database(write(tmp_path)), rates=RATES)
    for _ in range(3):
        server.query("/s/b")
        server.query("/s/a")

    adapted = server.adapt(1e9, horizon=1e9)

    times = {load.name: load.requests[0].byte_seconds for load in adapted.problem.queries}
    assert max(times.values()) > 1_000 * min(times.values())


def test_a_rate_that_was_given_counts_before_it(tmp_path: Path) -> None:
    given = Rates(Rate(1e6), Rate(1e6), Rate(0.01))

    server = QueryServer(tmp_path / "store")
    server.add_source(Database(write(tmp_path)), rates=given)
    found = server.recommend(queries("/s/b", "/s/a"), 1e9)

    assert {request.byte_seconds for load in found.problem.queries for request in load.requests} == {2e-6}


def test_a_source_that_does_not_explain_itself_disturbs_nobody(tmp_path: Path) -> None:
    file = write(tmp_path)

    told = ask_to_explain({"failing": Failing(file), "plain": FileSource(file), "database": Database(file)}, QUESTIONS)

    assert told == {"database": (30.0, 0.001)}


def test_a_served_source_is_asked_over_http(tmp_path: Path) -> None:
    with serving(FileSource(write(tmp_path)), Rates(Rate(1e5))) as address:
        source = HttpSource(address)
        before = source.explain(QUESTIONS)
        source.answer(QUESTIONS[:1])

        assert before == (None, None)
        assert source.explain(QUESTIONS) == (300 * len("<a>one</a>") / 1e5, None)


@pytest.mark.parametrize("told", [b'{"queries": [{"processing": -1}]}', b'{"queries": [{"processing": NaN}]}', b"[]"])
def test_what_is_no_time_is_not_believed(told: bytes) -> None:
    with rude_server(sending(told, MARKED)) as address:
        source = HttpSource(address, "s")
        with pytest.raises(SourceError, match="answers what cannot be read"):
            source.explain(QUESTIONS[:1])


def test_with_too_few_times_none_is_believed() -> None:
    with rude_server(sending(b'{"queries": []}', MARKED)) as address:
        assert ask_to_explain({"short": HttpSource(address, "s")}, QUESTIONS) == {}
