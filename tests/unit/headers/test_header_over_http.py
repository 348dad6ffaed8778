"""A document and its header over HTTP, between a real client and a real server: the header answers there, unparsed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import httpx

from weft.broker.broker import Broker
from weft.documents.document import Document
from weft.headers import HTTP_HEADER, HeaderError, attach, configure, decode

VIEWS = configure("news", ["/news/agency", "/news/@date", *(f"/news/n{number}" for number in range(1_000))])
NEWS = "<news date='2026-11-16'><agency>NÇP</agency><body/></news>".encode()


@contextmanager
def server_of(broker: Broker) -> Iterator[str]:
    """Answers a document that is posted with the subscriptions that it is for."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers["content-length"]))
            try:
                header = decode(self.headers.get(HTTP_HEADER, "")).encode()
            except HeaderError:
                header = None
            (matched,) = broker.matches(Document(data, header=header))
            body = " ".join(matched).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_server_answers_from_the_header_that_came_with_the_document() -> None:
    broker = Broker(headers=VIEWS)
    broker.subscribe("/news[agency = 'NÇP'][@date >= xs:date('2026-11-01')]", id="both")
    broker.subscribe("/news[n7]", id="none")
    (made,) = attach(NEWS, VIEWS)
    text = decode(made.header or b"").to_text()

    with server_of(broker) as address:
        answers = [
            httpx.post(address, content=NEWS, headers={} if told is None else {HTTP_HEADER: told}).text
            for told in (text, None, text[:-4], text.swapcase())
        ]

    assert answers == ["both"] * 4
    assert broker.header_counts == {"hit": 1, "no header": 3}
