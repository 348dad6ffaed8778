"""Files and folders as sources: their documents are read and questions evaluated in this process."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path

from weft.documents.document import Document, Limits
from weft.errors import DocumentError
from weft.inputs.archives import is_archive, is_gzip
from weft.inputs.chunks import reason_of
from weft.inputs.files import File, Piece, find_files, read_piece
from weft.views.sources.rates import Rates
from weft.views.sources.root import LOOK, root_of
from weft.views.sources.source import Answer, Measure, Question, SourceError, answer_here

_LOOKED_AT = 1_000  # documents whose root is looked at to name a folder


class LocalSource:
    """The documents of a file or of a folder; a token is what the file system tells of a file.

    The name is the root element of the documents. Of a folder up to 1,000 are looked at for it; one whose documents
    have several roots must be given a name, and is asked as a whole whatever roots it has then.
    """

    def __init__(self, path: str | Path, name: str | None = None, limits: Limits | None = None) -> None:
        self._path = Path(path)
        self._name, self._is_named = name, name is not None
        self._limits = limits or Limits()
        self._members: dict[str, tuple[str, list[str]]] = {}  # by archive its token and the ids of what it holds

    @property
    def name(self) -> str:
        """The root element, which names the source."""
        if self._name is None:
            self._name = self._find_name()
        return self._name

    @property
    def root(self) -> str | None:
        """The root element, unless another name was given."""
        return None if self._is_named else self.name

    @property
    def location(self) -> str:
        """The absolute path."""
        return str(self._path.absolute())

    def tokens(self) -> Mapping[str, str]:
        """The documents, in the order of their ids, with what the file system tells of their files."""
        files, _ = self._find()
        return {id: token for file, token in files for id in self._ids(file, token)}

    def fetch(self, documents: Sequence[str] | None = None) -> list[Document]:
        """The documents that can be read, all or some."""
        wanted = None if documents is None else set(documents)
        files, _ = self._find()
        entries = self._read(file for file, _ in files if wanted is None or _may_hold(file, wanted))
        return [entry for entry in entries if isinstance(entry, Document) and (wanted is None or entry.id in wanted)]

    def answer(self, questions: Sequence[Question]) -> Answer:
        """The nodes that questions ask for."""
        name = self.name
        files, refused = self._find()
        tokens = {id: token for file, token in files for id in self._ids(file, token)}
        entries = chain(refused, self._read(file for file, _ in files))
        return answer_here(name, entries, tokens, questions, self._limits)

    def measure(self, questions: Sequence[Question]) -> tuple[Measure, ...]:
        """How large the answers are."""
        return self.answer(questions).measures()

    def hints(self) -> Rates | None:
        """Nothing: what is here is measured."""
        return None

    def _find(self) -> tuple[list[tuple[File, str]], list[DocumentError]]:
        """The files with their tokens, and what of the folder cannot be looked into."""
        refused: list[DocumentError] = []

        def refuse(path: str, error: Exception) -> None:
            if path == str(self._path):
                raise self._error(reason_of(error)) from None
            refused.append(DocumentError(path, 1, 1, 0, reason_of(error)))

        found = []
        for file in find_files(self._path, refuse):
            try:
                found.append((file, _token_of(Path(file.path))))
            except OSError:
                continue  # gone since it was found
        return found, refused

    def _ids(self, file: File, token: str) -> list[str]:
        if not is_archive(file.path):
            return [file.id]
        known = self._members.get(file.id)
        if known is None or known[0] != token:
            entries = self._read((file,))
            known = token, [entry.id if isinstance(entry, Document) else entry.document for entry in entries]
            self._members[file.id] = known
        return known[1]

    def _read(self, files: Iterable[File]) -> Iterator[Document | DocumentError]:
        for file in files:
            yield from read_piece(Piece(file), None, self._limits)

    # -- its name

    def _find_name(self) -> str:
        files, refused = self._find()
        roots: dict[str, str] = {}  # by root the first document that has it
        unread = [*refused]
        for found in islice(self._roots(file for file, _ in files), _LOOKED_AT):
            if isinstance(found, DocumentError):
                unread.append(found)
            else:
                roots.setdefault(found[0], found[1])
        if len(roots) > 1:
            told = ", ".join(f"{root} ({id})" for root, id in islice(roots.items(), 5))
            raise self._error(
                f"expected documents with one root element, which names the source, found {told}; give it a name"
            )
        if not roots:
            raise self._error(str(unread[0]) if unread else "no documents, whose root element names the source")
        return next(iter(roots))

    def _roots(self, files: Iterable[File]) -> Iterator[tuple[str, str] | DocumentError]:
        """Roots with ids of documents, by as few bytes of each as will do."""
        for file in files:
            if not is_archive(file.path) and (root := _root_in_head(file)) is not None:
                yield root, file.id
                continue
            yield from map(_root_in, read_piece(Piece(file), None, self._limits))

    def _error(self, reason: str) -> SourceError:
        return SourceError(self._name or self.location, reason)


class FileSource(LocalSource):
    """One XML file, which may be compressed (.gz)."""

    def __init__(self, path: str | Path, name: str | None = None, limits: Limits | None = None) -> None:
        super().__init__(path, name, limits)
        if self._path.is_dir():
            raise self._error("expected a file, found a folder")

    def answer(self, questions: Sequence[Question]) -> Answer:
        """The nodes that questions ask for; raises SourceError if the file cannot be read."""
        answer = super().answer(questions)
        if answer.rejected:
            raise SourceError(self.name, str(answer.rejected[0]))
        return answer


class DirectorySource(LocalSource):
    """All documents below a folder, or in an archive, in the order of their ids."""

    def __init__(self, path: str | Path, name: str | None = None, limits: Limits | None = None) -> None:
        super().__init__(path, name, limits)
        if not self._path.is_dir() and not is_archive(str(self._path)):
            raise self._error("expected a folder or an archive" + (", found a file" if self._path.exists() else ""))


def _token_of(path: Path) -> str:
    status = path.stat()
    # A file that is replaced by one of the same size and time is another inode; one that is given back the time it
    # had has another time of change.
    return f"{status.st_mtime_ns:x}-{status.st_ctime_ns:x}-{status.st_size:x}-{status.st_ino:x}"


def _may_hold(file: File, wanted: set[str]) -> bool:
    return file.id in wanted or (is_archive(file.path) and any(id.startswith(f"{file.id}/") for id in wanted))


def _root_in_head(file: File) -> str | None:
    """The root by the first bytes of a file; None if these do not tell, and reading it all will tell why."""
    if not Path(file.path).is_file():
        return None  # a pipe would be waited for
    try:
        with gzip.open(file.path) if is_gzip(file.path) else Path(file.path).open("rb") as opened:
            return root_of(file.id, opened.read(LOOK))
    except (OSError, EOFError, zlib.error, DocumentError):
        return None


def _root_in(entry: Document | DocumentError) -> tuple[str, str] | DocumentError:
    if isinstance(entry, DocumentError):
        return entry
    assert isinstance(entry.data, bytes), "it was read from a file"
    try:
        root = root_of(entry.id, entry.data)
    except DocumentError as error:
        return error
    return DocumentError(entry.id, 1, 1, 0, "no element found") if root is None else (root, entry.id)
