"""Folders of XML files and archives: which files are found, how they are cut, and the documents in them."""

import gzip
import io
import os
import pickle
import tarfile
import tracemalloc
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

import pytest

from weft.documents import Document, Limits, read
from weft.errors import ConfigurationError, DocumentError
from weft.inputs.files import File, Piece, find_files, pieces, read_piece

LIMITS = Limits()


def write(path: Path, data: bytes = b"<a/>") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def write_zip(path: Path, members: Mapping[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def write_tar(path: Path, members: Mapping[str, bytes]) -> Path:
    with tarfile.open(path, "w" if path.suffix == ".tar" else "w:gz") as archive:
        for name, data in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


def entries(path: Path, row_tag: str | None = None, limits: Limits = LIMITS, chunk: int = 4_096) -> list[object]:
    """What is read of all files: id and data of documents, errors as they are."""
    found = [entry for file in find_files(path) for entry in read_piece(Piece(file), row_tag, limits, chunk)]
    return [entry if isinstance(entry, DocumentError) else (entry.id, entry.data) for entry in found]


def only_error(path: Path, row_tag: str | None = None, limits: Limits = LIMITS, chunk: int = 4_096) -> DocumentError:
    (error,) = (entry for entry in entries(path, row_tag, limits, chunk) if isinstance(entry, DocumentError))
    return error


# -- finding


def test_files_are_found_at_any_depth_in_the_order_of_their_ids(tmp_path: Path) -> None:
    for name in ("b.xml", "z/a.xml", "a/b/c.xml", "a/b.zip", "a.xml.gz", "A.XML", "c.Tar", "d.tar.gz", "e.tgz", "f.gz"):
        write(tmp_path / name)

    files = find_files(tmp_path)

    assert [file.id for file in files] == [
        *("A.XML", "a.xml.gz", "a/b.zip", "a/b/c.xml", "b.xml", "c.Tar", "d.tar.gz", "e.tgz", "f.gz", "z/a.xml")
    ]
    assert [file.path for file in files] == [str(tmp_path / file.id) for file in files]
    assert find_files(str(tmp_path)) == files


def test_a_file_has_a_stream_a_timestamp_and_a_size(tmp_path: Path) -> None:
    os.utime(write(tmp_path / "news" / "x" / "1.xml", b"<abc/>"), (1, 1_700_000_000.5))
    os.utime(write(tmp_path / "2.xml"), (1, 7))

    assert find_files(tmp_path) == [
        File(str(tmp_path / "2.xml"), "2.xml", "", 7.0, 4),
        File(str(tmp_path / "news/x/1.xml"), "news/x/1.xml", "news", 1_700_000_000.5, 6),
    ]


@pytest.mark.parametrize(
    "name",
    [
        *(".a.xml", "_a.xml", "_temporary/a.xml", ".git/a.xml", "x/_y/a.xml"),
        *("a.xml.part", "a.xml.tmp", "a.xml.crdownload", "a.txt", "xml", "a.xml~", "a.json"),
    ],
)
def test_other_files_are_left_out(name: str, tmp_path: Path) -> None:
    write(tmp_path / name)
    write(tmp_path / "good.xml")

    assert [file.id for file in find_files(tmp_path)] == ["good.xml"]


def test_the_root_may_be_hidden_itself(tmp_path: Path) -> None:
    write(tmp_path / "_in" / "a.xml")

    assert [file.id for file in find_files(tmp_path / "_in")] == ["a.xml"]


@pytest.mark.parametrize("name", ["a.xml", "a.txt", "_a.xml.part", "noend"])
def test_the_root_may_be_one_file_of_any_name(name: str, tmp_path: Path) -> None:
    path = write(tmp_path / name)

    (file,) = find_files(path)

    assert (file.path, file.id, file.stream, file.size) == (str(path), name, "", 4)
    assert entries(path) == [(name, b"<a/>")]


def test_a_path_is_absolute_whatever_the_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "x" / "a.xml")
    monkeypatch.chdir(tmp_path)

    assert [file.path for file in find_files("x")] == [str(tmp_path / "x" / "a.xml")]
    assert [file.id for file in find_files(".")] == ["x/a.xml"]


@pytest.mark.parametrize("name", ["missing", "missing.xml", "a.xml/b", ""])
def test_a_root_that_is_missing_is_refused(name: str, tmp_path: Path) -> None:
    write(tmp_path / "a.xml")
    root = f"{tmp_path}/{name}" if name else ""

    with pytest.raises(ConfigurationError, match="no such file or folder of documents"):
        find_files(root)


def test_links_to_files_are_followed_and_loops_are_not(tmp_path: Path) -> None:
    target = write(tmp_path / "elsewhere" / "target.data", b"<target/>")
    root = tmp_path / "root"
    write(root / "x" / "a.xml")
    (root / "link.xml").symlink_to(target)
    (root / "x" / "loop").symlink_to(root)
    (root / "dangling.xml").symlink_to(tmp_path / "nothing")
    (root / "self.xml").symlink_to(root / "self.xml")

    assert entries(root) == [("link.xml", b"<target/>"), ("x/a.xml", b"<a/>")]


def test_what_is_no_file_is_left_out(tmp_path: Path) -> None:
    write(tmp_path / "folder.xml" / "a.xml")
    os.mkfifo(tmp_path / "pipe.xml")

    assert [file.id for file in find_files(tmp_path)] == ["folder.xml/a.xml"]


def test_a_file_that_vanishes_while_listing_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "a.xml")
    write(tmp_path / "b.xml")
    stat = Path.stat

    def vanishing(path: Path, **options: bool) -> os.stat_result:
        if path.name == "a.xml":
            raise FileNotFoundError(2, "No such file or directory")
        return stat(path, **options)

    monkeypatch.setattr(Path, "stat", vanishing)

    assert [file.id for file in find_files(tmp_path)] == ["b.xml"]


def test_an_id_is_text_whatever_bytes_the_name_is_made_of(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.xml")).write_bytes(b"<a/>")

    assert entries(tmp_path) == [("\ufffd.xml", b"<a/>")]


# -- whole documents


def test_a_file_is_a_document_with_its_id_stream_and_timestamp(tmp_path: Path) -> None:
    os.utime(write(tmp_path / "news" / "1.xml", b"<n>\xff</n>"), (1, 12.5))
    (file,) = find_files(tmp_path)

    assert list(read_piece(Piece(file), None)) == [Document(b"<n>\xff</n>", "news/1.xml", "news", 12.5)]


@pytest.mark.parametrize("name", ["a.xml.gz", "a.gz", "A.XML.GZ"])
def test_a_gzip_file_is_a_document_decompressed(name: str, tmp_path: Path) -> None:
    write(tmp_path / name, gzip.compress(b"<a>") + gzip.compress(b"</a>"))

    assert entries(tmp_path) == [(name, b"<a></a>")]


MEMBERS = {
    "z.xml": b"<z/>",
    "deep/er/a.XML": b"<a/>",
    "b.xml.gz": gzip.compress(b"<b/>"),
    "notes.txt": b"no",
    "c.gz": b"no",
    "__MACOSX/._z.xml": b"no",
    "./d.xml": b"<d/>",
}


@pytest.mark.parametrize("name", ["x.zip", "x.tar", "x.tar.gz", "x.tgz", "X.ZIP", "X.TAR.GZ"])
def test_each_xml_file_in_an_archive_is_a_document_in_the_order_of_the_archive(name: str, tmp_path: Path) -> None:
    (write_zip if name.lower().endswith("zip") else write_tar)(tmp_path / name, MEMBERS)

    assert entries(tmp_path) == [
        (f"{name}/z.xml", b"<z/>"),
        (f"{name}/deep/er/a.XML", b"<a/>"),
        (f"{name}/b.xml.gz", b"<b/>"),
        (f"{name}/d.xml", b"<d/>"),
    ]


def test_only_regular_files_of_an_archive_are_documents(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "x.tar", "w") as archive:
        for name, kind in (("l.xml", tarfile.SYMTYPE), ("d.xml", tarfile.DIRTYPE), ("p.xml", tarfile.FIFOTYPE)):
            member = tarfile.TarInfo(name)
            member.type = kind
            member.linkname = "/etc/passwd"
            archive.addfile(member)
    with zipfile.ZipFile(tmp_path / "y.zip", "w") as archive_:
        link = zipfile.ZipInfo("l.xml")
        link.external_attr = 0o120777 << 16
        archive_.writestr(link, "/etc/passwd")
        archive_.writestr("d.xml/", b"")
        archive_.writestr("../../up.xml", b"<up/>")

    assert entries(tmp_path) == [("y.zip/../../up.xml", b"<up/>")]


def test_documents_of_an_archive_have_the_stream_and_time_of_the_archive(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    os.utime(write_zip(tmp_path / "s" / "x.zip", {"t/a.xml": b"<a/>"}), (1, 5))

    (document,) = read_piece(Piece(find_files(tmp_path)[0]), None)

    assert isinstance(document, Document)
    assert (document.id, document.stream, document.timestamp) == ("s/x.zip/t/a.xml", "s", 5.0)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a.xml", "a.xml.gz", "a.zip", "a.tar", "a.tgz"])
def test_a_document_that_is_too_large_is_told_without_being_held(name: str, tmp_path: Path) -> None:
    large = b"<a>" + b" " * 50_000_000 + b"</a>"
    path = tmp_path / name
    match name.split(".", 1)[1]:
        case "xml":
            write(path, large)
        case "xml.gz":
            write(path, gzip.compress(large, 1))
        case "zip":
            write_zip(path, {"a.xml": large, "b.xml": b"<b/>"})
        case _:
            write_tar(path, {"a.xml": large, "b.xml": b"<b/>"})
    del large
    tracemalloc.start()

    first, *rest = entries(tmp_path, limits=Limits(max_bytes=100_000))

    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(first, DocumentError)
    assert first.args[1:] == (1, 1, 0, "more than 100000 bytes")
    assert rest == ([(f"{name}/b.xml", b"<b/>")] if "xml" not in name else [])
    assert held < 5_000_000


@pytest.mark.parametrize("size", [10, 11])
def test_a_document_as_large_as_allowed_passes(size: int, tmp_path: Path) -> None:
    write(tmp_path / "a.xml", b"x" * size)

    assert isinstance(entries(tmp_path, limits=Limits(max_bytes=10), chunk=3)[0], DocumentError) == (size > 10)


# -- what cannot be read


@pytest.mark.parametrize("name", ["a.xml", "a.xml.gz", "a.zip", "a.tar", "a.tgz"])
@pytest.mark.parametrize("row_tag", [None, "item"])
def test_a_file_that_cannot_be_opened_is_told_with_the_reason_of_the_system(
    name: str, row_tag: str | None, tmp_path: Path
) -> None:
    path = write(tmp_path / name)
    (file,) = find_files(path)
    path.unlink()

    (error,) = read_piece(Piece(file), row_tag)

    assert isinstance(error, DocumentError)
    assert error.args == (name, 1, 1, 0, "No such file or directory")


NOISE = bytes(zlib.crc32(b"%d" % number) & 0x7F | 0x40 for number in range(200_000))
ROWS = b"<r>\n" + b"".join(b"<item>%b</item>\n" % NOISE[at : at + 1_000] for at in range(0, len(NOISE), 1_000))
ROWS = ROWS.translate(bytes.maketrans(b"\x7f", b"x")) + b"</r>"


def test_a_gzip_file_that_breaks_off_is_told_once(tmp_path: Path) -> None:
    whole = gzip.compress(ROWS)
    write(tmp_path / "a.xml.gz", whole[: len(whole) // 2])

    error = only_error(tmp_path)

    assert error.document == "a.xml.gz"
    assert "ended before" in error.reason
    assert 0 < error.offset < len(ROWS)
    assert error.line == ROWS[: error.offset].count(b"\n") + 1


def test_rows_before_the_place_where_a_gzip_file_breaks_off_are_read(tmp_path: Path) -> None:
    whole = gzip.compress(ROWS)
    write(tmp_path / "a.xml.gz", whole[: len(whole) // 2])

    *rows, error = entries(tmp_path, "item")

    assert isinstance(error, DocumentError)
    assert (error.document, "ended before" in error.reason) == ("a.xml.gz", True)
    assert error.line == ROWS[: error.offset].count(b"\n") + 1
    assert len(rows) == ROWS[: error.offset].count(b"</item>") > 50


@pytest.mark.parametrize("damage", ["cut", "header"])
@pytest.mark.parametrize("name", ["x.tar", "x.tgz"])
def test_a_tar_file_that_is_broken_is_told_once_after_what_could_be_read(
    name: str, damage: str, tmp_path: Path
) -> None:
    path = write_tar(tmp_path / name, {f"{number}.xml": b"<a>%d</a>" % number for number in range(5)})
    data = bytearray(path.read_bytes() if name == "x.tar" else gzip.decompress(path.read_bytes()))
    at = data.index(b"3.xml")
    if damage == "cut":
        del data[at + 512 + 3 :]
    else:
        data[at + 1] ^= 0xFF  # so that its checksum is wrong
    path.write_bytes(data if name == "x.tar" else gzip.compress(data))

    *documents, error = entries(tmp_path)

    assert documents == [(f"{name}/{number}.xml", b"<a>%d</a>" % number) for number in range(3)]
    assert isinstance(error, DocumentError)
    assert error.document == (f"{name}/3.xml" if damage == "cut" else name)
    assert error.reason == ("unexpected end of data" if damage == "cut" else "broken archive: bad checksum")


def test_a_tar_file_without_its_end_is_told(tmp_path: Path) -> None:
    path = write_tar(tmp_path / "x.tar", {"a.xml": b"<a/>"})
    path.write_bytes(path.read_bytes()[:1024])

    document, error = entries(tmp_path)

    assert document == ("x.tar/a.xml", b"<a/>")
    assert isinstance(error, DocumentError)
    assert error.document == "x.tar"


def test_a_member_of_a_zip_file_that_is_broken_takes_no_other_with_it(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "x.zip", {"a.xml": b"<a/>", "b.xml": b"<bbbb/>", "c.xml": b"<c/>"}, zipfile.ZIP_STORED)
    path.write_bytes(path.read_bytes().replace(b"<bbbb/>", b"<bbbx/>"))

    first, error, last = entries(tmp_path)

    assert isinstance(error, DocumentError)
    assert (error.document, "CRC" in error.reason) == ("x.zip/b.xml", True)
    assert [first, last] == [("x.zip/a.xml", b"<a/>"), ("x.zip/c.xml", b"<c/>")]


def test_a_member_of_a_zip_file_that_is_encrypted_is_told(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "x.zip", {"a.xml": b"<a/>", "b.xml": b"<b/>"})
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    data[data.index(b"PK\x03\x04") + 6] |= 1
    path.write_bytes(data)

    error, document = entries(tmp_path)

    assert isinstance(error, DocumentError)
    assert (error.document, "encrypted" in error.reason) == ("x.zip/a.xml", True)
    assert document == ("x.zip/b.xml", b"<b/>")


@pytest.mark.parametrize("name", ["x.zip", "x.tar", "x.tgz", "x.xml.gz"])
@pytest.mark.parametrize("data", [b"", b"<a/>", b"\x1f\x8b", b"PK\x03\x04"])
def test_what_is_no_archive_is_told(name: str, data: bytes, tmp_path: Path) -> None:
    write(tmp_path / name, data)
    if (name, data) == ("x.xml.gz", b""):
        return  # an empty gzip file is an empty document

    assert only_error(tmp_path).document == name


def test_a_broken_gzip_member_takes_no_other_with_it(tmp_path: Path) -> None:
    write_tar(tmp_path / "x.tar", {"a.xml.gz": gzip.compress(b"<a/>")[:-9], "b.xml": b"<b/>", "c.xml": b"<c/>"})

    assert only_error(tmp_path).document == "x.tar/a.xml.gz"
    assert len(entries(tmp_path)) == 3


# -- rows and pieces


@pytest.mark.parametrize("name", ["x.xml", "x.xml.gz", "x.zip", "x.tar", "x.tgz"])
def test_rows_of_a_file_are_documents_with_its_id_and_their_offset(name: str, tmp_path: Path) -> None:
    data = b"<r xmlns='u'><item>1</item><item/></r>"
    match name:
        case "x.xml":
            write(tmp_path / name, data)
        case "x.xml.gz":
            write(tmp_path / name, gzip.compress(data))
        case "x.zip":
            write_zip(tmp_path / name, {"x.xml": data})
        case _:
            write_tar(tmp_path / name, {"x.xml": data})
    path = name if ".xml" in name else f"{name}/x.xml"

    assert entries(tmp_path, "item", chunk=5) == [
        (f"{path}@13", b'<item xmlns="u">1</item>'),
        (f"{path}@27", b'<item xmlns="u"/>'),
    ]


def test_a_row_has_the_stream_and_timestamp_of_its_file(tmp_path: Path) -> None:
    os.utime(write(tmp_path / "s" / "a.xml", b"<item/>"), (1, 3))

    assert list(read_piece(Piece(find_files(tmp_path)[0]), "item")) == [Document(b"<item/>", "s/a.xml@0", "s", 3.0)]


ENCODINGS = ("utf-16", "utf-16-le", "utf-16-be", "iso-8859-1", "windows-1252", "shift_jis", "us-ascii", "utf-8-sig")


def in_encoding(encoding: str, text: str) -> bytes:
    """The text with a declaration, unless its first bytes tell enough."""
    declared = "" if encoding in ("utf-16-le", "utf-16-be") else f'<?xml version="1.0" encoding="{encoding}"?>\n'
    return (declared.replace("utf-8-sig", "utf-8") + text).encode(encoding)


@pytest.mark.parametrize("chunk", [1, 3, 4_096])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_rows_of_other_encodings_are_utf_8(encoding: str, chunk: int, tmp_path: Path) -> None:
    letter = {"shift_jis": "語", "us-ascii": "e"}.get(encoding, "é")
    write(tmp_path / "a.xml", in_encoding(encoding, f"<r>{letter}<item>{letter}</item></r>"))

    (row,) = entries(tmp_path, "item", chunk=chunk)

    assert isinstance(row, tuple)
    assert row[1] == f"<item>{letter}</item>".encode()
    text = (tmp_path / "a.xml").read_bytes().decode("utf-8" if encoding == "utf-8-sig" else encoding)
    assert row[0] == f"a.xml@{len(text[: text.index('<item')].encode())}"


@pytest.mark.parametrize("chunk", [1, 4_096])
@pytest.mark.parametrize(
    ("data", "place", "reason"),
    [
        (b'<?xml version="1.0" encoding="us-ascii"?>\n<r><item/>\n\xe9<item/></r>', (3, 1, 53), "not ascii"),
        (b'<?xml version="1.0" encoding="shift_jis"?>\n<r><item/>\x81', (2, 11, 53), "not shift_jis"),
        ("<r><item/>\n".encode("utf-16") + b"\x00", (2, 1, 11), "not utf-16"),
        (b"<r><item/>\xff</r>", (1, 11, 10), "not well-formed"),
    ],
)
def test_rows_before_bytes_that_are_not_in_the_encoding_are_read(
    data: bytes, place: tuple[int, int, int], reason: str, chunk: int, tmp_path: Path
) -> None:
    write(tmp_path / "a.xml", data)

    row, error = entries(tmp_path, "item", chunk=chunk)

    assert isinstance(row, tuple)
    assert isinstance(error, DocumentError)
    assert error.document == "a.xml"
    assert reason in error.reason
    assert (error.line, error.column, error.offset) == place


def test_an_encoding_that_is_unknown_is_told(tmp_path: Path) -> None:
    write(tmp_path / "a.xml", b'<?xml version="1.0" encoding="klingon"?><r><item/></r>')

    assert only_error(tmp_path, "item").args == ("a.xml", 1, 31, 30, "unknown encoding 'klingon'")


def test_a_row_that_is_too_large_is_told_and_the_rest_goes_on(tmp_path: Path) -> None:
    write(tmp_path / "a.xml", b"<r><item/>\n<item>1234567890</item><item/></r>")

    _, error, last = entries(tmp_path, "item", Limits(max_bytes=20))

    assert isinstance(error, DocumentError)
    assert error.args == ("a.xml@11", 2, 1, 11, "more than 20 bytes")
    assert last == ("a.xml@34", b"<item/>")


def test_without_a_row_tag_a_file_is_one_piece(tmp_path: Path) -> None:
    files = [find_files(write(tmp_path / name, ROWS))[0] for name in ("a.xml", "b.xml")]

    assert pieces(files, None, 10) == [Piece(file) for file in files]


def test_a_large_file_is_cut_at_the_starts_of_rows(tmp_path: Path) -> None:
    (file,) = find_files(write(tmp_path / "a.xml", ROWS))

    cut = pieces([file], "item", 50_000)

    assert len(cut) == 4
    assert all(ROWS[piece.rows.start :].startswith(b"<item>") for piece in cut[1:] if piece.rows)
    whole = list(read_piece(Piece(file), "item"))
    assert [document for piece in cut for document in read_piece(piece, "item")] == whole
    assert len(whole) == 200
    assert not read(document for document in whole if isinstance(document, Document)).rejected


@pytest.mark.parametrize("name", ["a.xml.gz", "a.zip", "a.tgz"])
def test_a_compressed_file_is_never_cut(name: str, tmp_path: Path) -> None:
    (file,) = find_files(write(tmp_path / name, ROWS))

    assert pieces([file], "item", 1_000) == [Piece(file)]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_only_files_in_utf_8_or_ascii_are_cut(encoding: str, tmp_path: Path) -> None:
    text = "<r>\n" + "<item>e</item>\n" * 50 + "</r>"
    (file,) = find_files(write(tmp_path / "a.xml", in_encoding(encoding, text)))

    cut = pieces([file], "item", 100)

    assert (len(cut) > 1) == (encoding in ("us-ascii", "utf-8-sig"))
    assert [document for piece in cut for document in read_piece(piece, "item")] == list(
        read_piece(Piece(file), "item")
    )


def test_a_file_in_ascii_that_is_cut_is_still_in_ascii(tmp_path: Path) -> None:
    text = "<r>\n" + "<item>e</item>\n" * 50
    (file,) = find_files(write(tmp_path / "a.xml", in_encoding("us-ascii", text) + b"<item>\xc3\xa9</item></r>"))

    told = [entry for piece in pieces([file], "item", 100) for entry in read_piece(piece, "item")]

    assert len(told) == 51
    assert [entry.reason for entry in told if isinstance(entry, DocumentError)] == [
        "not ascii: ordinal not in range(128)"
    ]


@pytest.mark.parametrize("tail", [b"</r>", b"<b></r>", b"<item>", b""])
@pytest.mark.parametrize("most", [1, 40, 300, 5_000])
def test_pieces_together_give_what_the_file_gives(most: int, tail: bytes, tmp_path: Path) -> None:
    groups = b"".join(b"<g xmlns:p%d='u'>\n<item>%d</item> <item/></g>" % (number, number) for number in range(30))
    (file,) = find_files(write(tmp_path / "a.xml", b"<r xmlns='u'>" + groups + tail))

    cut = pieces([file], "item", most, chunk=100)

    assert told(cut) == told([Piece(file)])
    assert (len(cut) > 1) == (most < 5_000)


def told(cut: list[Piece]) -> list[object]:
    found = [entry for piece in cut for entry in read_piece(piece, "item", chunk=77)]
    return [entry.args if isinstance(entry, DocumentError) else entry for entry in found]


def test_a_piece_can_be_sent_elsewhere(tmp_path: Path) -> None:
    (file,) = find_files(write(tmp_path / "a.xml", ROWS))
    cut = pieces([file], "item", 50_000)

    assert pickle.loads(pickle.dumps(cut)) == cut


def test_a_file_that_cannot_be_cut_is_told_by_who_reads_it(tmp_path: Path) -> None:
    path = write(tmp_path / "a.xml", ROWS)
    unknown = write(tmp_path / "b.xml", b'<?xml version="1.0" encoding="klingon"?>' + ROWS)
    files = find_files(tmp_path)
    path.unlink()

    cut = pieces(files, "item", 1_000)

    assert cut == [Piece(file) for file in files]
    assert unknown.exists()
    assert [entry[-1] for entry in told(cut) if isinstance(entry, tuple)] == [
        "No such file or directory",
        "unknown encoding 'klingon'",
    ]


def test_a_row_tag_or_a_size_that_makes_no_sense_is_refused(tmp_path: Path) -> None:
    (file,) = find_files(write(tmp_path / "a.xml"))

    with pytest.raises(ConfigurationError, match="row tag"):
        pieces([file], "<item>", 10)
    with pytest.raises(ConfigurationError, match="row tag"):
        next(read_piece(Piece(file), "a b"))
    with pytest.raises(ConfigurationError, match="positive number of bytes"):
        pieces([file], "item", 0)
