"""Documents and configurations in, documents with headers out: the offsets come from the scan that validates them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from weft.documents.build import read
from weft.documents.doctype import find_doctype
from weft.documents.document import Document, Limits, as_documents
from weft.documents.source import encoding_of, read_source
from weft.documents.table import NodeTable
from weft.errors import DocumentError
from weft.headers.configuration import Configuration, Configurations, as_configurations
from weft.headers.header import ABSENT, PLAIN, SEVERAL, UTF8, Header, HeaderError, check
from weft.headers.places import NodePlaces
from weft.headers.view_nodes import MANY, SelectedNodes, ViewNodes
from weft.plans.plan import Pattern


def attach(
    batch: Document | bytes | str | Iterable[Document | bytes | str],
    configurations: Configurations,
    limits: Limits | None = None,
) -> list[Document]:
    """The documents, each with the header of the first configuration that is for it.

    One that cannot be read has none, nor has one that no configuration is for; a header that it had before is gone.
    """
    return Producer(configurations, limits).attach(as_documents(batch))


def bytes_of(document: Document) -> bytes:
    """The bytes that a header is for: those of a text are its UTF-8.

    A text that declares another encoding has none, and HeaderError is raised: the same bytes, with the same checksum,
    are another document where they are given as bytes.
    """
    data = document.data
    if isinstance(data, bytes):
        return data
    encoded = data.encode("utf-8", "surrogatepass")
    try:
        encoding = encoding_of(document.id, encoded)
    except DocumentError as error:
        raise HeaderError(f"header: {error.reason}") from None
    if encoding is not None:
        raise HeaderError(f"header: expected a text that declares no encoding, or UTF-8, found {encoding}")
    return encoded


class Producer:
    """Computes headers, for many batches with the same views."""

    def __init__(self, configurations: Configurations, limits: Limits | None = None) -> None:
        self._configurations = as_configurations(configurations)
        self._limits = limits or Limits()
        patterns = [_patterns(each) for each in self._configurations]
        self._first: list[int] = np.cumsum([0, *map(len, patterns)]).tolist()  # the number of each one's first view
        self._nodes = ViewNodes([pattern for each in patterns for pattern in each], self._limits)
        self._asks_doctype = any(each.doctype is not None for each in self._configurations)

    def attach(self, documents: Sequence[Document]) -> list[Document]:
        """The documents with their headers."""
        try:
            headers = self.headers(read(documents, self._limits))
        except Exception:  # whatever it is, it is one document's own: the others have their headers
            if len(documents) > 1:
                return [made for document in documents for made in self.attach([document])]
            headers = {}
        return [replace(document, header=headers.get(id(document))) for document in documents]

    def headers(self, table: NodeTable) -> dict[int, bytes]:
        """The headers of a batch that was read, by the identity of the document."""
        found = self._nodes.select(table)
        roots: list[int] = np.flatnonzero(table.parent[: table.elements] < 0).tolist()
        declaring = [row for row, _, _ in table.namespaces]
        headers: dict[int, bytes] = {}
        for place, (document, root) in enumerate(zip(table.documents, roots, strict=True)):
            which = self._choose(table, document, root)
            if which is not None and place not in found.unknown:
                with suppress(HeaderError):  # it can have none
                    places = NodePlaces(table, place, root, bytes_of(document), declaring)
                    headers[id(document)] = self._header(which, places, place, found).encode()
        return headers

    def _choose(self, table: NodeTable, document: Document, root: int) -> int | None:
        name = table.names[table.name[root]]
        doctype = _doctype(document) if self._asks_doctype else ()
        for which, configuration in enumerate(self._configurations):
            if configuration.is_for(name, doctype, document.stream):
                return which
        return None

    def _header(self, which: int, places: NodePlaces, place: int, found: SelectedNodes) -> Header:
        configuration, first, end = self._configurations[which], self._first[which], self._first[which + 1]
        entries = [ABSENT] * (end - first)
        views = first + len(configuration.views)  # behind them stand families: whether there is anything else
        here = found.starts[place : place + 2]
        for at in range(*(bisect_left(found.numbers, bound, *here) for bound in (first, end))):
            number, node = found.numbers[at], found.nodes[at]
            is_one = number < views and node != MANY
            entries[number - first] = places.of(node, found.owners[at]) if is_one else SEVERAL
        flags = places.is_plain * PLAIN | places.is_utf8 * UTF8
        start = max(places.of(places.root, places.root), 0)
        return Header(configuration.tag, len(places.data), check(places.data), start, tuple(entries), flags)


def _patterns(configuration: Configuration) -> list[Pattern]:
    """What the entries of a header are: the views, and what families of positions leave out."""
    return [view.pattern for view in configuration.views] + [each.beyond() for each in configuration.families]


def _doctype(document: Document) -> tuple[str, ...]:
    """All names that the DOCTYPE of a document has."""
    try:
        found = find_doctype(read_source(document))
    except DocumentError:
        return ()
    return () if found is None else tuple(each for each in (found.name, found.public, found.system) if each)
