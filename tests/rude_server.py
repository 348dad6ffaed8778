"""A server on loopback that does to each connection what it is told: hang, stop in the middle, send anything.

What it answers says that the connection closes: a client that used one again would read the rest of an old answer.
"""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread

Behaviour = Callable[[socket.socket, bytes, Event], None]


@contextmanager
def rude_server(behave: Behaviour) -> Iterator[str]:
    """Each connection's first request (its first bytes) goes to `behave`, with an event that is set at the end."""
    over = Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.05)

        def take(connection: socket.socket) -> None:
            with connection, suppress(OSError):
                connection.settimeout(5)
                behave(connection, connection.recv(1 << 16), over)

        def run() -> None:
            while not over.is_set():
                with suppress(TimeoutError, OSError):
                    connection, _ = listening.accept()
                    Thread(target=take, args=(connection,), daemon=True).start()

        thread = Thread(target=run, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        over.set()
        thread.join(5)


def sending(body: bytes, head: bytes = b"", status: bytes = b"200 OK") -> Behaviour:
    """Sends a whole response."""

    def behave(connection: socket.socket, _request: bytes, _over: Event) -> None:
        length = b"content-length: %d\r\n" % len(body)
        connection.sendall(b"HTTP/1.1 %b\r\n%b%bconnection: close\r\n\r\n%b" % (status, length, head, body))

    return behave


def hanging(_connection: socket.socket, _request: bytes, over: Event) -> None:
    """Never answers."""
    over.wait(20)


def trickling(connection: socket.socket, _request: bytes, over: Event) -> None:
    """Sends a byte now and then, for ever."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 1000000\r\n\r\n")
    while not over.wait(0.02):
        connection.sendall(b"<")


def dying(connection: socket.socket, _request: bytes, _over: Event) -> None:
    """Ends in the middle of a body."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 1000\r\n\r\n<shop><item>")


def endless(connection: socket.socket, _request: bytes, over: Event) -> None:
    """Sends without end, as fast as it is read."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n<shop>")
    while not over.is_set():
        connection.sendall(b"<item/>" * 10_000)
