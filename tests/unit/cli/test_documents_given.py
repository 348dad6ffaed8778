"""The documents that paths on the command line stand for: the same that Spark's source finds, by the same ids."""

import gzip
import io
import json
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import weft
from weft.cli import app
from weft.documents import Document
from weft.errors import DocumentError
from weft.inputs.files import Piece, find_files, read_piece

ROWS = b"<items><item><b>1</b></item><item/></items>"


def run(*arguments: object, stdin: bytes | None = None) -> Result:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def lines(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder `in` with some of everything, and queries beside it, which is also where the command runs."""
    monkeypatch.chdir(tmp_path)
    files = {
        "z.xml": b"<a><b>z</b></a>",
        "broken.xml": b"<a>\n<b></a>",
        "broken.xml.gz": gzip.compress(b"<a/>" * 1000)[:-9],
        "news/1.xml": b"<a/>",
        "news/deep/er/2.XML": b"<a><b>2</b></a>",
        "news/3.xml.gz": gzip.compress(b"<a><b>3</b></a>"),
        "news/.hidden.xml": b"<a/>",
        "_temporary/4.xml": b"<a/>",
        "notes.txt": b"<a/>",
        "rows.xml": ROWS,
    }
    for name, data in files.items():
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / name).write_bytes(data)
    with zipfile.ZipFile(tmp_path / "in" / "day.zip", "w") as archive:
        archive.writestr("x/1.xml", b"<a><b>x</b></a>")
        archive.writestr("2.xml", b"<a>")
    with tarfile.open(tmp_path / "in" / "week.tar.gz", "w:gz") as tar:
        member = tarfile.TarInfo("5.xml")
        member.size = 4
        tar.addfile(member, io.BytesIO(b"<a/>"))
    (tmp_path / "q.xpath").write_text("/a\n//b\n/item\n")
    return tmp_path / "in"


def by_inputs(folder: Path, row_tag: str | None) -> tuple[list[dict[str, Any]], set[str]]:
    """What a broker matches of all that `inputs.files` reads, and what is told of the rest."""
    broker = weft.Broker()
    for query in ("/a", "//b", "/item"):
        broker.subscribe(query)
    entries = [entry for file in find_files(folder) for entry in read_piece(Piece(file), row_tag)]
    documents = [entry for entry in entries if isinstance(entry, Document)]
    found = zip(documents, broker.matches(documents), strict=True)
    rejected = [*broker.rejected, *(entry for entry in entries if isinstance(entry, DocumentError))]
    bad = {error.document for error in broker.rejected}
    matched = [{"document": f"in/{each.id}", "matches": ids} for each, ids in found if each.id not in bad]
    return matched, {f"in/{error}" for error in rejected}


@pytest.mark.parametrize("row_tag", [None, "item"])
def test_match_finds_and_tells_in_a_folder_what_spark_s_source_does(folder: Path, row_tag: str | None) -> None:
    expected, told = by_inputs(folder, row_tag)

    result = run("match", "--ids", *(["--row-tag", row_tag] if row_tag else []), "q.xpath", "in")

    assert lines(result) == expected
    assert set(result.stderr.splitlines()) == told
    assert result.exit_code == 1


def test_a_folder_has_archives_and_compressed_files_and_nothing_hidden(folder: Path) -> None:
    result = run("match", "--ids", "q.xpath", folder.name)

    assert {line["document"]: line["matches"] for line in lines(result)} == {
        "in/day.zip/x/1.xml": ["1", "2"],
        "in/news/1.xml": ["1"],
        "in/news/3.xml.gz": ["1", "2"],
        "in/news/deep/er/2.XML": ["1", "2"],
        "in/rows.xml": ["2"],
        "in/week.tar.gz/5.xml": ["1"],
        "in/z.xml": ["1", "2"],
    }
    assert {line.split(":")[0] for line in result.stderr.splitlines()} == {
        "in/broken.xml",
        "in/broken.xml.gz",
        "in/day.zip/2.xml",
    }


@pytest.mark.usefixtures("folder")
def test_files_given_by_path_are_read_as_in_a_folder_and_known_by_the_path() -> None:
    names = ["./in/news/3.xml.gz", "in/day.zip", "in/news/.hidden.xml", "in/notes.txt"]

    result = run("match", "--ids", "q.xpath", *names)

    assert [line["document"] for line in lines(result)] == [names[0], "in/day.zip/x/1.xml", *names[2:]]
    assert result.stderr == "in/day.zip/2.xml:1:4: no element found (byte 3)\n"


def test_rows_of_files_and_of_standard_input_are_documents(folder: Path) -> None:
    result = run("match", "--ids", "--row-tag", "item", "q.xpath", folder / "rows.xml", "-", stdin=ROWS)

    starts = [ROWS.index(b"<item>"), ROWS.index(b"<item/>")]
    assert lines(result) == [
        {"document": f"{name}@{start}", "matches": matches}
        for name in (folder / "rows.xml", "-")
        for start, matches in zip(starts, (["2", "3"], ["3"]), strict=True)
    ]


@pytest.mark.usefixtures("folder")
def test_explain_reads_the_same_documents() -> None:
    whole, rows = run("explain", "q.xpath", "in"), run("explain", "--row-tag", "item", "q.xpath", "in/rows.xml")

    assert whole.exit_code == 1
    assert sorted(whole.stderr.splitlines()) == sorted(run("match", "q.xpath", "in").stderr.splitlines())
    assert "/items/item" in whole.stdout
    assert "/items" not in rows.stdout
    assert "/item/b" in rows.stdout


def test_test_reads_a_compressed_document_and_no_folder_of_several(folder: Path) -> None:
    (folder.parent / "empty").mkdir()

    one, several, none = (run("test", "//b", name) for name in ("in/news/3.xml.gz", "in/news", "empty"))

    assert one.stdout.endswith("▶ 1 node in in/news/3.xml.gz\n")
    assert (several.exit_code, none.exit_code) == (2, 2)
    assert several.stderr == "weft: in/news: expected one document, found several; weft match takes them all\n"
    assert none.stderr.endswith("weft: empty: expected one document, found none\n")


def joined(*documents: str) -> list[list[str]]:
    return [line["documents"] for line in lines(run("match", "joins", *documents))]


@pytest.mark.slow
def test_a_folder_below_the_given_one_is_a_stream_and_time_is_the_clock_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("inbox/paid/1.xml", "inbox/back/2.xml", "inbox/other/3.xml"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("<p><of>7</of></p>")
    (tmp_path / "joins").mkdir()
    query = "SELECT <m/> FROM paid/p[of->x] FOLLOWED BY{x = y, 1 day} back/p[of->y]"
    (tmp_path / "joins" / "returned.xscl").write_text(query)

    in_order = joined("inbox/paid/1.xml", "inbox/back/2.xml")

    assert in_order == [["inbox/paid/1.xml", "inbox/back/2.xml"]]  # without a stream each is for every block
    assert joined("inbox/paid", "inbox/back") == in_order
    assert joined("inbox") == []  # `back` comes before `paid`, and `other` is neither
    (tmp_path / "inbox" / "back").rename(tmp_path / "inbox" / "zback")
    (tmp_path / "joins" / "returned.xscl").write_text(query.replace("back/", "zback/"))
    assert joined("inbox") == [["inbox/paid/1.xml", "inbox/zback/2.xml"]]
