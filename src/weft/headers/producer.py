"""Documents and configurations in, documents with headers out: the offsets come from the scan that validates them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from weft.columns.integers import Ints
from weft.documents.build import read
from weft.documents.doctype import find_doctype
from weft.documents.document import Document, Limits, as_documents
from weft.documents.source import encoding_of, read_source
from weft.documents.table import NodeTable
from weft.errors import DocumentError
from weft.headers.configuration import Configuration, Configurations, as_configurations
from weft.headers.document_bounds import FIRST, document_bounds
from weft.headers.header import SEVERAL, HeaderError, check, encode
from weft.headers.places import NodePlaces
from weft.headers.view_nodes import SelectedNodes, ViewNodes
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
            made += self._attach(part)
        return made

    def _attach(self, documents: Sequence[Document]) -> list[Document]:
        try:
            headers = self.headers(read(documents, self._limits))
        except Exception:  # whatever it is, it is one document's own: the others have their headers
            if len(documents) > 1:
                return [made for document in documents for made in self._attach([document])]
            headers = {}
        return [Document(it.data, it.id, it.stream, it.timestamp, headers.get(id(it))) for it in documents]

    def headers(self, table: NodeTable) -> dict[int, bytes]:
        """The headers of a batch that was read, by the identity of the document."""
        bounds = document_bounds(table)
        selected, places = self._nodes.select(table), NodePlaces(table)
        chosen: dict[int, list[int]] = {}  # by configuration: the documents that it is for
        roots = table.name.take(bounds[:, FIRST]).tolist()
        for place, (document, root) in enumerate(zip(table.documents, roots, strict=True)):
            which = self._choose(table.names[root], document)
            if which is not None:
                chosen.setdefault(which, []).append(place)
        headers: dict[int, bytes] = {}
        for which, its in self._together(chosen):
            its_bounds = bounds if len(its) == len(bounds) else bounds[its]
            nodes = selected.of(its, which, its_bounds)
            headers.update(self._headers(which, its, its_bounds, nodes, selected, places))
        return headers

    def _together(self, chosen: Mapping[int, list[int]]) -> Iterator[tuple[int, list[int]]]:
        """The documents of each configuration, so many at a time that their entries are not too many."""
        for which, its in chosen.items():
            most = max(_ENTRIES // max(self._views[which], 1), 1)
            for first in range(0, len(its), most):
                yield which, its[first : first + most]

    def _headers(
        self, which: int, its: list[int], bounds: Ints, nodes: Ints, selected: SelectedNodes, places: NodePlaces
    ) -> dict[int, bytes]:
        """The headers of the documents that a configuration is for."""
        views, tag = self._views[which], self._tags[which]
        if views < nodes.shape[1]:  # behind them stand families: whether there is anything else
            nodes[:, views:][nodes[:, views:] >= 0] = SEVERAL
        documents = places.documents
        given = [_given(documents[place]) for place in its]
        if None in given:  # documents that can have none
            kept = [at for at, data in enumerate(given) if data is not None]
            its, bounds, nodes = [its[at] for at in kept], bounds[kept], nodes[kept]
        datas = [data for data in given if data is not None]
        placed = places.of(its, bounds, datas, nodes)
        rows = zip(its, datas, placed.roots, placed.entries, placed.flags, strict=True)
        return {
            id(documents[place]): encode(tag, len(data), check(data), max(root, 0), entries, flags)
            for place, data, root, entries, flags in rows
            if selected.is_known(place)
        }

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
