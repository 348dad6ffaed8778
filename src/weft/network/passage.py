"""A document on its way through the network, what a server makes of it, and what is delivered in the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from weft.documents.document import Document
from weft.errors import DocumentError


@dataclass(frozen=True, slots=True)
class Passage:
    """A document with its header, the source where it entered, and its number there.

    `seconds` is what the servers on its way have taken for it, `entered` when it came, by the clock of performance.
    """

    source: str
    number: int
    document: Document
    seconds: float = 0.0
    entered: float = 0.0


@dataclass(frozen=True, slots=True)
class Handled:
    """What a server makes of a passage: the subscriptions that get it, the servers that it goes on to, and how."""

    passage: Passage
    subscriptions: tuple[str, ...]
    receivers: tuple[str, ...]
    rejected: DocumentError | None = None


class Delivered(NamedTuple):
    """What a subscription got: a document, or with XSCL the message of several, whose last it is."""

    server: str
    subscription: str
    document: str
    documents: tuple[str, ...] = ()
