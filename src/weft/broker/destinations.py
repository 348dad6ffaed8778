"""Messages in, delivered out: to a function, to standard output, or to a folder with one file a message."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import FrozenInstanceError
from itertools import count
from pathlib import Path
from urllib.parse import quote
from weakref import WeakValueDictionary

from weft.broker.typed import TypedRows
from weft.errors import ConfigurationError


class Message:
    """What is delivered: the nodes of a document that a subscription asked for, as XML; of FLWR, the one message.

    A message of XSCL has in `documents` all documents that it joins; `document` is the last of them. Of a subscription
    with columns the nodes are JSON, and `columns` are the same as typed values, a row for each node. `traceparent` is
    that of the document.
    """

    __slots__ = ("_nodes", "columns", "document", "documents", "subscription", "traceparent")
    subscription: str
    document: str
    documents: tuple[str, ...]
    columns: TypedRows | None
    traceparent: str | None
    _nodes: Iterable[str]

    def __init__(
        self,
        subscription: str,
        document: str,
        nodes: Iterable[str],
        documents: tuple[str, ...] = (),
        columns: TypedRows | None = None,
        traceparent: str | None = None,
    ) -> None:
        """`nodes` that are no tuple are read when somebody asks for them."""
        put = object.__setattr__
        put(self, "subscription", subscription)
        put(self, "document", document)
        put(self, "documents", documents)
        put(self, "columns", columns)
        put(self, "traceparent", traceparent)
        put(self, "_nodes", nodes)

    @property
    def nodes(self) -> tuple[str, ...]:
        """The nodes as XML."""
        nodes = self._nodes
        if not isinstance(nodes, tuple):
            nodes = tuple(nodes)
            object.__setattr__(self, "_nodes", nodes)
        return nodes

    @property
    def text(self) -> str:
        """The whole message, a line for each node."""
        return "\n".join(self.nodes)

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __reduce__(self) -> tuple[object, ...]:
        return Message, (*self._parts(), self.columns, self.traceparent)

    def __eq__(self, other: object) -> bool:
        return self._parts() == other._parts() if isinstance(other, Message) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._parts())

    def __repr__(self) -> str:
        names = ("subscription", "document", "nodes", "documents")
        told = ", ".join(f"{name}={value!r}" for name, value in zip(names, self._parts(), strict=True))
        return f"Message({told})"

    def _parts(self) -> tuple[str, str, tuple[str, ...], tuple[str, ...]]:
        return self.subscription, self.document, self.nodes, self.documents


#: What takes messages.
Destination = Callable[[Message], object]


def destination(to: object) -> Destination | None:
    """The function that delivers to a destination; nothing for none."""
    if to is None or callable(to):
        return to
    if to == "-":
        return to_standard_output
    if isinstance(to, str | Path):
        path = Path(to).absolute()
        return _FOLDERS.setdefault(path, Folder(path))  # subscriptions that share a folder share its numbers
    raise ConfigurationError(f"to: expected a function, a folder or '-', found {to!r}")


def to_standard_output(message: Message) -> None:
    """Print a message."""
    sys.stdout.write(message.text + "\n")
    sys.stdout.flush()


class Folder:
    """One file for each message, there as a whole or not at all; names sort in the order of delivery."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._numbers: count[int] | None = None

    def __call__(self, message: Message) -> Path:
        """Write a message to a file of its own."""
        self._path.mkdir(parents=True, exist_ok=True)
        if self._numbers is None:  # go on behind what an earlier run has left
            known = [int(file.name[:10]) for file in self._path.glob("[0-9]" * 10 + "-*.xml")]
            self._numbers = count(max(known, default=0) + 1)
        names = "-".join(quote(name, safe="")[:80] for name in (message.subscription, message.document))
        file = self._path / f"{next(self._numbers):010d}-{names}.xml"
        temporary = file.with_name(f".{file.name}.part")
        try:
            temporary.write_text(message.text + "\n", encoding="utf-8")
            return temporary.replace(file)
        finally:
            temporary.unlink(missing_ok=True)


_FOLDERS: WeakValueDictionary[Path, Folder] = WeakValueDictionary()
