"""What producers publish: bytes or text with an id, a stream and a timestamp, and the limits they must keep."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count
from math import isfinite
from typing import Literal

from weft.errors import ConfigurationError

DoctypePolicy = Literal["ignore-external", "reject"]


@dataclass(frozen=True, slots=True)
class Document:
    """An XML document: its source, and who, where and when it is.

    >>> Document("<a/>", id="first").stream
    ''
    """

    data: bytes | str
    id: str = ""
    stream: str = ""
    timestamp: float | None = None

    def __post_init__(self) -> None:
        if self.timestamp is not None and not isfinite(self.timestamp):
            raise ConfigurationError(f"timestamp: expected a number of seconds, found {self.timestamp}")


@dataclass(frozen=True, slots=True)
class Limits:
    """What a document may be at most; one that is more is rejected, and the rest of its batch goes on.

    `doctype` is the policy for a `<!DOCTYPE …>`: `"reject"` refuses every document that has one;
    `"ignore-external"` reads internal declarations (entities within expat's amplification limit) and never
    fetches anything: a document that *needs* what is outside, because it refers to it, is rejected.
    """

    max_bytes: int = 64 * 1024 * 1024
    max_depth: int = 1_000
    max_attributes: int = 1_000
    max_nodes: int = 5_000_000
    doctype: DoctypePolicy = "ignore-external"

    def __post_init__(self) -> None:
        for name in ("max_bytes", "max_depth", "max_attributes", "max_nodes"):
            if (value := getattr(self, name)) < 1:
                raise ConfigurationError(f"Limits.{name}: expected a positive number, found {value}")
        if self.doctype not in ("ignore-external", "reject"):
            raise ConfigurationError(f"Limits.doctype: expected 'ignore-external' or 'reject', found {self.doctype!r}")


def is_in_stream(document: Document, stream: str) -> bool:
    """Whether a query on a stream is for a document; one that names no stream is for every query."""
    return not stream or not document.stream or document.stream == stream


_numbers = count(1)


def as_documents(batch: Document | bytes | str | Iterable[Document | bytes | str]) -> list[Document]:
    """A batch in any of its forms as a list of documents, each with an id."""
    if isinstance(batch, Document | bytes | str):
        batch = [batch]
    documents = []
    for entry in batch:
        document = entry if isinstance(entry, Document) else Document(entry)
        if not isinstance(document.data, bytes | str):
            raise TypeError(f"a document is bytes or str, found {type(document.data).__name__}")
        if not document.id:
            document = Document(document.data, f"document-{next(_numbers)}", document.stream, document.timestamp)
        documents.append(document)
    return documents
