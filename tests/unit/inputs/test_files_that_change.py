"""Files that change, vanish or cannot be read while they are wanted: one clear rejection each, and the rest goes on."""

import gzip
import json
import os
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from typer.testing import CliRunner

from weft.cli import app
from weft.cli.sources import Rejected, find_documents, read_batches
from weft.documents import Document, Limits
from weft.errors import ConfigurationError, DocumentError
from weft.inputs import files
from weft.inputs.chunks import Chunks
from weft.inputs.files import Piece, find_files, pieces, read_piece
from weft.inputs.rows import read_rows

ROWS = b"<r>\n" + b"<item>0123456789</item>\n" * 2_000 + b"</r>"
LIMITS = Limits()


def told(entries: list[Document | DocumentError]) -> list[tuple[str, str]]:
    return [(entry.document, entry.reason) for entry in entries if isinstance(entry, DocumentError)]


def shrink(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def grow(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"<more/>")


def overwrite(path: Path) -> None:
    """As long as before, and as well-formed: the time alone tells."""
    path.write_bytes(path.read_bytes().replace(b"0123456789", b"9876543210"))
    os.utime(path, ns=(0, 1_000_000_000))


CHANGES = [shrink, grow, overwrite]


@pytest.fixture
def change_after_a_chunk(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], None]], None]:
    """Lets something happen when the first chunk of a file has been read."""

    def prepare(change: Callable[[], None]) -> None:
        waiting = [change]

        class Changing(Chunks):
            def __next__(self) -> bytes:
                chunk = super().__next__()
                if waiting:
                    waiting.pop()()
                return chunk

        monkeypatch.setattr(files, "Chunks", Changing)

    return prepare


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", ["a.xml", "a.xml.gz"])
def test_a_document_that_changes_while_it_is_read_is_rejected(
    name: str,
    change: Callable[[Path], None],
    change_after_a_chunk: Callable[[Callable[[], None]], None],
    tmp_path: Path,
) -> None:
    path = tmp_path / name
    path.write_bytes(ROWS if name == "a.xml" else gzip.compress(ROWS, 0))
    os.utime(path, ns=(0, 5))
    (file,) = find_files(path)
    change_after_a_chunk(lambda: change(path))

    found = list(read_piece(Piece(file), None, chunk=1_000))

    assert told(found) == [(name, "changed while it was read")]
    assert len(found) == 1


@pytest.mark.parametrize("change", CHANGES)
def test_rows_of_a_file_that_changes_while_it_is_read_are_followed_by_one_rejection(
    change: Callable[[Path], None], tmp_path: Path
) -> None:
    path = tmp_path / "a.xml"
    path.write_bytes(ROWS)
    os.utime(path, ns=(0, 5))
    (file,) = find_files(path)
    reading = read_piece(Piece(file), "item", chunk=1_000)

    first = next(reading)
    change(path)
    rest = list(reading)

    assert isinstance(first, Document)
    assert told(rest) == [("a.xml", "changed while it was read")]
    assert isinstance(rest[-1], DocumentError)


@pytest.mark.parametrize("change", CHANGES)
def test_an_archive_that_changes_while_it_is_read_is_one_rejection_behind_what_was_read(
    change: Callable[[Path], None], tmp_path: Path
) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(5):
            archive.writestr(f"{number}.xml", b"<a>0123456789</a>")
    os.utime(path, ns=(0, 5))
    reading = read_piece(Piece(find_files(path)[0]), None)

    first = next(reading)
    change(path)

    assert isinstance(first, Document)
    assert told(list(reading)) == [("x.zip", "changed while it was read")]


def test_a_file_that_is_replaced_as_a_whole_is_read_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_bytes(ROWS)
    reading = read_piece(Piece(find_files(path)[0]), "item", chunk=1_000)
    next(reading)

    (tmp_path / "b").write_bytes(b"<other/>")
    (tmp_path / "b").replace(path)
    rest = list(reading)

    assert told(rest) == []
    assert len(rest) == 1_999


def test_parts_of_a_file_that_changed_since_it_was_split_are_told_and_not_read(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_bytes(ROWS)
    cut = pieces(find_files(path), "item", 20_000)
    grow(path)

    found = [list(read_piece(piece, "item")) for piece in cut]

    starts = [piece.rows.start for piece in cut[1:] if piece.rows]
    names = ["a.xml", *(f"a.xml@{start}" for start in starts)]
    assert len(cut) == 3
    assert [told(part) for part in found] == [[(name, "changed since it was split into rows")] for name in names]


@pytest.mark.parametrize("moment", [-1e9, 0.0, 4e9])
def test_the_clock_does_not_matter_to_reading(moment: float, tmp_path: Path) -> None:
    for name in ("a.xml", "b.xml"):
        (tmp_path / name).write_bytes(ROWS)
    os.utime(tmp_path / "a.xml", (moment, moment))

    found = [entry for piece in pieces(find_files(tmp_path), "item", 20_000) for entry in read_piece(piece, "item")]

    assert told(found) == []
    assert len(found) == 4_000
    assert isinstance(found[0], Document)
    assert found[0].timestamp == moment


# -- what cannot be had


@pytest.fixture
def as_nobody(closed: Path) -> Iterator[None]:
    """Permissions do not stop the superuser."""
    assert closed.exists()
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def closed() -> Iterator[Path]:
    """A folder that everyone may read, with one inside that nobody may; not below one that others may not pass."""
    above = Path(mkdtemp())
    root = above / "in"
    (root / "shut").mkdir(parents=True)
    for name in ("a.xml", "secret.xml", "shut/b.xml", "z.xml"):
        (root / name).write_bytes(b"<a/>")
    for folder in (above, root):
        folder.chmod(0o755)
    (root / "secret.xml").chmod(0)
    (root / "shut").chmod(0)
    yield root
    (root / "shut").chmod(0o755)
    shutil.rmtree(above)


@pytest.mark.usefixtures("closed", "as_nobody")
def test_a_file_that_may_not_be_read_takes_no_other_with_it(closed: Path) -> None:
    names = ["a.xml", "secret.xml", "z.xml"]
    found = [entry for name in names for file in find_files(closed / name) for entry in read_piece(Piece(file), None)]

    assert told(found) == [("secret.xml", "Permission denied")]
    assert len(found) == 3


@pytest.mark.usefixtures("closed", "as_nobody")
def test_a_folder_that_may_not_be_read_is_refused(closed: Path) -> None:
    with pytest.raises(ConfigurationError, match="shut: Permission denied"):
        find_files(closed)


@pytest.mark.usefixtures("closed", "as_nobody")
def test_a_folder_whose_files_may_not_be_seen_is_refused(closed: Path) -> None:
    os.seteuid(os.getuid())
    (closed / "shut").chmod(0o644)
    os.seteuid(os.getuid() or 65534)

    with pytest.raises(ConfigurationError, match=r"shut/b.xml: Permission denied"):
        find_files(closed)


@pytest.mark.usefixtures("closed", "as_nobody")
def test_match_tells_what_may_not_be_read_and_goes_on(closed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rejected = Rejected()

    batches = list(read_batches(find_documents([str(closed)], rejected), None, LIMITS, rejected))

    assert [[document.id for document in batch] for batch in batches] == [[f"{closed}/a.xml", f"{closed}/z.xml"]]
    assert rejected.any
    assert capsys.readouterr().err.splitlines() == [
        f"{closed}/shut:1:1: Permission denied (byte 0)",
        f"{closed}/secret.xml:1:1: Permission denied (byte 0)",
    ]


def test_a_folder_that_vanishes_while_it_is_listed_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a/1.xml", "b/2.xml"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes(b"<a/>")
    scan = os.scandir

    def scan_late(path: str) -> object:
        if str(path).endswith("a"):
            (tmp_path / "a").rename(tmp_path / ".gone")
        return scan(path)

    monkeypatch.setattr(os, "scandir", scan_late)

    assert [file.id for file in find_files(tmp_path)] == ["b/2.xml"]


def test_a_root_that_vanishes_while_it_is_listed_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "in"
    root.mkdir()
    walk = os.walk

    def walk_too_late(top: str, onerror: Callable[[OSError], object]) -> Iterator[tuple[str, list[str], list[str]]]:
        root.rmdir()
        return walk(top, onerror=onerror)

    monkeypatch.setattr(os, "walk", walk_too_late)

    with pytest.raises(ConfigurationError, match="in: no such file or folder of documents"):
        find_files(root)


@pytest.mark.parametrize("name", ["a.xml", "a.xml.gz", "a.zip", "a.tar"])
def test_files_whose_folder_vanishes_between_listing_and_reading_are_told_each(name: str, tmp_path: Path) -> None:
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_bytes(b"<a/>")
    listed = find_files(tmp_path)
    (tmp_path / "x").rename(tmp_path / "gone")

    found = [told(list(read_piece(Piece(file), None))) for file in listed]

    assert found[0] == [(f"x/{name}", "No such file or directory")]


@pytest.mark.parametrize("name", ["a.xml", "a.xml.gz", "a.zip", "a.tar"])
def test_a_file_that_has_become_a_pipe_is_told_without_waiting(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(b"<a/>")
    (file,) = find_files(path)
    path.unlink()
    os.mkfifo(path)
    found: list[tuple[str, str]] = []

    reading = threading.Thread(target=lambda: found.extend(told(list(read_piece(Piece(file), None)))), daemon=True)
    reading.start()
    reading.join(10)

    assert found == [(name, "not a file")]


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
def test_a_device_is_no_document(device: str) -> None:
    (file,) = find_files(device)

    assert told(list(read_piece(Piece(file), None))) == [(Path(device).name, "not a file")]


def test_match_finds_no_pipes_and_no_links_to_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.xml")
    (tmp_path / "link.xml").symlink_to(tmp_path / "nothing")
    (tmp_path / "a.xml").write_bytes(b"<a/>")
    (tmp_path / "q.xpath").write_text("/a")

    result = CliRunner().invoke(app, ["match", str(tmp_path / "q.xpath"), str(tmp_path)])

    assert (result.exit_code, result.stderr) == (0, "")
    assert [json.loads(line)["document"] for line in result.stdout.splitlines()] == [f"{tmp_path}/a.xml"]


@pytest.mark.slow
def test_match_reads_from_a_pipe_that_is_named(tmp_path: Path) -> None:
    (tmp_path / "q.xpath").write_text("/a")
    command = f"{sys.executable} -m weft match {tmp_path}/q.xpath <(echo '<a/>')"

    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, check=False)

    assert done.returncode == 0, done.stderr


def test_whatever_is_raised_while_a_member_is_read_is_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        for number in range(3):
            archive.writestr(f"{number}.xml", b"<r><item/></r>")

    def failing(name: str, *rest: Any) -> object:
        if name.endswith("1.xml"):
            raise RecursionError("too deep")
        return read_rows(name, *rest)

    monkeypatch.setattr(files, "read_rows", failing)

    found = list(read_piece(Piece(find_files(tmp_path)[0]), "item"))

    assert told(found) == [("x.zip/1.xml", "RecursionError: too deep")]
    assert len(found) == 3


def test_a_name_that_no_file_can_have_is_told(tmp_path: Path) -> None:
    (tmp_path / "q.xpath").write_text("/a")

    result = CliRunner().invoke(app, ["match", str(tmp_path / "q.xpath"), "a\0b", ""])

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "a\0b:1:1: embedded null byte (byte 0)\n:1:1: No such file or directory (byte 0)\n"
    with pytest.raises(ConfigurationError, match="embedded null byte"):
        find_files("a\0b")
