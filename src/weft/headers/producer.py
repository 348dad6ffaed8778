"""Documents and configurations in, documents with headers out: the offsets come from the scan that validates them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from weft.documents.build import read
from weft.documents.doctype import find_doctype
from weft.documents.document import Document, Limits, as_documents
from weft.documents.scan import scan_offsets
from weft.documents.source import encoding_of, read_source
from weft.documents.table import NodeTable
from weft.errors import DocumentError
from weft.headers.configuration import Configuration, Configurations, as_configurations
from weft.headers.header import HeaderError, encode_all
from weft.headers.path_automaton import TooManyStatesError
from weft.headers.view_nodes import ViewNodes
from weft.headers.view_offsets import OffsetsFromNodes, OffsetsFromPaths
from weft.plans.plan import Pattern

_AT_ONCE = 1 << 19  # bytes, or one document, that are scanned before their headers are made
_ENTRIES = 1 << 16  # of headers that are made together: documents may be very small, and views very many


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
        self._nodes = ViewNodes([_patterns(each) for each in self._configurations], self._limits)
        self._views = [len(each.views) for each in self._configurations]
        self._tags = [each.tag for each in self._configurations]
        self._seeds = [each.seed for each in self._configurations]
        # By root, those that may be for a document, in their order: there is no look at the others.
        self._by_root: dict[str, list[int]] = {each.root: [] for each in self._configurations if each.root is not None}
        self._for_any_root: list[int] = []
        for which, each in enumerate(self._configurations):
            every_root = [*self._by_root.values(), self._for_any_root]
            for may_be in every_root if each.root is None else [self._by_root[each.root]]:
                may_be.append(which)

    def attach(self, documents: Sequence[Document]) -> list[Document]:
        """The documents with their headers."""
        made: list[Document] = []
        for part in _parts(documents):
            made += map(Document.with_header, part, self._read(part))
        return made

    def _read(self, documents: Sequence[Document]) -> list[bytes | None]:
        """The headers of documents, which are read no further than their views ask for."""
        try:
            if self._nodes.are_paths:
                return self._read_paths(documents)
            known = self.headers(read(documents, self._limits))
        except Exception:  # whatever it is, it is one document's own: the others have their headers
            if len(documents) > 1:
                return [header for document in documents for header in self._read([document])]
            return [None]
        return [known.get(id(document)) for document in documents]

    def _read_paths(self, documents: Sequence[Document]) -> list[bytes | None]:
        """The headers by a narrow scan; of what that leaves by a node table."""
        nodes = self._nodes
        scanned = scan_offsets(documents, self._limits, attributes=nodes.has_attributes, texts=nodes.has_texts)
        try:
            found = self._headers(OffsetsFromPaths(nodes, scanned))
        except TooManyStatesError:
            return self._read(documents)
        if not scanned.left:
            return found
        known = dict(zip(map(id, scanned.documents), found, strict=True))
        known.update(self.headers(read(scanned.left, self._limits)))
        return [known.get(id(document)) for document in documents]

    def headers(self, table: NodeTable) -> dict[int, bytes]:
        """The headers of a batch that was read, by the identity of the document."""
        found = zip(table.documents, self._headers(OffsetsFromNodes(self._nodes, table)), strict=True)
        return {id(document): header for document, header in found if header is not None}

    def _headers(self, offsets: OffsetsFromNodes | OffsetsFromPaths) -> list[bytes | None]:
        """The headers of documents, in their order."""
        documents = offsets.documents
        headers: list[bytes | None] = [None] * len(documents)
        for which, chosen in self._chosen(offsets):
            given = [_given(documents[place]) for place in chosen]
            datas = [data for data in given if data is not None]
            its = chosen
            if len(datas) < len(given):  # documents that can have none
                its = [place for place, data in zip(chosen, given, strict=True) if data is not None]
            placed = offsets.of(which, its, datas, self._views[which])
            tag, seed = self._tags[which], self._seeds[which]
            made = encode_all(tag, seed, datas, placed.roots, placed.entries, placed.flags)
            for place, header in zip(its, made, strict=True):
                headers[place] = header
        for place in offsets.unknown:
            headers[place] = None
        return headers

    def _chosen(self, offsets: OffsetsFromNodes | OffsetsFromPaths) -> Iterator[tuple[int, list[int]]]:
        """The documents of each configuration, so many at a time that their entries are not too many."""
        chosen: dict[int, list[int]] = {}
        for place, (document, root) in enumerate(zip(offsets.documents, offsets.roots, strict=True)):
            which = self._choose(root, document)
            if which is not None:
                chosen.setdefault(which, []).append(place)
        for which, its in chosen.items():
            most = max(_ENTRIES // max(self._views[which], 1), 1)
            for first in range(0, len(its), most):
                yield which, its[first : first + most]

    def _choose(self, root: str, document: Document) -> int | None:
        """The configuration that is for a document."""
        doctype: tuple[str, ...] | None = None
        for which in self._by_root.get(root, self._for_any_root):
            configuration = self._configurations[which]
            if configuration.doctype is not None and doctype is None:
                doctype = _doctype(document)
            if configuration.is_for(root, doctype or (), document.stream):
                return which
        return None


def _given(document: Document) -> bytes | None:
    """The bytes that a header is for; None where a document can have none."""
    if type(document.data) is bytes:
        return document.data
    try:
        return bytes_of(document)
    except HeaderError:
        return None


def _parts(documents: Sequence[Document]) -> Iterator[Sequence[Document]]:
    """Documents, few at a time: what was just scanned is still at hand when its checksum is taken."""
    first = size = 0
    for at, document in enumerate(documents):
        if size and size + len(document.data) > _AT_ONCE:
            yield documents[first:at]
            first, size = at, 0
        size += len(document.data)
    yield documents[first:]


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
