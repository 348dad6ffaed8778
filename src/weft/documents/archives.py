"""A .zip or .tar file in; its XML files out, each with its path and its stream, in the archive's order."""

from __future__ import annotations

import stat
import tarfile
import zipfile
from collections.abc import Iterator
from io import BufferedIOBase
from pathlib import Path
from typing import BinaryIO, Literal, Self, cast

from weft.documents.chunks import UNREADABLE, reason_of
from weft.errors import DocumentError

_TAR = (".tar", ".tar.gz", ".tgz")
_WANTED = (".xml", ".xml.gz")
_LARGEST_HEADER = 1024 * 1024  # bytes: tarfile holds the long names and other notes on a member


def is_archive(name: str) -> bool:
    """Whether a file of that name holds files."""
    return name.lower().endswith((".zip", *_TAR))


def is_hidden(name: str) -> bool:
    """Whether a file or folder of that name is left out, as Spark does."""
    return name.startswith((".", "_"))


def open_members(path: str, name: str) -> Iterator[tuple[str, BufferedIOBase] | DocumentError]:
    """The members that are documents, each to be read before the next; an error for what of the archive is broken."""
    try:
        with Path(path).open("rb") as file:
            yield from _open_zip(file, name) if path.lower().endswith(".zip") else _open_tar(file, path, name)
    except OSError as error:
        yield DocumentError(name, 1, 1, 0, reason_of(error))


def _open_zip(file: BinaryIO, name: str) -> Iterator[tuple[str, BufferedIOBase] | DocumentError]:
    try:
        archive = zipfile.ZipFile(file)
    except UNREADABLE as error:
        yield _broken(name, error)
        return
    for member in archive.infolist():
        kind = stat.S_IFMT(member.external_attr >> 16)  # 0: written where files have no kinds
        if kind not in (0, stat.S_IFREG) or not _is_wanted(member.filename):
            continue
        try:
            stream = archive.open(member)
        except UNREADABLE as error:  # of this member alone: others are found without it
            yield _broken(_id(name, member.filename), error)
        else:
            with stream:
                yield _id(name, member.filename), cast(BufferedIOBase, stream)


def _open_tar(file: BinaryIO, path: str, name: str) -> Iterator[tuple[str, BufferedIOBase] | DocumentError]:
    mode: Literal["r:", "r:gz"] = "r:" if path.lower().endswith(".tar") else "r:gz"
    try:
        with tarfile.open(fileobj=file, mode=mode, tarinfo=_Member) as archive:
            while (member := archive.next()) is not None:
                archive.members.clear()  # type: ignore[attr-defined]  # it would keep them all
                if member.isreg() and _is_wanted(member.name):
                    yield _id(name, member.name), cast(BufferedIOBase, archive.extractfile(member))
    except UNREADABLE as error:
        yield _broken(name, error)


def _broken(name: str, error: Exception) -> DocumentError:
    return DocumentError(name, 1, 1, 0, f"broken archive: {reason_of(error)}")


class _Member(tarfile.TarInfo):
    """What tarfile takes for the end of an archive, although it is broken there, is an error here."""

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> Self:
        try:
            return super().fromtarfile(archive)
        except tarfile.EOFHeaderError:  # type: ignore[attr-defined]
            raise
        except tarfile.HeaderError as error:
            raise tarfile.ReadError(str(error)) from None

    @classmethod
    def frombuf(cls, header: bytes | bytearray, encoding: str, errors: str) -> Self:
        member = super().frombuf(header, encoding, errors)
        if not member.isreg() and member.size > _LARGEST_HEADER:
            raise tarfile.ReadError(f"a header of {member.size} bytes")
        return member


def _is_wanted(path: str) -> bool:
    parts = [part for part in path.split("/") if part not in ("", ".", "..")]
    return path.lower().endswith(_WANTED) and not any(is_hidden(part) for part in parts)


def _id(archive: str, member: str) -> str:
    path = member.encode("utf-8", "surrogateescape").decode("utf-8", "replace")  # an id is text, whatever the bytes
    return f"{archive}/{path.removeprefix('./').lstrip('/')}"
