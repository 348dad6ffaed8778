"""Files, folders and archives as sources: what they answer is what lxml finds in them."""

import gzip
import os
import tarfile
import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from lxml import etree

from weft.errors import QueryError
from weft.views.nodes import version_of
from weft.views.sources.local import DirectorySource, FileSource
from weft.views.sources.opening import open_source
from weft.views.sources.source import Answer, SourceError, read_question

SHOP = b"<shop><item id='1'><price>5</price></item><item id='2'><price>9</price></item></shop>"


def items(*prices: int) -> bytes:
    return b"<shop>" + b"".join(b"<item><price>%d</price></item>" % price for price in prices) + b"</shop>"


def folder(path: Path) -> Path:
    """Documents in all forms: plain, below, compressed, zipped, in a tar."""
    (path / "below").mkdir(parents=True)
    (path / "b.xml").write_bytes(items(1, 2))
    (path / "below" / "a.xml").write_bytes(items(3))
    (path / "c.xml.gz").write_bytes(gzip.compress(items(4, 5)))
    with zipfile.ZipFile(path / "d.zip", "w") as archive:
        archive.writestr("one.xml", items(6))
        archive.writestr("two.xml", items(7, 8))
    with tarfile.open(path / "e.tar", "w") as tar:
        member = tarfile.TarInfo("three.xml")
        member.size = len(items(9))
        tar.addfile(member, BytesIO(items(9)))
    return path


IDS = ["b.xml", "below/a.xml", "c.xml.gz", "d.zip/one.xml", "d.zip/two.xml", "e.tar/three.xml"]


def prices(answer: Answer, at: int = 0) -> list[float]:
    found: list[float] = answer.rows[at]["number"].to_pylist()
    return found


# -- answers


def test_a_file_answers_what_lxml_finds(tmp_path: Path) -> None:
    (tmp_path / "shop.xml").write_bytes(SHOP)

    answer = FileSource(tmp_path / "shop.xml").answer([read_question("//price"), read_question("//item[price > 6]")])

    expected = [etree.tostring(node).decode() for node in etree.fromstring(SHOP).xpath("//price")]
    assert answer.rows[0]["fragment"].to_pylist() == expected
    assert answer.rows[1]["fragment"].to_pylist() == ["<item id='2'><price>9</price></item>"]
    assert set(answer.rows[0]["version"].to_pylist()) == {version_of(SHOP)}
    assert answer.cost.size == sum(map(len, expected)) + len("<item id='2'><price>9</price></item>")
    assert answer.cost.processing > 0
    assert [measure.count for measure in answer.measures()] == [2, 1]


def test_a_folder_answers_from_all_forms_in_the_order_of_ids(tmp_path: Path) -> None:
    source = DirectorySource(folder(tmp_path / "shops"))

    answer = source.answer([read_question("/shop/item/price")])

    assert source.name == "shop"
    assert prices(answer) == [1, 2, 3, 4, 5, 6, 7, 8, 9]
    assert list(answer.tokens) == list(source.tokens()) == IDS
    assert [document.id for document in source.fetch()] == IDS
    assert [document.data for document in source.fetch(["d.zip/two.xml", "gone.xml"])] == [items(7, 8)]
    assert source.measure([read_question("//price")])[0].count == 9


def test_an_archive_is_a_source_of_its_members(tmp_path: Path) -> None:
    folder(tmp_path / "shops")

    source = open_source(tmp_path / "shops" / "d.zip")

    assert source.name == "shop"
    assert prices(source.answer([read_question("//price")])) == [6, 7, 8]


def test_a_bad_document_is_rejected_and_the_rest_answered(tmp_path: Path) -> None:
    folder(tmp_path / "shops")
    (tmp_path / "shops" / "a.xml").write_bytes(b"<shop><item>")
    (tmp_path / "shops" / "f.xml.gz").write_bytes(b"no gzip")
    (tmp_path / "shops" / "g.zip").write_bytes(b"no zip")
    source = DirectorySource(tmp_path / "shops")

    answer = source.answer([read_question("//price")])

    assert source.name == "shop"
    assert len(prices(answer)) == 9
    assert [error.document for error in answer.rejected] == ["f.xml.gz", "g.zip", "a.xml"]


def test_a_file_that_cannot_be_read_is_an_error_of_the_source(tmp_path: Path) -> None:
    (tmp_path / "shop.xml").write_bytes(b"<shop><item></shop>")

    with pytest.raises(SourceError, match=r"^shop: shop.xml:1:\d+: mismatched tag"):
        FileSource(tmp_path / "shop.xml").answer([read_question("//item")])


def test_a_wrong_question_is_an_error_of_the_query() -> None:
    with pytest.raises(QueryError):
        read_question("//item[")


# -- names


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (SHOP, "shop"),
        (b"<s:shop xmlns:s='urn:shop'/>", "{urn:shop}shop"),
        (b"\xef\xbb\xbf<?xml version='1.0'?><!-- <a> --><shop xmlns='u'/>", "{u}shop"),
        ("<?xml version='1.0' encoding='utf-16'?><laden/>".encode("utf-16"), "laden"),
        ("<?xml version='1.0' encoding='iso-8859-1'?><b\xe4r/>".encode("latin-1"), "bär"),
        (b"<!DOCTYPE shop [<!ENTITY e 'x'>]><shop/>", "shop"),
        (b"<!--" + b"x" * 100_000 + b"--><shop/>", "shop"),
    ],
)
def test_the_root_names_a_source(tmp_path: Path, data: bytes, name: str) -> None:
    (tmp_path / "a.xml").write_bytes(data)
    (tmp_path / "a.xml.gz").write_bytes(gzip.compress(data))

    assert FileSource(tmp_path / "a.xml").name == name
    assert FileSource(tmp_path / "a.xml.gz").name == name


def test_a_look_at_the_root_reads_no_more_than_it_must(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_bytes(b"<shop>" + b"<item>" * 20_000 + b"&broken")

    assert FileSource(tmp_path / "a.xml").name == "shop"


def test_a_folder_with_several_roots_must_be_given_a_name(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_bytes(items(1))
    (tmp_path / "b.xml").write_bytes(b"<store/>")

    with pytest.raises(SourceError, match=r"one root element.* found shop \(a.xml\), store \(b.xml\); give it a name"):
        _ = DirectorySource(tmp_path).name
    assert prices(DirectorySource(tmp_path, "shops").answer([read_question("//price")])) == [1]


def test_what_has_no_root_has_no_name(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no documents"):
        _ = DirectorySource(tmp_path).name
    (tmp_path / "a.xml").write_bytes(b"text")
    with pytest.raises(SourceError, match=r"a.xml:1:1: (no element found|syntax error)"):
        _ = FileSource(tmp_path / "a.xml").name


# -- tokens


def test_a_token_changes_with_the_content(tmp_path: Path) -> None:
    file = tmp_path / "shop.xml"
    file.write_bytes(items(1))
    source = FileSource(file)
    first = source.tokens()
    assert source.tokens() == first

    status = file.stat()
    (tmp_path / "new.xml").write_bytes(items(2))
    os.utime(tmp_path / "new.xml", ns=(status.st_atime_ns, status.st_mtime_ns))
    (tmp_path / "new.xml").replace(file)  # the same size and time: another file all the same

    assert file.stat().st_mtime_ns == status.st_mtime_ns
    assert source.tokens() != first


def test_members_that_come_and_go_are_seen(tmp_path: Path) -> None:
    source = DirectorySource(folder(tmp_path / "shops"))
    before = source.tokens()

    with zipfile.ZipFile(tmp_path / "shops" / "d.zip", "w") as archive:
        archive.writestr("other.xml", items(6))
    (tmp_path / "shops" / "b.xml").unlink()

    after = source.tokens()
    assert set(after) - set(before) == {"d.zip/other.xml"}
    assert set(before) - set(after) == {"b.xml", "d.zip/one.xml", "d.zip/two.xml"}
    assert all(after[id] == before[id] for id in {*after} & {*before})


# -- opening


def test_a_location_is_recognized(tmp_path: Path) -> None:
    folder(tmp_path / "shops")

    assert isinstance(open_source(tmp_path / "shops"), DirectorySource)
    assert isinstance(open_source(tmp_path / "shops" / "b.xml"), FileSource)
    assert open_source(tmp_path / "shops").location == str(tmp_path / "shops")


@pytest.mark.parametrize("location", ["ftp://somewhere/a.xml", "", "file:///a.xml"])
def test_a_location_that_is_none_is_refused(location: str) -> None:
    with pytest.raises(SourceError, match="expected a path"):
        open_source(location)


def test_what_is_not_there_is_an_error_of_the_source(tmp_path: Path) -> None:
    for ask in (
        lambda: open_source(tmp_path / "gone.xml").name,
        lambda: open_source(tmp_path / "gone.xml", "shop").tokens(),
        lambda: open_source(tmp_path / "gone.xml", "shop").fetch(),
        lambda: open_source(tmp_path / "gone.xml", "shop").answer([read_question("//a")]),
    ):
        with pytest.raises(SourceError, match="No such file"):
            ask()


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.xml")

    with pytest.raises(SourceError, match="not a file"):
        _ = FileSource(tmp_path / "pipe.xml").name


def test_the_two_kinds_are_not_mistaken_for_each_other(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_bytes(SHOP)

    with pytest.raises(SourceError, match="found a folder"):
        FileSource(tmp_path)
    with pytest.raises(SourceError, match="found a file"):
        DirectorySource(tmp_path / "a.xml")
