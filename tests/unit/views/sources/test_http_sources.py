"""Sources at addresses: served ones answer as the file itself, other servers are fetched whole, failures are told."""

import os
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread

import httpx
import pytest

from rude_server import Behaviour, dying, endless, hanging, rude_server, sending, trickling
from weft.views.nodes import version_of
from weft.views.sources import transport
from weft.views.sources.http import HttpSource
from weft.views.sources.local import DirectorySource, FileSource
from weft.views.sources.opening import open_source
from weft.views.sources.rates import Rate, Rates
from weft.views.sources.regions import regions_of
from weft.views.sources.running import serving
from weft.views.sources.source import SourceError, read_question

QUESTIONS = [read_question("//price"), read_question("/shop/item[price > 2]/@id"), read_question("//nothing")]
MARKED = b"weft-source: 1\r\n"
BRIEF, PATIENT = 0.3, 60  # timeouts: one that is waited for, and one that is not reached on a busy machine either


def shop(*prices: int) -> bytes:
    items = (f"<item id='é{price}'>\n<price>{price}</price> {'word ' * 50}</item>" for price in prices)
    return f"<shop>{''.join(items)}</shop>".encode()


# -- served sources


def test_a_served_folder_answers_as_the_folder_itself(tmp_path: Path) -> None:
    for name, data in {"a.xml": shop(1, 2, 3), "b.xml": b"<shop><item>", "c.xml": shop(4)}.items():
        (tmp_path / name).write_bytes(data)
    here = DirectorySource(tmp_path)
    with serving(here, Rates(latency=Rate(0.01))) as address:
        there = open_source(address)
        answer, expected = there.answer(QUESTIONS), here.answer(QUESTIONS)

        assert there.name == here.name == "shop"
        assert there.location == address
        assert [rows.equals(others) for rows, others in zip(answer.rows, expected.rows, strict=True)] == [True] * 3
        assert list(map(str, answer.rejected)) == list(map(str, expected.rejected))
        assert answer.tokens == there.tokens() == here.tokens()
        assert there.measure(QUESTIONS) == expected.measures()
        assert [each.data for each in there.fetch()] == [each.data for each in here.fetch()]
        assert [each.id for each in there.fetch(["c.xml", "gone.xml"])] == ["c.xml"]
        assert there.hints() == Rates(latency=Rate(0.01))
        assert answer.cost.size == expected.cost.size
        assert answer.cost.transmission > 0.01


def test_a_name_that_is_given_is_that_of_the_rows(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_bytes(shop(1))
    with serving(FileSource(tmp_path / "a.xml")) as address:
        rows = HttpSource(address, "mine").answer(QUESTIONS).rows

    assert rows[0]["source"].to_pylist() == ["mine"]


def test_a_changed_document_is_fetched_by_its_changed_ranges(tmp_path: Path) -> None:
    old, new = shop(*range(500)), shop(*range(250), 9_999, *range(250, 500))
    (tmp_path / "a.xml").write_bytes(new)
    known = regions_of(old)
    assert known is not None
    held = {each.digest: old[each.offset : each.offset + each.length] for each in (known.head, *known.body, known.tail)}
    fetched = 0
    with serving(FileSource(tmp_path / "a.xml")) as address:
        source = HttpSource(address)
        told = source.regions("a.xml")
        assert told is not None
        version, regions = told
        built = b""
        for region in (regions.head, *regions.body, regions.tail):
            if region.digest not in held:
                fetched += region.length
                part = source.fetch_range("a.xml", version, region.offset, region.length)
                assert part is not None
                held[region.digest] = part
            built += held[region.digest]

        assert built == new
        assert version == version_of(new)
        assert fetched < len(new) / 2
        assert source.fetch_range("a.xml", "old", 0, 10) is None
        assert source.fetch_range("gone.xml", version, 0, 10) is None
        assert source.regions("gone.xml") is None


# -- any other server


class _Quiet(SimpleHTTPRequestHandler):
    asked: list[tuple[str, str | None]]

    def log_message(self, *_arguments: object) -> None:
        pass

    def send_head(self):  # type: ignore[no-untyped-def]
        self.asked.append((self.command, self.headers.get("if-modified-since")))
        return super().send_head()


@contextmanager
def folder_served(folder: Path) -> Iterator[tuple[str, list[tuple[str, str | None]]]]:
    """Python's own server of files, which knows Last-Modified and no ETag."""
    handler = type("Handler", (_Quiet,), {"asked": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(folder)))
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", handler.asked  # type: ignore[attr-defined]
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.slow
def test_a_document_on_any_server_is_fetched_and_evaluated_here(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_bytes(shop(1, 2))
    with folder_served(tmp_path) as (address, _):
        source = HttpSource(f"{address}/a.xml")

        answer = source.answer(QUESTIONS)

        assert source.name == "shop"
        assert answer.rows[0]["number"].to_pylist() == [1, 2]
        assert answer.rows[0]["document"].to_pylist() == [f"{address}/a.xml"] * 2
        assert answer.tokens == source.tokens()
        assert [each.data for each in source.fetch()] == [shop(1, 2)]
        assert source.fetch(["other"]) == []
        assert source.measure(QUESTIONS)[0].count == 2
        assert (source.hints(), source.regions("a.xml"), source.fetch_range("a.xml", "v", 0, 1)) == (None, None, None)


@pytest.mark.slow
def test_a_change_within_the_second_is_seen(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_bytes(shop(1))
    with folder_served(tmp_path) as (address, asked):
        source = HttpSource(f"{address}/a.xml")
        first = source.tokens()
        (tmp_path / "a.xml").write_bytes(shop(2))

        assert source.tokens() != first
        assert source.answer(QUESTIONS).rows[0]["number"].to_pylist() == [2]
        assert {since for _, since in asked} == {None}


@pytest.mark.slow
def test_what_is_unchanged_for_long_is_not_sent_again(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_bytes(shop(1))
    hour_ago = time.time() - 3600
    os.utime(tmp_path / "a.xml", (hour_ago, hour_ago))
    with folder_served(tmp_path) as (address, asked):
        source = HttpSource(f"{address}/a.xml")
        first = source.tokens()
        again = source.answer(QUESTIONS)

        assert again.tokens == first
        assert asked[-1][1] is not None
        assert again.rows[0]["number"].to_pylist() == [1]


def tagged(connection: socket.socket, request: bytes, _over: Event, sent: list[int]) -> None:
    """A server with ETags, and the statuses that it sent to GET."""
    head = b'etag: "one"\r\nconnection: close\r\n'
    is_known = b'if-none-match: "one"' in request.lower()
    if request.startswith(b"GET"):
        sent.append(304 if is_known else 200)
    if is_known:
        connection.sendall(b"HTTP/1.1 304 Not Modified\r\n%b\r\n" % head)
    else:
        body = b"" if request.startswith(b"HEAD") else shop(1)
        connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n%b\r\n%b" % (len(shop(1)), head, body))


def test_a_tag_is_the_token_and_saves_the_document() -> None:
    sent: list[int] = []
    with rude_server(partial(tagged, sent=sent)) as address:
        source = HttpSource(address, "shop")

        assert source.tokens() == {address: '"one"'}
        assert sent == []
        assert source.answer(QUESTIONS).rows[0].num_rows == 1
        assert source.tokens() == {address: '"one"'}
        assert sent == [200, 304]


def test_a_document_that_is_no_xml_is_an_error_of_the_source() -> None:
    with (
        rude_server(sending(b"<shop><item></shop>")) as address,
        pytest.raises(SourceError, match=r"^shop: .*mismatched tag"),
    ):
        HttpSource(address).answer(QUESTIONS)


# -- what goes wrong


def ways_to_ask(source: HttpSource) -> Iterator[Callable[[], object]]:
    yield lambda: source.name
    yield source.tokens
    yield source.fetch
    yield partial(source.answer, QUESTIONS)
    yield partial(source.measure, QUESTIONS)
    yield source.hints


@pytest.mark.slow
@pytest.mark.parametrize(
    ("behave", "reason"),
    [
        (hanging, "not answered to the end within 0.3 s"),
        (trickling, "not answered to the end within 0.3 s"),
        (dying, "closed"),
        (endless, "answers more than 20000 bytes"),
        (sending(b"oh no", status=b"500 Oops"), "HTTP status 500: oh no"),
        (sending(b"", status=b"404 Not Found"), "HTTP status 404"),
        (sending(b"nothing at all"), "expected XML"),
        (sending(b""), "expected XML"),
        (sending(b"\x00\x01", MARKED), "answers what cannot be read"),
        (sending(b"[1]", MARKED), "answers what cannot be read"),
        (lambda connection, _request, _over: connection.sendall(b"SSH-2.0\r\n"), ""),
        (sending(b"x", b"content-encoding: gzip\r\n"), ""),
    ],
)
def test_a_server_that_misbehaves_is_an_error_of_the_source(behave: Behaviour, reason: str) -> None:
    timeout = BRIEF if behave in (hanging, trickling) else PATIENT
    with rude_server(behave) as address:
        for ask in ways_to_ask(HttpSource(address, timeout=timeout, max_bytes=20_000)):
            with pytest.raises(SourceError) as raised:
                ask()
            assert reason in raised.value.reason
            assert raised.value.source == address


@pytest.mark.parametrize(
    "body", [b"", b"garbage", b'{"name": "shop", "rates": {"speed": 1}}', b'{"name": "shop", "documents": [1]}']
)
def test_an_endpoint_that_answers_anything_is_an_error_of_the_source(body: bytes) -> None:
    with rude_server(sending(body, MARKED)) as address:
        source = HttpSource(address, "shop", timeout=PATIENT)
        for ask in (
            source.tokens,
            partial(source.answer, QUESTIONS),
            partial(source.measure, QUESTIONS),
            source.hints,
            partial(source.regions, "a.xml"),
        ):
            with pytest.raises(SourceError, match=r"^shop: "):
                ask()


def test_a_server_that_is_not_there_is_an_error_of_the_source() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

    with pytest.raises(SourceError, match="refused"):
        HttpSource(f"http://127.0.0.1:{port}").tokens()


@pytest.mark.parametrize("address", ["http://", "http://[", "http://127.0.0.1:99999", "http://no-such-host.invalid"])
def test_an_address_that_is_none_is_an_error_of_the_source(address: str) -> None:
    with pytest.raises(SourceError):
        _ = HttpSource(address, timeout=PATIENT).name


@pytest.mark.slow
def test_a_redirect_is_followed_to_http_alone(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_bytes(shop(1))
    with folder_served(tmp_path) as (address, _), rude_server(redirecting(f"{address}/a.xml")) as moved:
        assert HttpSource(moved).name == "shop"
    for target in ("file:///etc/passwd", "ftp://x/", "gopher://x"):
        with rude_server(redirecting(target)) as moved, pytest.raises(SourceError, match="not followed"):
            _ = HttpSource(moved).name
    with rude_server(redirecting("/")) as moved, pytest.raises(SourceError, match="more than 5 redirects"):
        _ = HttpSource(moved).name


def redirecting(target: str) -> Behaviour:
    return sending(b"", b"location: %b\r\n" % target.encode(), b"302 Found")


def test_certificates_are_read_for_the_first_request_and_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "shop.xml"
    file.write_text("<shop><item/></shop>")
    read: list[ssl.SSLContext] = []

    def certificates() -> ssl.SSLContext:
        read.append(ssl.create_default_context())
        return read[-1]

    monkeypatch.setattr(httpx, "create_ssl_context", certificates)
    transport._certificates.cache_clear()
    with serving(FileSource(file)) as address:
        sources = [HttpSource(address), HttpSource(address)]
        assert not read
        assert [source.root for source in sources] == ["shop", "shop"]
        assert len(read) == 1
    transport._certificates.cache_clear()
