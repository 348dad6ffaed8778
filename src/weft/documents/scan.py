"""Documents in, the columns of their nodes out; what cannot be read is rejected and leaves no trace.

Documents are scanned by the kernel, many at a time. Whatever it is not sure of is read by expat, one document alone.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, NamedTuple
from xml.parsers import expat

import numpy as np
from numpy.typing import NDArray

from weft.columns.integers import Ints, Longs
from weft.documents.doctype import find_doctype
from weft.documents.document import Document, Limits
from weft.documents.document_column import ColumnSources, DocumentColumn
from weft.documents.expat_scan import ExpatScan
from weft.documents.names import SEPARATOR, NameTable
from weft.documents.rewrite import without_doctype
from weft.documents.source import SourceBytes, read_source
from weft.documents.tags import refuse_floods
from weft.errors import DocumentError, failure_of
from weft.kernel import Scanner
from weft.kernel.name_paths import NamePaths

_Given = list[Document] | DocumentColumn
_threads = threading.local()


@dataclass(frozen=True, slots=True)
class Scanned:
    """The documents of a batch that could be read, and their nodes as columns that go by `names`."""

    documents: Sequence[Document]
    sources: Sequence[bytes]
    rejected: tuple[DocumentError, ...]
    names: NameTable
    columns: dict[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class DocumentPaths:
    """The documents of a batch that could be read, and the paths of names that each has: all that some queries ask for.

    `found` are numbers of `paths`, each once a document, parents before what is below them; those of a document
    begin where `begins` says. Names are numbers of `names`.
    """

    documents: Sequence[Document]
    rejected: tuple[DocumentError, ...]
    names: NameTable
    paths: NamePaths
    found: Ints
    begins: Ints


class DocumentOffsets(NamedTuple):
    """The same of documents that the kernel reads by itself, and where in its source the one node of each path begins.

    `sources` are in UTF-8. `offsets` has an entry for each of `found`, SEVERAL where the document has several nodes
    with the path. `roots` has for each document the number of its root's name, its offset, and whether elements below
    it declare namespaces. `left` are the documents that are in doubt, of which nothing is told.
    """

    documents: Sequence[Document]
    sources: Sequence[bytes]
    names: NameTable
    paths: NamePaths
    found: Ints
    begins: Ints
    offsets: Longs
    roots: list[tuple[int, int, bool]]
    left: list[Document]


_MOST_PATHS = 100_000  # of a scanner before the next batch begins with another one


def scan_paths(documents: Iterable[Document], limits: Limits, *, attributes: bool, texts: bool) -> DocumentPaths:
    """Scan a batch for paths of names alone: those of elements, and of attributes and texts where these are asked for.

    Whatever a document is rejected for is the same as in `scan`, and told in the same way.
    """
    batch = _in_order(documents)
    scanner, names = _threads.__dict__.pop("kept", None) or _begin()
    scanner.narrow(len(batch), attributes, texts, False)
    scanned = _BatchScan(scanner, names, limits, compiled=True)
    scanned.add(batch)
    found, begins = scanner.take_paths()
    _keep(scanner, names)
    return DocumentPaths(scanned.documents, tuple(scanned.rejected), names, scanner.paths, found, begins)


def scan_offsets(documents: Iterable[Document], limits: Limits, *, attributes: bool, texts: bool) -> DocumentOffsets:
    """Scan a batch for paths of names, and where the nodes begin that are the only ones with theirs in a document.

    Whatever the kernel is in doubt about, and so all that is wrong, is `left`: for a scan that knows more.
    """
    batch = list(documents)
    scanner, names = _threads.__dict__.pop("kept", None) or _begin()
    scanner.narrow(len(batch), attributes, texts, True)
    scanned = _BatchScan(scanner, names, limits, compiled=True)
    left = scanned.add_certain(batch)
    found, begins = scanner.take_paths()
    offsets, roots = scanner.paths.take_offsets()
    _keep(scanner, names)
    read = scanned.documents, scanned.sources
    return DocumentOffsets(*read, names, scanner.paths, found, begins, offsets, roots, left)


def scan(documents: Iterable[Document], limits: Limits, *, compiled: bool = True) -> Scanned:
    """Scan a batch; if not `compiled`, expat alone reads it: what the kernel is compared with.

    Each thread has a scanner and a name table of its own; one that did not come to its end is not used again.
    """
    scanner, names = _threads.__dict__.pop("kept", None) or _begin()
    batch = _BatchScan(scanner, names, limits, compiled)
    batch.add(_in_order(documents))
    scanned = Scanned(batch.documents, batch.sources, tuple(batch.rejected), names, scanner.take())
    _keep(scanner, names)
    return scanned


def _in_order(documents: Iterable[Document]) -> _Given:
    return documents if isinstance(documents, DocumentColumn) else list(documents)


def _begin() -> tuple[Scanner, NameTable]:
    names = NameTable()
    return Scanner(names), names


def _keep(scanner: Scanner, names: NameTable) -> None:
    """Begin the next batch of this thread with what this one knew, unless that is too much."""
    if not names.is_full and len(scanner.paths) < _MOST_PATHS:
        _threads.kept = scanner, names


class _BatchScan:
    """A batch while it is scanned."""

    def __init__(self, scanner: Scanner, names: NameTable, limits: Limits, compiled: bool) -> None:
        self._scanner, self._names, self._limits, self._compiled = scanner, names, limits, compiled
        self.documents: Sequence[Document] = ()
        self.sources: Sequence[bytes] = ()
        self.rejected: list[DocumentError] = []
        scanner.limit(limits.max_depth, limits.max_attributes, limits.max_nodes)

    def add(self, batch: _Given) -> None:
        """Scan documents; one that is bad goes to `rejected` and nothing of it stays."""
        scanner, number = self._scanner, len(batch)
        sources = self._place_column(batch) if isinstance(batch, DocumentColumn) else self._place(batch)
        is_read, at = [True] * number, 0
        while (at := scanner.scan(at, number) if self._compiled else at) < number:
            try:
                sources[at] = self._read(batch[at], at)
            except DocumentError as error:
                self._reject(error.told())
                is_read[at] = False
            except Exception as error:  # whatever it is, it is this document's own: the others go on
                self._reject(DocumentError(batch[at].id, 1, 1, 0, failure_of(error)))
                is_read[at] = False
            at += 1
        if isinstance(batch, DocumentColumn) and isinstance(sources, ColumnSources):
            flags = np.array(is_read, bool)
            self.documents, self.sources = batch.kept(flags), sources.kept(flags)
        else:
            self.documents, self.sources = tuple(compress(batch, is_read)), tuple(compress(sources, is_read))

    def add_certain(self, batch: list[Document]) -> list[Document]:
        """Scan the documents that the kernel reads by itself, and give back the others."""
        scanner, number = self._scanner, len(batch)
        sources = self._place(batch)
        is_read, at = [True] * number, 0
        while (at := scanner.scan(at, number)) < number:
            is_read[at] = False
            at += 1
        if all(is_read):
            self.documents, self.sources = tuple(batch), tuple(sources)
            return []
        self.documents, self.sources = tuple(compress(batch, is_read)), tuple(compress(sources, is_read))
        return [document for document, known in zip(batch, is_read, strict=True) if not known]

    def _reject(self, error: DocumentError) -> None:
        self._scanner.cut_document()
        self.rejected.append(error)

    def _place(self, batch: list[Document]) -> list[bytes]:
        """The documents as UTF-8, for the kernel to be scanned; nothing of one with which something is wrong.

        What it is, is told when the document's turn comes.
        """
        if not self._compiled:
            return [b""] * len(batch)
        most = self._limits.max_bytes

        def source_of(at: int) -> bytes:
            try:
                source = read_source(batch[at]).data if len(batch[at].data) <= most else b""
            except Exception:
                return b""
            return source if len(source) <= most else b""

        return self._scanner.place([document.data for document in batch], most, source_of)

    def _place_column(self, batch: DocumentColumn) -> ColumnSources:
        """The same of a column."""
        if not self._compiled:
            return ColumnSources(batch, {})
        sizes, most = batch.sizes, self._limits.max_bytes

        def source_of(at: int) -> bytes:
            try:
                source = batch.source_of(at) if sizes[at] <= most else b""
            except Exception:
                return b""
            return source if len(source) <= most else b""

        return ColumnSources(batch, self._scanner.place_column(*batch.placed, most, source_of))

    # -- one document that is in doubt

    def _read(self, document: Document, at: int) -> bytes:
        self._check_size(document.id, len(document.data))
        source = read_source(document)
        self._check_size(document.id, len(source.data))
        refuse_floods(source, self._limits)
        doctype = find_doctype(source)
        if doctype is not None and self._limits.doctype == "reject":
            raise source.error(doctype.start, "a DOCTYPE is not allowed here")
        if doctype is None or doctype.is_empty:
            self._read_by_expat(source)
            return source.data
        rewritten = without_doctype(source, doctype, self._limits)
        if not self._is_scanned(rewritten.data, at):
            self._read_rewritten(source, rewritten)
        return rewritten.data

    def _check_size(self, document: str, size: int) -> None:
        if size > self._limits.max_bytes:
            raise DocumentError(document, 1, 1, 0, f"{size} bytes, more than {self._limits.max_bytes}")

    def _is_scanned(self, rewritten: bytes, at: int) -> bool:
        if not self._compiled:
            return False
        self._scanner.replace(at, rewritten)
        return self._scanner.scan(at, at + 1) > at

    def _read_by_expat(self, source: SourceBytes) -> None:
        ExpatScan(source, self._limits, self._scanner, self._names).read()
        self._scanner.end_document()

    def _read_rewritten(self, source: SourceBytes, rewritten: SourceBytes) -> None:
        try:
            self._read_by_expat(rewritten)
        except DocumentError as error:
            # Only a name's prefix can be wrong now; the document as given tells where.
            parser = expat.ParserCreate("utf-8", SEPARATOR)
            try:
                parser.Parse(source.data, True)
            except expat.ExpatError:
                raise source.error(parser.ErrorByteIndex, error.reason) from None
            raise
