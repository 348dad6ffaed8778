"""Archives: whatever the bytes, some documents and rejections come of them, each with an id of its own."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from collections import Counter
from random import Random
from typing import Literal

from fuzz.case import Case, scratch
from weft.documents.document import Limits
from weft.errors import DocumentError
from weft.inputs.files import Piece, find_files, read_piece

_LIMITS = Limits(max_bytes=1 << 20)
_CONTENTS = {
    "a.xml": b"<r><item>1</item><item>2</item></r>",
    "folder/b.XML": b"<b>" + b"text " * 300 + b"</b>",
    "c.xml.gz": gzip.compress(b"<c/>", mtime=0),
    "notes.txt": b"nothing",
    "x" * 120 + ".xml": b"<long/>",
    "zeros.xml": bytes(200_000),
}
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
_FORMS = (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT)


class Archives:
    """Mutated zip, tar and gzip files."""

    words = (
        *(b"PK\1\2", b"PK\3\4", b"PK\5\6", b"PK\6\6", b"PK\6\7", b"\x1f\x8b\x08", b"BZh9", b"\x09\x04\x05\x00\x5d"),
        *(b"\xff" * 4, b"\xff" * 12, b"\0" * 4, b"\0" * 512, b"77777777777\0", b"-0000000001", b"\x80" + b"\x7f" * 11),
        *(b"ustar\x0000", b"ustar  \0", b"L", b"x", b"g", b"S", b"K", b"0", b"5", b"size=-512\n", b"30 size=-1\n"),
        *(b"GNU.sparse.major=1\n", b"13 path=a.xml\n", b".xml", b".xml.gz", b"../", b"/", b"\xff\xfe"),
    )
    most_memory = 400

    def __init__(self) -> None:
        self._folder = scratch()
        self._good = self.seeds()

    def seeds(self) -> list[Case]:
        zips = [Case(_zip(method), ".zip") for method in _METHODS]
        tars = [Case(_tar(form, "w:"), ".tar") for form in _FORMS]
        gzips = [Case(gzip.compress(data, mtime=0), ".xml.gz") for data in (b"<a/>", b"<a>" + b"b" * 500 + b"</a>")]
        return [*zips * 2, *tars * 2, Case(_tar(tarfile.PAX_FORMAT, "w:gz"), ".tgz"), *gzips]

    def fresh(self, chance: Random) -> Case:
        return chance.choice(self._good)

    def check(self, case: Case) -> None:
        data = _with_checksums(case.data) if case.suffix == ".tar" else case.data
        path = self._folder / f"x{case.suffix}"
        path.write_bytes(data)
        (file,) = find_files(path)
        for row_tag in (None, "item"):
            found = list(read_piece(Piece(file), row_tag, _LIMITS, 10_000))
            ids = [entry.document if isinstance(entry, DocumentError) else entry.id for entry in found]
            assert row_tag or max(Counter(ids).values(), default=0) < 2, f"one id twice: {ids}"
            assert ids.count(file.id) <= 1, "an archive is told more than once"
            for entry in found:
                assert isinstance(entry, DocumentError) or len(entry.data) <= _LIMITS.max_bytes
                assert not isinstance(entry, DocumentError) or "Error:" not in entry.reason, entry.reason


def _zip(method: int) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", method) as archive:
        for name, data in _CONTENTS.items():
            archive.writestr(zipfile.ZipInfo(name), data, method)
    return written.getvalue()


def _tar(form: int, mode: Literal["w:", "w:gz"]) -> bytes:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode=mode, format=form) as archive:
        for name, data in _CONTENTS.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            if len(name) < 100 or form != tarfile.USTAR_FORMAT:
                archive.addfile(member, io.BytesIO(data))
    return written.getvalue()


def _with_checksums(data: bytes) -> bytes:
    """Headers whose checksum is right, so that the rest of them is read; every other case stays as it is."""
    if sum(data[:64]) % 2:
        return data
    whole = bytearray(data)
    for at in range(0, len(whole) - 511, 512):
        if whole[at + 257 : at + 262] == b"ustar":
            whole[at + 148 : at + 156] = b" " * 8
            whole[at + 148 : at + 156] = b"%06o\0 " % sum(whole[at : at + 512])
    return bytes(whole)
