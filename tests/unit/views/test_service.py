"""The query server over HTTP: answers, limits, and what is refused with which status."""

from __future__ import annotations

import asyncio
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pytest

from query_servers import server_over
from weft.columns.integers import Ints
from weft.documents.document import Document, Limits
from weft.views.bounds import AnswerBounds, StoppedError, bounded, bounds_here
from weft.views.nodes import _RowMaker
from weft.views.server import QueryServer
from weft.views.service import QueryLimits, make_query_service
from weft.views.sources.local import FileSource
from weft.views.sources.rates import Rate, Rates
from weft.views.sources.running import serving
from weft.views.sources.source import Answer, Question, answer_here, read_question

SHOP = "<shop><item><name>A</name></item><item><name>B</name></item></shop>"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[QueryServer]:
    with server_over(tmp_path, {"shop.xml": SHOP, "s.xml": "<s xmlns:p='urn:p'><p:name>C</p:name></s>"}) as made:
        yield made


def get(server: QueryServer, path: str, limits: QueryLimits | None = None, **parameters: str) -> tuple[int, Any]:
    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(make_query_service(server, limits or QueryLimits()))
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            return await client.get(path, params=parameters)

    answer = asyncio.run(ask())
    return answer.status_code, answer.json()


def test_nodes_are_answered_with_the_way_of_each_source(server: QueryServer) -> None:
    server.materialize("/shop/item")

    status, found = get(server, "/query", xpath="/shop/item/name")

    assert status == 200
    assert [node["fragment"] for node in found["nodes"]] == ["<name>A</name>", "<name>B</name>"]
    assert found["nodes"][0]["path"] == ["shop", "item", "name"]
    assert "from views" in found["ways"][0]["told"]
    assert found["missing"] == found["rejected"] == []


def test_prefixes_are_given_as_parameters(server: QueryServer) -> None:
    status, found = get(server, "/query", None, **{"xpath": "//x:name", "xmlns:x": "urn:p"})

    assert (status, len(found["nodes"])) == (200, 1)


def test_fresh_answers_are_had_for_the_asking(server: QueryServer, tmp_path: Path) -> None:
    server.materialize("/shop/item")
    (tmp_path / "shop.xml").write_text("<shop><item/></shop>")

    assert len(get(server, "/query", xpath="/shop/item")[1]["nodes"]) == 2
    assert len(get(server, "/query", xpath="/shop/item", fresh="1")[1]["nodes"]) == 1


def test_views_and_sources_are_told(server: QueryServer) -> None:
    server.materialize("/shop/item")

    assert [view["text"] for view in get(server, "/views")[1]] == ["/shop/item"]
    assert [source["name"] for source in get(server, "/sources")[1]] == ["shop", "s"]


@pytest.mark.parametrize("query", ["", "/shop/[", "//unknown:a", "concat("])
def test_a_query_that_cannot_be_read_is_400(server: QueryServer, query: str) -> None:
    status, found = get(server, "/query", xpath=query)

    assert status == 400
    assert found["error"]


def test_an_answer_that_is_too_large_is_413(server: QueryServer) -> None:
    status, found = get(server, "/query", QueryLimits(max_nodes=1), xpath="//name")

    assert (status, found) == (413, {"error": "2 nodes, more than 1"})


def test_an_answer_of_too_many_bytes_is_413(server: QueryServer) -> None:
    status, found = get(server, "/query", QueryLimits(max_bytes=20), xpath="//name")

    assert (status, found) == (413, {"error": "28 bytes, more than 20"})


def test_nothing_is_written_of_an_answer_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shop.xml").write_text(f"<shop>{'<item/>' * 5_000}</shop>")
    written: list[int] = []
    make = _RowMaker.of

    def watched(maker: _RowMaker, nodes: Ints) -> pa.Table:
        written.append(nodes.size)
        return make(maker, nodes)

    monkeypatch.setattr(_RowMaker, "of", watched)
    with serving(FileSource(tmp_path / "shop.xml")) as address:
        for number, location in enumerate((str(tmp_path / "shop.xml"), address)):
            server = QueryServer(tmp_path / f"store{number}")
            server.add_source(location)
            by_nodes = get(server, "/query", QueryLimits(max_nodes=10), xpath="//item")
            by_bytes = get(server, "/query", QueryLimits(max_bytes=10), xpath="//item")

            assert by_nodes == (413, {"error": "5000 nodes, more than 10"})
            assert by_bytes == (413, {"error": "35000 bytes, more than 10"})
            assert written == []
            assert get(server, "/query", QueryLimits(max_nodes=5_000), xpath="//item")[0] == 200
            written.clear()


def test_limits_hold_for_all_sources_and_views_together(server: QueryServer) -> None:
    server.materialize("/shop/item/name")

    assert get(server, "/query", QueryLimits(max_nodes=3), xpath="//*:name")[0] == 200
    assert get(server, "/query", QueryLimits(max_nodes=2), xpath="//*:name") == (
        413,
        {"error": "3 nodes, more than 2"},
    )
    assert get(server, "/query", QueryLimits(max_nodes=1), xpath="/shop/item/name")[0] == 413


@pytest.mark.slow
def test_after_504_nobody_works_on_the_answer_any_more(tmp_path: Path) -> None:
    (tmp_path / "shop.xml").write_text(SHOP)
    watched = Watched(tmp_path / "shop.xml")
    with serving(watched, Rates(None, None, Rate(0.01))) as address:
        server = QueryServer(tmp_path / "store")
        server.add_source(address)
        status, _ = get(server, "/query", QueryLimits(timeout=0.3), xpath="//name")

        assert status == 504
        assert watched.ended.wait(5), "the source is told that nobody waits for it"
        assert not [thread for thread in threading.enumerate() if thread.name == "ask shop"]


class Watched(FileSource):
    """A source that goes on until it is stopped, and tells when it was."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.ended = threading.Event()

    def answer(self, questions: Sequence[Question]) -> Answer:
        end = time.monotonic() + 30
        while time.monotonic() < end:
            try:
                bounds_here().check()
            except StoppedError:
                self.ended.set()
                raise
            time.sleep(0.01)
        return super().answer(questions)


def test_documents_are_not_read_for_an_answer_that_was_stopped() -> None:
    bounds, read = AnswerBounds(), []

    def documents() -> Iterator[Document]:
        for at in range(10):
            if at == 3:
                bounds.stop()
            read.append(at)
            yield Document("<s/>", id=str(at))

    with bounded(bounds), pytest.raises(StoppedError):
        answer_here("s", documents(), {}, [read_question("/s")], Limits())
    assert read == [0, 1, 2, 3]


@pytest.mark.slow
def test_an_answer_that_takes_too_long_is_504(tmp_path: Path) -> None:
    (tmp_path / "shop.xml").write_text(SHOP)
    with serving(FileSource(tmp_path / "shop.xml"), Rates(None, None, Rate(1.5))) as address:
        server = QueryServer(tmp_path / "store")
        server.add_source(address)
        start = time.monotonic()
        status, found = get(server, "/query", QueryLimits(timeout=0.2), xpath="//name")

    assert (status, found) == (504, {"error": "no answer within 0.2 s"})
    assert time.monotonic() - start < 10


def test_an_answer_without_a_source_is_206(server: QueryServer, tmp_path: Path) -> None:
    (tmp_path / "shop.xml").unlink()

    status, found = get(server, "/query", xpath="//*:name")

    assert status == 206
    assert [error["source"] for error in found["missing"]] == ["shop"]
    assert len(found["nodes"]) == 1


def test_what_is_wrong_with_the_store_is_500(server: QueryServer) -> None:
    manifest = server.materialize("/shop/item")
    (server.folder / f"{manifest.number:08d}.manifest").write_bytes(b"nothing")

    status, found = get(server, "/query", xpath="/shop/item")

    assert status == 500
    assert ".manifest" in found["error"]


@pytest.mark.slow
def test_the_command_serves_until_it_is_interrupted(server: QueryServer) -> None:
    start = "from weft.cli import main; main()"
    command = [sys.executable, "-c", start, "serve-queries", "--port", "0", "--store", str(server.folder)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        told = re.fullmatch(
            r"queries are answered at (http://127.0.0.1:\d+)/query\?xpath=… \(end with Ctrl-C\)\n", line
        )
        assert told is not None, line
        found = httpx.get(f"{told[1]}/query", params={"xpath": "//name"})
        process.send_signal(signal.SIGINT)
        assert (process.wait(20), process.stderr.read()) == (0, "")

    assert found.status_code == 200
    assert len(found.json()["nodes"]) == 2


def test_a_number_beyond_all_bounds_is_json_too(server: QueryServer, tmp_path: Path) -> None:
    (tmp_path / "shop.xml").write_text(f"<shop><item>{'9' * 400}</item></shop>")

    status, found = get(server, "/query", xpath="/shop/item")

    assert (status, found["nodes"][0]["number"], len(found["nodes"][0]["value"])) == (200, None, 400)


@pytest.mark.slow
def test_a_store_without_sources_is_told_before_it_is_served(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "weft", "serve-queries", "--port", "0", "--store", str(tmp_path / "typo")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        lines = process.stderr.readline(), process.stderr.readline()
        process.kill()

    assert lines[0].startswith(f"no sources in {tmp_path / 'typo'} yet; weft sources add LOCATION")
    assert lines[1].startswith("queries are answered at")
