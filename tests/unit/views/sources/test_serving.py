"""A served source on loopback, asked by httpx: documents, ranges, regions, answers, rates, and what is refused."""

import asyncio
import json
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import httpx
import pyarrow as pa
import pytest

from weft.views.nodes import version_of
from weft.views.sources.local import DirectorySource, FileSource
from weft.views.sources.rates import Rate, Rates
from weft.views.sources.running import serving
from weft.views.sources.serving import ServiceLimits
from weft.views.sources.wire import ARROW

SHOP = b"<shop>" + b"".join(b"<item><price>%d</price></item>" % price for price in range(2_000)) + b"</shop>"
TAG = f'"{version_of(SHOP)}"'


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    file = tmp_path_factory.mktemp("shop") / "shop.xml"
    file.write_bytes(SHOP)
    limits = ServiceLimits(max_queries=5, max_request_bytes=2_000, max_query_bytes=500)
    with serving(FileSource(file), limits=limits) as address, httpx.Client(base_url=address) as client:
        yield client


def ask(client: httpx.Client, path: str, *queries: str, **headers: str) -> httpx.Response:
    return client.post(path, json={"queries": [{"xpath": query} for query in queries]}, headers=headers)


# -- documents


def test_the_documents_are_listed(shop: httpx.Client) -> None:
    (listed,) = shop.get("/documents").json()["documents"]

    assert listed.pop("token")
    assert listed == {"id": "shop.xml", "version": version_of(SHOP), "size": len(SHOP)}
    assert shop.get("/").json() == {"name": "shop", "root": "shop", "rates": {}}


def test_a_document_comes_with_its_tag_and_not_again(shop: httpx.Client) -> None:
    reply = shop.get("/document", params={"id": "shop.xml"})

    assert (reply.status_code, reply.content, reply.headers["etag"]) == (200, SHOP, TAG)
    again = shop.get("/document", params={"id": "shop.xml"}, headers={"if-none-match": f'"x", {TAG}'})
    assert (again.status_code, again.content) == (304, b"")
    assert shop.get("/document", params={"id": "shop.xml"}, headers={"if-none-match": '"x"'}).status_code == 200


@pytest.mark.parametrize(
    ("wanted", "status", "expected"),
    [
        ("bytes=0-9", 206, SHOP[:10]),
        ("bytes=100-199", 206, SHOP[100:200]),
        ("bytes=100-", 206, SHOP[100:]),
        ("bytes=-10", 206, SHOP[-10:]),
        (f"bytes=10-{len(SHOP) + 50}", 206, SHOP[10:]),
        (f"bytes=-{len(SHOP) + 50}", 206, SHOP),
        (f"bytes={len(SHOP)}-", 416, b""),
        ("bytes=9-3", 416, b""),
        ("bytes=-", 200, SHOP),
        ("bytes=0-1,4-5", 200, SHOP),
        ("lines=1-2", 200, SHOP),
    ],
)
def test_a_range_is_what_it_says(shop: httpx.Client, wanted: str, status: int, expected: bytes) -> None:
    reply = shop.get("/document", params={"id": "shop.xml"}, headers={"range": wanted})

    assert (reply.status_code, reply.content) == (status, expected)


def test_a_range_of_another_version_is_not_given(shop: httpx.Client) -> None:
    get = {"range": "bytes=0-9"}

    assert shop.get("/document?id=shop.xml", headers={**get, "if-match": '"old"'}).status_code == 412
    assert shop.get("/document?id=shop.xml", headers={**get, "if-match": TAG}).status_code == 206
    assert shop.get("/document?id=shop.xml", headers={**get, "if-range": '"old"'}).content == SHOP


def test_regions_are_told_with_the_version(shop: httpx.Client) -> None:
    told = shop.get("/regions?id=shop.xml").json()

    assert told["version"] == version_of(SHOP)
    assert sum(length for _, length, _ in told["regions"]) == len(SHOP)
    assert len(told["regions"]) > 3


@pytest.mark.parametrize("path", ["/document", "/regions"])
def test_a_document_that_is_not_there_is_told(shop: httpx.Client, path: str) -> None:
    assert shop.get(path, params={"id": "../../etc/passwd"}).status_code == 404
    assert shop.get(path).status_code == 400


# -- questions


def test_rows_come_as_lines_or_as_arrow(shop: httpx.Client) -> None:
    lines = ask(shop, "/select", "//price[. = 7]", "//item[price > 1997]")
    arrow = ask(shop, "/select", "//price[. = 7]", "//item[price > 1997]", accept=ARROW)

    about, *rows = map(json.loads, lines.text.splitlines())
    assert list(about["tokens"]) == ["shop.xml"]
    assert [(row["question"], row["fragment"]) for row in rows] == [
        (0, "<price>7</price>"),
        (1, "<item><price>1998</price></item>"),
        (1, "<item><price>1999</price></item>"),
    ]
    assert pa.ipc.open_stream(arrow.content).read_all().to_pylist() == rows
    assert "processing;dur=" in arrow.headers["server-timing"]


def test_measures_are_those_of_the_answers(shop: httpx.Client) -> None:
    measured = ask(shop, "/measure", "//price", "//nothing").json()["queries"]

    size = sum(len(f"<price>{price}</price>") for price in range(2_000))
    assert measured == [{"count": 2_000, "size": size}, {"count": 0, "size": 0}]


def test_explain_knows_what_was_asked_before(shop: httpx.Client) -> None:
    assert ask(shop, "/explain", "//price[. = 8]").json()["queries"][0]["size"] is None

    ask(shop, "/measure", "//price[. = 8]")

    explained = ask(shop, "/explain", "//price[. = 8]").json()["queries"]
    assert explained == [{"size": 16, "processing": None, "transmission": None, "latency": None}]


@pytest.mark.parametrize(
    ("body", "status", "told"),
    [
        (b'{"queries": [{"xpath": "/shop["}]}', 400, "XPath 1:7"),
        (b'{"queries": [{"xpath": "/s:shop"}]}', 400, "prefix"),
        (b'{"queries": [{"xpath": 3}]}', 400, "expected a text"),
        (b'{"queries": [{"xpath": "/a", "namespaces": {"p": 1}}]}', 400, "expected a text for each namespace"),
        (b'{"queries": "/a"}', 400, "expected"),
        (b"[", 400, "expected JSON"),
        (b"[" * 1_900, 400, "expected JSON"),
        (b"\xff", 400, "expected JSON"),
        (b'{"queries": [%b]}' % b",".join([b'{"xpath": "/a"}'] * 6), 400, "at most 5 queries, found 6"),
        (b'{"queries": [{"xpath": "/%b"}]}' % (b"a" * 501), 400, "at most 500 bytes"),
        (b"x" * 2_001, 413, "at most 2000 bytes"),
    ],
)
@pytest.mark.parametrize("path", ["/select", "/measure", "/explain"])
def test_a_bad_request_is_told_why(shop: httpx.Client, path: str, body: bytes, status: int, told: str) -> None:
    reply = shop.post(path, content=body)

    assert reply.status_code == status
    assert told in reply.text


def test_a_question_with_namespaces_is_read_with_them(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_bytes(b"<s:shop xmlns:s='urn:s'><s:item/></s:shop>")
    with serving(FileSource(tmp_path / "a.xml")) as address:
        query = {"xpath": "/s:shop/s:item", "namespaces": {"s": "urn:s"}}

        measured = httpx.post(f"{address}/measure", json={"queries": [query]}).json()

    assert measured["queries"][0]["count"] == 1


# -- a folder


def test_a_bad_document_is_told_and_the_rest_answered(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_bytes(b"<shop><item>1</item></shop>")
    (tmp_path / "b.xml").write_bytes(b"<shop><item>")
    (tmp_path / "c.xml").write_bytes(b"<!DOCTYPE shop><shop><item>3</item></shop>")
    with serving(DirectorySource(tmp_path)) as address, httpx.Client(base_url=address) as client:
        about, *rows = map(json.loads, ask(client, "/select", "//item").text.splitlines())
        listed = client.get("/documents").json()["documents"]
        uncut = client.get("/regions?id=c.xml").json()["regions"]
        (tmp_path / "a.xml").unlink()
        left = client.get("/documents").json()["documents"]

    assert [row["value"] for row in rows] == ["1", "3"]
    assert [entry[0] for entry in about["rejected"]] == ["b.xml"]
    assert [each["id"] for each in listed] == ["a.xml", "b.xml", "c.xml"]
    assert [each["id"] for each in left] == ["b.xml", "c.xml"]
    assert uncut is None


def test_a_source_that_is_gone_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_bytes(b"<shop/>")
    source = FileSource(tmp_path / "a.xml")
    assert source.name == "shop"
    with serving(source) as address:
        (tmp_path / "a.xml").unlink()

        reply = httpx.get(f"{address}/documents")

    assert (reply.status_code, reply.text) == (503, "shop: No such file or directory")


# -- rates and many at once


@pytest.mark.timed
@pytest.mark.slow
def test_rates_are_kept_to(tmp_path: Path) -> None:
    (tmp_path / "shop.xml").write_bytes(SHOP)
    rates = Rates(Rate(400e3), Rate(200e3), Rate(0.05))
    with serving(FileSource(tmp_path / "shop.xml"), rates) as address, httpx.Client(base_url=address) as client:
        assert client.get("/").json()["rates"]["transmission"] == [200e3, 0.0, 0]
        client.get("/documents")
        tries = [timed_answer(client) for _ in range(5)]
        hint = ask(client, "/explain", "/shop").json()["queries"][0]

    size = len(SHOP)
    whole = 0.05 + size / 400e3 + size / 200e3
    assert all(took >= whole and processing >= size / 400e3 for took, processing in tries)
    took, processing = map(min, zip(*tries, strict=True))  # a busy machine may hold up some of them
    assert processing < 1.5 * size / 400e3
    assert took < 2 * whole
    assert hint == {"size": size, "processing": size / 400e3, "transmission": size / 200e3, "latency": 0.05}


def timed_answer(client: httpx.Client) -> tuple[float, float]:
    """The seconds that an answer takes, and those of processing that the server tells."""
    start = time.perf_counter()
    reply = ask(client, "/select", "/shop", accept=ARROW)
    took = time.perf_counter() - start
    return took, float(reply.headers["server-timing"].partition("dur=")[2]) / 1000


class MeetingSource(FileSource):
    """A source whose documents are told to ten clients at once, or to none."""

    meeting = Barrier(10)

    def tokens(self) -> Mapping[str, str]:
        self.meeting.wait(60)
        return super().tokens()


def test_several_clients_are_served_at_once(tmp_path: Path) -> None:
    (tmp_path / "shop.xml").write_bytes(b"<shop/>")
    with serving(MeetingSource(tmp_path / "shop.xml")) as address, ThreadPoolExecutor(10) as clients:
        replies = list(clients.map(lambda _: httpx.get(f"{address}/documents").status_code, range(10)))

    assert replies == [200] * 10


def test_answers_to_many_at_once_are_all_right(shop: httpx.Client) -> None:
    def count(price: int) -> Any:
        return ask(shop, "/measure", f"//item[price > {price}]", "//price").json()["queries"][0]["count"]

    with ThreadPoolExecutor(8) as clients:
        counts = list(clients.map(count, [at % 5 for at in range(24)]))

    assert counts == [1999 - at % 5 for at in range(24)]


def test_what_takes_too_long_is_given_up(tmp_path: Path) -> None:
    (tmp_path / "shop.xml").write_bytes(SHOP)
    source = FileSource(tmp_path / "shop.xml")
    assert source.name == "shop"
    with serving(source, limits=ServiceLimits(max_seconds=0.001)) as address, httpx.Client(base_url=address) as client:
        reply = ask(client, "/select", "//item")
        while reply.status_code == 408:  # on a busy machine the question itself came too late
            reply = ask(client, "/select", "//item")

    assert reply.status_code == 503
    assert "takes longer than 0.001 s" in reply.text


def test_an_answer_that_is_too_large_is_refused(tmp_path: Path) -> None:
    (tmp_path / "shop.xml").write_bytes(SHOP)
    limits = ServiceLimits(max_answer_bytes=1_000)
    with serving(FileSource(tmp_path / "shop.xml"), limits=limits) as address, httpx.Client(base_url=address) as client:
        assert ask(client, "/select", "//item").status_code == 422
        assert ask(client, "/measure", "//item").status_code == 200
        assert ask(client, "/select", "//item[price = 3]").status_code == 200


def test_a_client_that_leaves_disturbs_nobody(shop: httpx.Client) -> None:
    async def leave() -> None:
        reader, writer = await asyncio.open_connection(shop.base_url.host, shop.base_url.port)
        writer.write(b"POST /select HTTP/1.1\r\nhost: x\r\ncontent-length: 500\r\n\r\n{")
        await writer.drain()
        writer.close()
        del reader

    asyncio.run(leave())

    assert shop.get("/").status_code == 200
