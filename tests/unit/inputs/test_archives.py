"""Archives that lie, break off or explode: one clear rejection, bounded time and memory, and nothing else is lost."""

import bz2
import gzip
import io
import json
import lzma
import os
import select
import signal
import struct
import subprocess
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import examples
from weft.documents import Document, Limits
from weft.errors import ConfigurationError, DocumentError
from weft.inputs.files import Piece, find_files, read_piece

LIMITS = Limits()
SECONDS = 120  # an archive may take, on a machine that is busy; all of these take far less
MOST_MEMORY = 200  # MB: of the interpreter, of the largest document that there may be, and of what unpacks it
LARGE = 160  # MB that a bomb holds: more than Limits allow, and with the interpreter more than these tests do
#: A process for each line of the input, forked once Weft is imported: that takes longer than most archives do.
READ = """
import json, os, re, sys
from weft.inputs.files import Piece, find_files, read_piece
from weft.errors import DocumentError

def read(path, row_tag):
    found = [entry for file in find_files(path) for entry in read_piece(Piece(file), row_tag or None)]
    told = [[each.document, each.reason] for each in found if isinstance(each, DocumentError)]
    peak = int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) // 1024
    return [[each.id for each in found if not isinstance(each, DocumentError)], told, peak]

for line in sys.stdin:
    if os.fork() == 0:
        print(json.dumps(read(*json.loads(line))), flush=True)
        os._exit(0)
    if os.wait()[1]:
        print("null", flush=True)
"""


class Outcome(NamedTuple):
    """What a process of its own made of an archive."""

    documents: list[str]
    rejected: list[list[str]]
    megabytes: int


def in_a_process(path: Path, row_tag: str = "") -> Outcome:
    """Read it where neither a loop nor the memory that it takes can harm the tests."""
    reader = reader_process()
    assert reader.stdin is not None
    assert reader.stdout is not None
    reader.stdin.write(json.dumps([str(path), row_tag]) + "\n")
    reader.stdin.flush()
    if not select.select([reader.stdout], [], [], SECONDS)[0]:
        os.killpg(reader.pid, signal.SIGKILL)
        reader_process.cache_clear()
        pytest.fail(f"not read within {SECONDS} seconds")
    answer = json.loads(reader.stdout.readline())
    assert answer is not None, "the process that read it failed"
    return Outcome(*answer)


@cache
def reader_process() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", READ], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    )


@pytest.fixture(scope="module", autouse=True)
def _the_reader_ends_with_the_tests() -> Iterator[None]:
    yield
    if reader_process.cache_info().currsize:
        reader_process().communicate(timeout=SECONDS)
        reader_process.cache_clear()


def entries(path: Path, row_tag: str | None = None, limits: Limits = LIMITS) -> list[Any]:
    found = [entry for file in find_files(path) for entry in read_piece(Piece(file), row_tag, limits, 4_096)]
    return [entry.args if isinstance(entry, DocumentError) else (entry.id, entry.data) for entry in found]


def reasons(path: Path, row_tag: str | None = None, limits: Limits = LIMITS) -> list[tuple[str, str]]:
    """Of all that is read there must be rejections alone."""
    return [(entry[0], entry[4]) for entry in entries(path, row_tag, limits)]


# -- tar


def header(name: bytes, size: bytes, kind: bytes = b"0") -> bytes:
    """A header with a size as it is written, and the right checksum."""
    block = bytearray(512)
    block[: len(name)] = name
    block[124 : 124 + len(size)] = size
    block[156:157] = kind
    block[257:265] = b"ustar\x0000"
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 512)


def pax(*records: tuple[bytes, bytes], kind: bytes = b"x") -> bytes:
    notes = b""
    for key, value in records:
        size = len(key) + len(value) + 3
        length = size + len(str(size + len(str(size))))
        notes += b"%d %b=%b\n" % (length, key, value)
    return header(b"notes", b"%011o" % len(notes), kind) + padded(notes)


GOOD = header(b"good.xml", b"%011o" % 4) + padded(b"<a/>")
BAD = header(b"bad.xml", b"%011o" % 4)
END = bytes(1024)
NEGATIVE = b"\xff" * 10 + b"\xfe\x00"  # minus 512: back to where it stands


@pytest.mark.parametrize(
    ("member", "reason"),
    [
        (header(b"bad.xml", NEGATIVE), "broken archive: a member of -512 bytes"),
        (header(b"bad.txt", NEGATIVE), "broken archive: a member of -512 bytes"),
        (pax((b"size", b"-512")) + BAD, "broken archive: a member of '-512' bytes"),
        (pax((b"size", b"9" * 5_000)) + BAD, f"broken archive: a member of '{'9' * 20}' bytes"),
        (header(b"bad.txt", b"\x80" + b"\x7f" * 11), "broken archive: "),
        (header(b"bad.txt", b"77777777777"), "broken archive: unexpected end of data"),
        (header(b"bad", b"%011o" % (2 << 20), b"L"), "broken archive: a header of 2097152 bytes"),
        (header(b"bad", b"77777777777", b"x"), "broken archive: a header of 8589934591 bytes"),
        (header(b"bad", b"%011o" % 5, b"x") + padded(b"3 a=b"), "broken archive: broken notes on a member"),
        (header(b"bad", b"%011o" % 7, b"x") + padded(b"0 a=bc\n"), "broken archive: broken notes on a member"),
        (header(b"bad", b"%011o" % 7, b"x") + padded(b"99 a=b\n"), "broken archive: broken notes on a member"),
        (header(b"bad.xml", b"12x4567"), "broken archive: expected a number in a header, found b'12x4567'"),
    ],
)
@pytest.mark.parametrize("name", ["x.tar", "x.tgz"])
def test_a_tar_file_that_lies_is_one_rejection_behind_what_could_be_read(
    name: str, member: bytes, reason: str, tmp_path: Path
) -> None:
    data = GOOD + member + GOOD + END
    (tmp_path / name).write_bytes(data if name == "x.tar" else gzip.compress(data))

    found = in_a_process(tmp_path)

    assert found.documents == [f"{name}/good.xml"]
    (told,) = found.rejected
    assert told[0] == name
    assert told[1].startswith(reason)


@pytest.mark.parametrize("name", ["x.tar", "x.tgz"])
def test_a_member_that_is_larger_than_the_file_is_told_once(name: str, tmp_path: Path) -> None:
    data = GOOD + header(b"bad.xml", b"77777777777") + padded(b"<a/>") + END
    (tmp_path / name).write_bytes(data if name == "x.tar" else gzip.compress(data))

    good, told = entries(tmp_path)

    assert good == (f"{name}/good.xml", b"<a/>")
    assert told[::4] == (f"{name}/bad.xml", "unexpected end of data")


@pytest.mark.parametrize(
    "member",
    [
        header(b"bad.xml", b"%011o" % 4, b"S") + padded(b"<a/>"),
        pax((b"GNU.sparse.major", b"1"), (b"GNU.sparse.name", b"bad.xml")) + header(b"x", b"%011o" % 4) + padded(b"0"),
    ],
)
def test_a_sparse_file_is_told_and_takes_no_other_with_it(member: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.tar").write_bytes(GOOD + member + GOOD + END)

    assert entries(tmp_path) == [
        ("x.tar/good.xml", b"<a/>"),
        ("x.tar/bad.xml", 1, 1, 0, "a sparse file, which no XML document is"),
        ("x.tar/good.xml#2", b"<a/>"),
    ]


def test_headers_of_a_sparse_file_are_passed_by(tmp_path: Path) -> None:
    sparse = bytearray(header(b"bad.xml", b"%011o" % 4, b"S"))
    sparse[482] = 1
    sparse[148:156] = b" " * 8
    sparse[148:156] = b"%06o\0 " % sum(sparse)
    more = bytes(504) + b"\1" + bytes(7)
    (tmp_path / "x.tar").write_bytes(bytes(sparse) + more + bytes(512) + padded(b"<a/>") + GOOD + END)

    assert [entry[0] for entry in entries(tmp_path)] == ["x.tar/bad.xml", "x.tar/good.xml"]


@pytest.mark.parametrize("kind", list("123456"))
def test_what_is_no_file_has_no_content_whatever_its_size(kind: str, tmp_path: Path) -> None:
    (tmp_path / "x.tar").write_bytes(header(b"bad.xml", b"77777777777", kind.encode()) + GOOD + END)

    assert entries(tmp_path) == [("x.tar/good.xml", b"<a/>")]


def test_notes_of_a_megabyte_that_a_pattern_would_search_for_hours_are_read_at_once(tmp_path: Path) -> None:
    notes = b"1" * 1_000_000
    (tmp_path / "x.tar").write_bytes(header(b"notes", b"%011o" % len(notes), b"x") + padded(notes) + GOOD + END)

    assert in_a_process(tmp_path).rejected == [["x.tar", "broken archive: broken notes on a member"]]


def test_very_many_notes_before_a_member_are_read_without_recursion(tmp_path: Path) -> None:
    (tmp_path / "x.tar").write_bytes(pax((b"path", b"last.xml")) * 5_000 + GOOD + END)

    assert entries(tmp_path) == [("x.tar/last.xml", b"<a/>")]


names = st.text(st.characters(codec="utf-8", exclude_characters="\0/"), min_size=1, max_size=130)
contents = st.binary(max_size=2_000) | st.binary(max_size=3).map(lambda data: data * 5_000)


@pytest.mark.slow
@given(
    st.lists(st.tuples(names, contents), max_size=4),
    st.sampled_from([tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT]),
    st.sampled_from(["w:", "w:gz"]),
)
def test_a_tar_file_is_read_as_python_reads_it(
    members: list[tuple[str, bytes]], form: int, mode: Literal["w:", "w:gz"]
) -> None:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode=mode, format=form) as archive:
        for number, (name, data) in enumerate(members):
            member = tarfile.TarInfo(f"folder{number}/d{name}.xml")
            member.size = len(data)
            if len(member.name.encode()) < 100 or form != tarfile.USTAR_FORMAT:
                archive.addfile(member, io.BytesIO(data))
    with tarfile.open(fileobj=io.BytesIO(written.getvalue())) as archive:
        files = [(each.name, archive.extractfile(each)) for each in archive.getmembers()]
        expected = [(f"x/{name}", file.read() if file else b"") for name, file in files]

    assert read_bytes(written.getvalue(), "x.tgz" if mode == "w:gz" else "x.tar") == expected


def read_bytes(data: bytes, name: str) -> list[tuple[str, bytes]]:
    """The members of an archive that is whole."""
    path = FOLDER / name
    path.write_bytes(data)
    found = [entry for entry in read_piece(Piece(find_files(path)[0]), None, chunk=777) if isinstance(entry, Document)]
    return [(entry.id.replace(name, "x", 1), entry.data) for entry in found if isinstance(entry.data, bytes)]


# -- zip


@cache
def deflated(size: int) -> tuple[int, bytes]:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return 8, b"".join([*(packer.compress(bytes(1 << 20)) for _ in range(size)), packer.flush()])


@cache
def bzipped(size: int) -> tuple[int, bytes]:
    packer = bz2.BZ2Compressor()
    return 12, b"".join([*(packer.compress(bytes(1 << 20)) for _ in range(size)), packer.flush()])


@cache
def lzmaed(size: int, dictionary: int = 1 << 20) -> tuple[int, bytes]:
    packer = lzma.LZMACompressor(lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_LZMA1, "preset": 0}])
    packed = b"".join([*(packer.compress(bytes(1 << 20)) for _ in range(size)), packer.flush()])
    return 14, struct.pack("<BBHBI", 9, 4, 5, 93, dictionary) + packed


def raw_zip(*members: tuple[bytes, int, bytes, int, int], repeat: int = 1) -> bytes:
    """A zip file of names, methods, packed bytes, checksums and sizes as they are given; each listed so many times."""
    data = directory = b""
    for name, method, packed, checksum, size in members:
        both = struct.pack("<5H3L2H", 20, 0, method, 0, 33, checksum, len(packed), size, len(name), 0)
        entry = b"PK\1\2" + struct.pack("<H", 20) + both + struct.pack("<3H2L", 0, 0, 0, 0, len(data)) + name
        directory += entry * repeat
        data += b"PK\3\4" + both + name + packed
    number = len(members) * repeat
    return data + directory + b"PK\5\6" + struct.pack("<4H2LH", 0, 0, number, number, len(directory), len(data), 0)


GOOD_MEMBER = (b"good.xml", 0, b"<a/>", zlib.crc32(b"<a/>"), 4)


@pytest.mark.slow
@pytest.mark.parametrize("make", [deflated, bzipped, lzmaed])
@pytest.mark.parametrize("row_tag", ["", "item"])
def test_a_zip_bomb_is_one_rejection_and_takes_little_memory(
    make: Callable[[int], tuple[int, bytes]], row_tag: str, tmp_path: Path
) -> None:
    method, packed = make(LARGE)
    bomb = (b"bomb.xml", method, packed, 0, LARGE << 20)
    (tmp_path / "x.zip").write_bytes(raw_zip(bomb, (b"next.xml", 0, b"<item/>", zlib.crc32(b"<item/>"), 7)))

    found = in_a_process(tmp_path, row_tag)

    assert [document for document, _ in found.rejected] == ["x.zip/bomb.xml"]
    assert found.megabytes < MOST_MEMORY


@cache
def gzip_bomb(name: str) -> bytes:
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    first = header(b"bomb.xml", b"%011o" % (LARGE << 20)) if name == "x.tgz" else b"<r>"
    parts = [packer.compress(first), *(packer.compress(b" " * (1 << 20)) for _ in range(LARGE))]
    return b"".join([*parts, packer.compress(END), packer.flush()])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["x.xml.gz", "x.tgz"])
@pytest.mark.parametrize("row_tag", ["", "item"])
def test_a_gzip_bomb_is_one_rejection_and_takes_little_memory(name: str, row_tag: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(gzip_bomb(name))

    found = in_a_process(tmp_path, row_tag)

    assert [document for document, _ in found.rejected] == ["x.tgz/bomb.xml" if name == "x.tgz" else name]
    assert found.megabytes < MOST_MEMORY


def test_a_bomb_in_a_bomb_is_paid_from_one_budget(tmp_path: Path) -> None:
    inner = gzip.compress(bytes(30 << 20))
    outer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = b"".join([outer.compress(inner * 100), outer.flush()])  # all of it in a few kilobytes
    size, checksum = 100 * len(inner), zlib.crc32(inner * 100)
    (tmp_path / "x.zip").write_bytes(raw_zip((b"bomb.xml.gz", 8, packed, checksum, size)))

    (told,) = reasons(tmp_path, None, Limits(max_bytes=1 << 40, max_ratio=100))

    assert told == ("x.zip/bomb.xml.gz", "unpacks to more than 100 times its size")


def test_many_small_bombs_are_paid_from_one_budget(tmp_path: Path) -> None:
    packed = deflated(10)[1]
    checksum = zlib.crc32(bytes(10 << 20))
    bombs = [(b"%d.xml" % number, 8, packed, checksum, 10 << 20) for number in range(50)]
    (tmp_path / "x.zip").write_bytes(raw_zip(*bombs))

    *documents, told = entries(tmp_path, None, Limits(max_ratio=10))

    assert [len(data) for _, data in documents] == [10 << 20]
    assert told[::4] == ("x.zip/1.xml", "unpacks to more than 10 times its size")


def test_a_small_file_may_have_any_ratio(tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(
        raw_zip(
            (b"a.xml", 12, bzipped(8)[1], zlib.crc32(bytes(8 << 20)), 8 << 20),
            (b"b.xml", 14, lzmaed(8)[1], zlib.crc32(bytes(8 << 20)), 8 << 20),
        )
    )

    assert [len(data) for _, data in entries(tmp_path, None, Limits(max_ratio=1))] == [8 << 20] * 2


def test_an_lzma_dictionary_is_no_larger_than_its_member(tmp_path: Path) -> None:
    method, packed = lzmaed(1, 0xFFFFFFFF)
    whole = (b"a.xml", method, packed, zlib.crc32(bytes(1 << 20)), 1 << 20)
    (tmp_path / "x.zip").write_bytes(raw_zip(whole, (b"b.xml", method, packed, 0, 0xFFFFFF00), GOOD_MEMBER))

    first, second, third = entries(tmp_path)

    assert first == ("x.zip/a.xml", bytes(1 << 20))
    assert second[::4] == ("x.zip/b.xml", "an LZMA dictionary of 4294967040 bytes, more than 67108864")
    assert third == ("x.zip/good.xml", b"<a/>")


@pytest.mark.parametrize(
    ("member", "reason"),
    [
        (
            (b"bad.xml", 8, zlib.compress(b"<a/>")[2:-4], zlib.crc32(b"<a/>"), 3),
            "more bytes than its directory declares",
        ),
        ((b"bad.xml", 8, zlib.compress(b"<a/>")[2:-4], 0, 5), "fewer bytes than its directory declares"),
        ((b"bad.xml", 0, b"<a/>", 0, 1_000_000), "fewer bytes than its directory declares"),
        ((b"bad.xml", 0, b"<a/>", 0, 1), "more bytes than its directory declares"),
    ],
)
def test_a_zip_file_that_lies_about_a_size_is_one_rejection(
    member: tuple[bytes, int, bytes, int, int], reason: str, tmp_path: Path
) -> None:
    (tmp_path / "x.zip").write_bytes(raw_zip(GOOD_MEMBER, member, member, GOOD_MEMBER))

    good, told = entries(tmp_path)

    assert good == ("x.zip/good.xml", b"<a/>")
    assert told[::4] == ("x.zip/bad.xml", reason)


@pytest.mark.parametrize("offset", [1, 29, 4_000, 0xFFFFFF00])
def test_a_zip_file_that_lies_about_a_place_is_one_rejection(offset: int, tmp_path: Path) -> None:
    data = bytearray(raw_zip(GOOD_MEMBER, GOOD_MEMBER))
    at = data.rindex(b"PK\1\2") + 42
    data[at : at + 4] = struct.pack("<L", offset)
    (tmp_path / "x.zip").write_bytes(data)

    ((name, reason),) = reasons(tmp_path)

    assert name == "x.zip"
    assert reason.startswith("broken archive: members overlap")


def test_members_that_share_their_bytes_are_one_rejection(tmp_path: Path) -> None:
    method, packed = deflated(1)
    member = (b"bomb.xml", method, packed, zlib.crc32(bytes(1 << 20)), 1 << 20)
    (tmp_path / "x.zip").write_bytes(raw_zip(member, repeat=1_000))

    ((name, reason),) = reasons(tmp_path)

    assert (name, reason) == ("x.zip", "broken archive: members overlap at byte 0")


def test_another_name_at_the_place_of_a_member_is_one_rejection(tmp_path: Path) -> None:
    data = raw_zip(GOOD_MEMBER, (b"bad.xml", *GOOD_MEMBER[1:]), (b"worse.xml", *GOOD_MEMBER[1:]))
    (tmp_path / "x.zip").write_bytes(data.replace(b"bad.xml", b"sad.xml", 1).replace(b"worse.xml", b"horse.xml", 1))

    good, told = entries(tmp_path)

    assert good == ("x.zip/good.xml", b"<a/>")
    assert told[::4] == ("x.zip", "broken archive: another name in the directory than at byte 42")


@pytest.mark.parametrize("name", ["x.zip", "x.tar", "x.tgz"])
def test_an_archive_of_too_many_members_is_one_rejection(name: str, tmp_path: Path) -> None:
    tar = (GOOD * 4) + END
    data = {"x.zip": raw_zip(*[GOOD_MEMBER] * 4), "x.tar": tar, "x.tgz": gzip.compress(tar)}[name]
    (tmp_path / name).write_bytes(data)

    assert len(entries(tmp_path, None, Limits(max_members=4))) == 4
    assert entries(tmp_path, None, Limits(max_members=3))[-1] == (name, 1, 1, 0, "broken archive: more than 3 members")


def test_a_directory_of_very_many_members_is_not_held(tmp_path: Path) -> None:
    entry = raw_zip((b"a.xml", 0, b"", 0, 0))[35:-22]
    end = b"PK\5\6" + struct.pack("<4H2LH", 0, 0, 0xFFFF, 0xFFFF, len(entry) * 1_000_000, 35, 0)
    (tmp_path / "x.zip").write_bytes(raw_zip((b"a.xml", 0, b"", 0, 0))[:35] + entry * 1_000_000 + end)

    found = in_a_process(tmp_path)

    assert found.rejected == [["x.zip", "broken archive: more than 100000 members"]]
    assert found.megabytes < MOST_MEMORY


@pytest.mark.parametrize("method", [1, 9, 93, 99])
def test_a_compression_that_is_unknown_takes_no_other_with_it(method: int, tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(raw_zip((b"bad.xml", method, b"????", 0, 4), GOOD_MEMBER))

    told, good = entries(tmp_path)

    assert told[::4] == ("x.zip/bad.xml", f"compression method {method} is not supported")
    assert good == ("x.zip/good.xml", b"<a/>")


@pytest.mark.parametrize("properties", [b"", b"\x09\x04\x06\x00" + b"x" * 20, b"\x09\x04\x05\x00\xff" + b"x" * 20])
def test_lzma_properties_that_make_no_sense_take_no_other_with_them(properties: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(raw_zip((b"bad.xml", 14, properties, 0, 4), GOOD_MEMBER))

    told, good = entries(tmp_path)

    assert told[0] == "x.zip/bad.xml"
    assert good == ("x.zip/good.xml", b"<a/>")


def test_archives_in_an_archive_are_not_opened(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("inner.zip", raw_zip(GOOD_MEMBER))
        archive.writestr("inner.tar", GOOD + END)
        archive.writestr("a.xml", b"<a/>")

    assert entries(tmp_path) == [("x.zip/a.xml", b"<a/>")]


def test_a_zip64_file_is_read(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive, archive.open("a.xml", "w", force_zip64=True) as member:
        member.write(b"<a/>")

    assert entries(tmp_path) == [("x.zip/a.xml", b"<a/>")]


METHODS = [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]


@given(st.lists(st.tuples(names, contents, st.sampled_from(METHODS)), max_size=4), st.binary(max_size=20))
def test_a_zip_file_is_read_as_python_reads_it(members: list[tuple[str, bytes, int]], before: bytes) -> None:
    written = io.BytesIO()
    written.write(before)
    with zipfile.ZipFile(written, "a") as archive:
        for number, (name, data, method) in enumerate(members):
            archive.writestr(f"folder{number}/d{name}.xml", data, method)
    with zipfile.ZipFile(written) as archive:
        expected = [(f"x/{each.filename}", archive.read(each)) for each in archive.infolist()]

    assert read_bytes(written.getvalue(), "x.zip") == expected


# -- gzip


@examples(100)
@given(st.lists(contents, min_size=1, max_size=4), st.integers(0, 3), st.sampled_from([None, "f" * 100_000]))
def test_a_gzip_file_is_read_as_python_reads_it(parts: list[bytes], zeros: int, name: str | None) -> None:
    written = io.BytesIO()
    for part in parts:
        with gzip.GzipFile(name or "", "wb", fileobj=written) as packer:
            packer.write(part)
        written.write(bytes(zeros))
    expected = gzip.decompress(written.getvalue())

    assert read_bytes(written.getvalue(), "x.xml.gz") == [("x", expected)]


@given(contents, st.integers(0), st.integers(0, 255))
def test_a_gzip_file_with_a_byte_changed_is_read_as_python_reads_it_or_told(data: bytes, at: int, byte: int) -> None:
    packed = bytearray(gzip.compress(data))
    packed[at % len(packed)] = byte
    try:
        expected = [("x", gzip.decompress(bytes(packed)))]
    except (OSError, EOFError, zlib.error):
        expected = []

    found = read_bytes(bytes(packed), "x.xml.gz")

    assert found in (expected, [])  # zlib refuses some headers that Python passes over
    assert found or not expected or packed[3] != 0


@pytest.mark.slow
def test_very_many_empty_gzip_members_are_read_in_time(tmp_path: Path) -> None:
    (tmp_path / "x.xml.gz").write_bytes(gzip.compress(b"") * 200_000 + gzip.compress(b"<a/>"))

    found = in_a_process(tmp_path)

    assert (found.documents, found.rejected) == (["x.xml.gz"], [])
    assert found.megabytes < MOST_MEMORY


# -- two of one name


@pytest.mark.parametrize("name", ["x.zip", "x.tar"])
def test_two_members_of_one_name_are_two_documents(name: str, tmp_path: Path) -> None:
    same = [b"a.xml", b"./a.xml", b"/a.xml", b"b.xml.gz", b"b.xml.gz"]
    contents = [b"<one/>", b"<two/>", b"<three/>", gzip.compress(b"<four/>"), gzip.compress(b"<five/>")]
    pairs = list(zip(same, contents, strict=True))
    members = [(each, 0, data, zlib.crc32(data), len(data)) for each, data in pairs]
    tar = b"".join(header(each, b"%011o" % len(data)) + padded(data) for each, data in pairs) + END
    (tmp_path / name).write_bytes(tar if name == "x.tar" else raw_zip(*members))

    assert entries(tmp_path) == [
        (f"{name}/a.xml", b"<one/>"),
        (f"{name}/a.xml#2", b"<two/>"),
        (f"{name}/a.xml#3", b"<three/>"),
        (f"{name}/b.xml.gz", b"<four/>"),
        (f"{name}/b.xml.gz#2", b"<five/>"),
    ]


@pytest.mark.parametrize("limit", ["max_members", "max_ratio"])
def test_a_limit_on_archives_is_a_positive_number(limit: str) -> None:
    given: dict[str, Any] = {limit: 0}

    with pytest.raises(ConfigurationError, match=limit):
        Limits(**given)


@pytest.fixture(scope="module", autouse=True)
def _folder(tmp_path_factory: pytest.TempPathFactory) -> None:
    global FOLDER  # noqa: PLW0603  # Hypothesis runs a test many times, and wants no fixture that it would share
    FOLDER = tmp_path_factory.mktemp("archives")


FOLDER = Path()
