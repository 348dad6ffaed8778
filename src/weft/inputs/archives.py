"""A .zip or .tar file in; its XML files out, each with its id and its stream, in the archive's order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from io import SEEK_CUR
from typing import BinaryIO

from weft.documents.document import Limits
from weft.errors import DocumentError
from weft.inputs.chunks import reason_of
from weft.inputs.tars import open_tar
from weft.inputs.unpack import ArchiveError, Gunzipped, MemberStream, Readable, UnpackingBudget
from weft.inputs.zips import open_zip

_TAR = (".tar", ".tar.gz", ".tgz")
_WANTED = (".xml", ".xml.gz")
_PIECE = 64 * 1024


def is_archive(name: str) -> bool:
    """Whether a file of that name holds files."""
    return name.lower().endswith((".zip", *_TAR))


def is_gzip(name: str) -> bool:
    """Whether a file of that name is compressed by itself."""
    return name.lower().endswith(".gz")


def is_hidden(name: str) -> bool:
    """Whether a file or folder of that name is left out, as Spark does."""
    return name.startswith((".", "_"))


def open_members(
    file: BinaryIO, path: str, name: str, limits: Limits
) -> Iterator[tuple[str, MemberStream] | DocumentError]:
    """The members that are documents, each to be read before the next; an error for what of the archive is broken.

    Where a stream raises ArchiveError nothing follows.
    """
    seen: Counter[str] = Counter()
    try:
        for member, content, budget in _open(file, path.lower(), limits):
            id = _id(name, member)
            seen[id] += 1
            if seen[id] > 1:  # an id of a document ends in .xml or .xml.gz, so this is nobody's else
                id = f"{id}#{seen[id]}"
            if isinstance(content, Exception):
                yield DocumentError(id, 1, 1, 0, reason_of(content))
            else:
                yield id, Gunzipped(content, budget) if is_gzip(member) else content
    except Exception as error:  # whatever it is, the archive cannot be read on
        yield DocumentError(name, 1, 1, 0, f"broken archive: {reason_of(error)}")


def _open(file: BinaryIO, path: str, limits: Limits) -> Iterator[tuple[str, MemberStream | Exception, UnpackingBudget]]:
    if path.endswith(".zip"):
        yield from open_zip(file, limits.max_members, limits.max_ratio, _is_wanted)
        return
    budget = UnpackingBudget(file, limits.max_ratio)
    if path.endswith(".tar"):
        members = open_tar(budget, partial(_seek, file), limits.max_members, _is_wanted)
    else:
        unpacked = Gunzipped(budget, budget)
        members = open_tar(unpacked, partial(_drop, unpacked), limits.max_members, _is_wanted)
    for member, content in members:
        yield member, content, budget


def _seek(file: BinaryIO, size: int) -> None:
    file.seek(size, SEEK_CUR)


def _drop(source: Readable, size: int) -> None:
    while size:
        piece = source.read(min(size, _PIECE))
        if not piece:
            raise ArchiveError("unexpected end of data")
        size -= len(piece)


def _is_wanted(path: str) -> bool:
    parts = [part for part in path.split("/") if part not in ("", ".", "..")]
    return path.lower().endswith(_WANTED) and not any(is_hidden(part) for part in parts)


def _id(archive: str, member: str) -> str:
    path = member.encode("utf-8", "surrogateescape").decode("utf-8", "replace")  # an id is text, whatever the bytes
    return f"{archive}/{path.removeprefix('./').lstrip('/')}"
