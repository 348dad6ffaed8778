"""Rows taken out of a file: what they are, what they carry with them, and what is told about the rest."""

import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from weft.documents import Document, Limits
from weft.documents import read as read_documents
from weft.errors import ConfigurationError, DocumentError
from weft.inputs.rows import Rows, check_row_tag, cut_rows, read_rows

LIMITS = Limits()
BUFFERS = (1, 2, 7, 4_096)


def read(
    file: str | bytes, tag: str = "item", buffer: int = 4_096, **limits: Any
) -> list[tuple[int, str] | DocumentError]:
    """Rows as offset and text, errors as they are."""
    data = file.encode() if isinstance(file, str) else file
    chunks = (data[at : at + buffer] for at in range(0, len(data), buffer))
    rows = read_rows("file", chunks, tag, Limits(**limits))
    return [row if isinstance(row, DocumentError) else (row[0], row[1].decode()) for row in rows]


def texts(file: str | bytes, tag: str = "item", buffer: int = 4_096) -> list[str]:
    """The rows of a file in which nothing is wrong."""
    rows = read(file, tag, buffer)
    assert not [row for row in rows if isinstance(row, DocumentError)]
    return [row[1] for row in rows if isinstance(row, tuple)]


def failure(file: str | bytes, tag: str = "item", buffer: int = 4_096, **limits: Any) -> tuple[int, DocumentError]:
    """How many rows come before the one error."""
    *rows, error = read(file, tag, buffer, **limits)
    assert isinstance(error, DocumentError)
    assert not [row for row in rows if isinstance(row, DocumentError)]
    return len(rows), error


# -- what a row is


def test_each_element_of_the_name_is_a_row_with_its_offset() -> None:
    assert read("<r>\n<item>1</item><b/><item>2</item></r>") == [(4, "<item>1</item>"), (22, "<item>2</item>")]


def test_offsets_are_those_of_bytes() -> None:
    assert read("\ufeff<r>é<item/></r>") == [(8, "<item/>")]


def test_a_row_in_a_row_belongs_to_the_outer_one() -> None:
    row = "<item><b><item>1</item><item/></b><item></item></item>"

    assert texts(f"<r>{row}{row}</r>") == [row, row]


def test_a_tag_without_a_prefix_finds_any_prefix_and_one_with_a_prefix_only_its_own() -> None:
    file = '<r xmlns:x="u" xmlns:y="u"><item/><x:item/><y:item><item/></y:item></r>'

    assert len(read(file, "item")) == 3
    assert read(file, "x:item") == [(file.index("<x:item"), '<x:item xmlns:x="u"/>')]


def test_names_that_only_begin_like_the_tag_are_others() -> None:
    file = "<r><items/><item-a/><item.b></item.b><item:c xmlns:item='u'/><item><items></items><item-a/></item></r>"

    assert texts(file) == ["<item><items></items><item-a/></item>"]


def test_a_file_without_the_element_gives_nothing() -> None:
    assert read("<r><items/>item</r>") == []


@pytest.mark.parametrize("buffer", BUFFERS)
@pytest.mark.parametrize("around", ["{}", "\n<!-- <item> --> {} <?p <item>?>\n", "<?xml version='1.0'?>{}"])
def test_a_root_that_is_the_row_is_one_row(around: str, buffer: int) -> None:
    assert texts(around.format("<item a='1'><item/>x</item>"), buffer=buffer) == ["<item a='1'><item/>x</item>"]


@pytest.mark.parametrize("buffer", BUFFERS)
@pytest.mark.parametrize(
    "row",
    [
        "<item/>",
        "<item />",
        "<item\n\ta='>'\n/>",
        "<item a='/>' b=\"'>\">x</item\n>",
        "<item><!-- </item> <item> --></item>",
        "<item><![CDATA[</item><item>]]]]></item>",
        "<item><?p </item> ?><?item?></item>",
        "<item><!----><!--->--><![CDATA[]]><?p?></item>",
        "<item>]] > é ! ? <b a='!'/></item>",
        "<item><item a='&lt;/item>'/></item>",
    ],
)
def test_what_looks_like_the_end_of_a_row_is_none(row: str, buffer: int) -> None:
    assert texts(f"<r>{row}\n{row}<b>{row}</b></r>", buffer=buffer) == [row] * 3


@pytest.mark.parametrize("buffer", BUFFERS)
@pytest.mark.parametrize(
    "fake",
    [
        "<!-- <item>1</item> -->",
        "<![CDATA[<item>1</item>]]>",
        "<?p <item>1</item> ?>",
        "<b a='&lt;item>' c='>'/>",
        "&lt;item/> item> /item>",
        "<!---->><![CDATA[]]]]>",
    ],
)
def test_what_looks_like_a_row_is_none(fake: str, buffer: int) -> None:
    assert texts(f"<r>{fake}<item/>{fake}<b>{fake}</b><item/>{fake}</r>", buffer=buffer) == ["<item/>"] * 2


@pytest.mark.parametrize("tag", ["", "<item>", "a b", "a:b:c", "1a", "/r/item", "*", ":a"])
def test_a_row_tag_must_be_a_name(tag: str) -> None:
    with pytest.raises(ConfigurationError, match="row tag"):
        check_row_tag(tag)


@pytest.mark.parametrize("tag", ["item", "x:item", "_a", "a-b.c1", "ключ", "日本:語"])
def test_every_name_can_be_a_row_tag(tag: str) -> None:
    check_row_tag(tag)

    assert texts(f"<r xmlns:x='u' xmlns:日本='v'><{tag}>1</{tag}></r>", tag)[0].endswith(f">1</{tag}>")


# -- what a row carries with it


@pytest.mark.parametrize(
    ("file", "row"),
    [
        ("<r xmlns='u'><item/></r>", '<item xmlns="u"/>'),
        ("<r xmlns:p='u'><p:item a='1'/></r>", "<p:item xmlns:p=\"u\" a='1'/>"),
        ("<r xmlns='u' xmlns:p='v'><b xmlns='w'><item/></b></r>", '<item xmlns="w"/>'),
        ("<r xmlns='u' xmlns:p='v'><item p:a=''/></r>", '<item xmlns="u" xmlns:p="v" p:a=\'\'/>'),
        ("<r xmlns='u' xmlns:p='v'><item><p:b/></item></r>", '<item xmlns="u" xmlns:p="v"><p:b/></item>'),
        ("<r xmlns='u' xmlns:p='v'><p:item/></r>", '<p:item xmlns:p="v"/>'),
        ("<r xmlns='u' xmlns:p='v'><p:item><b/></p:item></r>", '<p:item xmlns="u" xmlns:p="v"><b/></p:item>'),
        ("<r xmlns='u'><b xmlns=''><item/></b></r>", "<item/>"),
        ("<r xmlns='u'><b/><item xmlns=''/></r>", "<item xmlns=''/>"),
        ("<r xmlns='u' xmlns:p='v'><item xmlns:p='w'/></r>", "<item xmlns=\"u\" xmlns:p='w'/>"),
        ("<r xmlns='u'><item a=' xmlns=\"w\"'/></r>", '<item xmlns="u" a=\' xmlns="w"\'/>'),
        ("<r xmlns='u'><item xmlnsx='1'/></r>", "<item xmlns=\"u\" xmlnsx='1'/>"),
        ("<r xmlns:p='a?b=1&amp;c'><p:item/></r>", '<p:item xmlns:p="a?b=1&amp;c"/>'),
        ("<r><b xmlns:p='u'/><item/></r>", "<item/>"),
        ("<r xml:lang='de' xml:space='preserve' xml:base='b'><item/></r>", "<item/>"),
    ],
)
def test_a_row_declares_the_namespaces_that_it_uses(file: str, row: str) -> None:
    assert texts(file) == [row]


@pytest.mark.parametrize("external", ["", " SYSTEM '>['", " PUBLIC \"-//p\" '>'"])
@pytest.mark.parametrize(
    ("subset", "row", "needed"),
    [
        ("<!ENTITY e 'x'>", "<item/>", ""),
        ("<!ENTITY e 'x'>", "<item>&lt;&#65;</item>", ""),
        ("<!ENTITY e 'x'><!ENTITY f 'y'>", "<item>&e;</item>", "<!ENTITY e 'x'>"),
        ("<!ENTITY e 'x'><!ENTITY f '&e;'>", "<item a='&f;'/>", "<!ENTITY e 'x'><!ENTITY f '&e;'>"),
        ("<!-- ]> ' --><!ENTITY e \"]>'\"><?p ]>'?>", "<item>&e;</item>", '<!ENTITY e "]>\'">'),
        ("<!ENTITY s SYSTEM 'x'>", "<item>&s;</item>", '<!ENTITY s SYSTEM "">'),
        ("<!ENTITY e 'x'><!ATTLIST b a CDATA '&e;'>", "<item/>", "<!ENTITY e 'x'><!ATTLIST b a CDATA '&e;'>"),
        ("<!ATTLIST item a CDATA 'b' c NMTOKENS 'd '>", "<item/>", "<!ATTLIST item a CDATA 'b' c NMTOKENS 'd '>"),
        ("<!ENTITY e 'x'>%p;<!ENTITY f 'y'>", "<item>&f;</item>", "<!ENTITY e 'x'>%p;<!ENTITY f 'y'>"),
    ],
)
def test_a_row_carries_the_declarations_that_it_needs(external: str, subset: str, row: str, needed: str) -> None:
    (found,) = texts(f"<!DOCTYPE r{external} [{subset}] ><r>{row}</r>")

    identifiers = external if re.search("&[esf];", row) else ""
    assert found == (f"<!DOCTYPE item{identifiers} [{needed}]>{row}" if needed else row)


def test_an_entity_that_the_external_dtd_of_the_file_may_declare_is_for_the_reader_of_the_row() -> None:
    file = (
        '<!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" "rss.dtd"><rss><item>&uuml;</item></rss>'
    )
    (row,) = texts(file)

    table = read_documents([Document(row)])

    assert table.texts == ("ü",)


def test_prefixes_in_the_text_of_an_entity_are_declared() -> None:
    subset = "<!ENTITY e '<p:b/><c/>'><!ATTLIST d q:a CDATA ''>"
    (row,) = texts(f"<!DOCTYPE r [{subset}]><r xmlns='u' xmlns:p='v' xmlns:q='w' xmlns:x='y'><x:item>&e;</x:item></r>")

    assert row.endswith('<x:item xmlns="u" xmlns:p="v" xmlns:q="w" xmlns:x="y">&e;</x:item>')


@pytest.mark.parametrize("doctype", ["<!DOCTYPE r>", "<!DOCTYPE r SYSTEM 'a[b'>", "<!DOCTYPE r [<!ELEMENT r ANY> ]>"])
def test_a_doctype_that_says_nothing_about_a_row_is_left_out(doctype: str) -> None:
    assert texts(f"{doctype}<r><item/></r>") == ["<item/>"]


def test_namespaces_that_are_declared_by_default_are_in_scope() -> None:
    subset = "<!ATTLIST r xmlns CDATA 'u' xmlns:p CDATA #FIXED 'v'><!ATTLIST item xmlns:p CDATA 'w'>"
    (row,) = texts(f"<!DOCTYPE r [{subset}]><r><item><p:b/></item></r>")

    element = etree.fromstring(row)

    assert (element.tag, element[0].tag) == ("{u}item", "{w}b")


def test_a_row_that_an_entity_stands_for_is_told() -> None:
    file = "<!DOCTYPE r [<!ENTITY e '<item>1</item>'>]>\n<r><item/>&e;</r>"

    rows, error = failure(file)

    assert (rows, error.line, error.offset) == (1, 2, file.index("&e;</r>"))
    assert "from an entity" in error.reason


# -- what is wrong


@pytest.mark.parametrize("buffer", BUFFERS)
@pytest.mark.parametrize(
    ("file", "rows", "place", "reason"),
    [
        ("<r><item/>\n<b></r>", 1, (2, 6, 16), "mismatched tag"),
        ("<r>\n<item/></r2>", 1, (2, 10, 13), "mismatched tag"),
        ("<r>é<item/>\n", 1, (2, 1, 13), "no element found"),
        ("<r><item/>\n<item/> <item/>", 3, (2, 16, 26), "no element found"),
        ("<r><item/><item>\n", 1, (2, 1, 17), "unclosed <item> of byte 10"),
        ("<r><item/><item a='", 1, (1, 20, 19), "unclosed <item> of byte 10"),
        ("<r><item/><item><!-- </item></r>", 1, (1, 33, 32), "unclosed <item> of byte 10"),
        ("<r><item/></r>\n<item/>", 1, (2, 1, 15), "junk after document element"),
        ("<item/>\n<item/>", 1, (2, 1, 8), "junk after document element"),
        ("<r><item/><item/>\n& <item/></r>", 2, (2, 2, 19), "not well-formed"),
        ("<r><item/>&u;<item/></r>", 1, (1, 11, 10), "undefined entity"),
        ("<r><item/><p:b/></r>", 1, (1, 11, 10), "unbound prefix"),
        ("<r><b a='<item/>'/></r>", 0, (1, 10, 9), "not well-formed"),
        ("<r><b <item/>/></r>", 0, (1, 7, 6), "not well-formed"),
        ("<r><item/><!-- --", 1, (1, 11, 10), "unclosed token"),
        ("<r><item/><![CDATA[", 1, (1, 20, 19), "unclosed CDATA section"),
        ("", 0, (1, 1, 0), "no element found"),
        ("<!-- -->", 0, (1, 9, 8), "no element found"),
        ("'<r><item/></r>", 0, (1, 5, 4), "text outside the root"),
        ("<r/>'<item/>", 0, (1, 6, 5), "text outside the root"),
        ("<r><item/><!DOCTYPE r></r>", 1, (1, 13, 12), "not well-formed"),
        ("<!DOCTYPE r [ <item/>", 0, (1, 15, 14), "syntax error"),
    ],
)
def test_a_file_that_is_not_well_formed_is_told_once_after_its_rows(
    file: str, rows: int, place: tuple[int, int, int], reason: str, buffer: int
) -> None:
    found, error = failure(file, buffer=buffer)

    assert found == rows
    assert error.document == "file"
    assert reason in error.reason
    assert (error.line, error.column, error.offset) == place


@pytest.mark.parametrize("buffer", BUFFERS)
@pytest.mark.parametrize(
    "bad",
    [
        *("<item><b></item>", '<item a="1></item>', "<item a=1></item>", "<item>&u;</item>", "<item a='1'<b></item>"),
        *("<item><!x></item>", "<item></item x>", "<item>\x01</item>", '<item a="1/>'),
    ],
)
def test_a_row_that_is_not_well_formed_is_left_to_who_reads_it_and_harms_no_other(bad: str, buffer: int) -> None:
    assert texts(f"<r><item/>{bad}<item>2</item></r>", buffer=buffer) == ["<item/>", bad, "<item>2</item>"]


@pytest.mark.parametrize("buffer", BUFFERS)
@pytest.mark.parametrize(
    "large", [f"<item>\n{'x' * 99}</item>", f"<item a='{'x' * 99}'/>", f"<item>{'<item/>' * 15}</item>"]
)
def test_a_row_that_is_too_large_is_told_and_the_rest_goes_on(large: str, buffer: int) -> None:
    file = f"<r>\n<item/>{large}\n<item>2</item></r>"

    first, error, last = read(file, buffer=buffer, max_bytes=len(large) - 1)

    assert isinstance(error, DocumentError)
    assert error.args == ("file@11", 2, 8, 11, f"more than {len(large) - 1} bytes")
    assert [first, last] == [(4, "<item/>"), (file.index("<item>2"), "<item>2</item>")]
    assert len(read(file, buffer=buffer, max_bytes=len(large))) == 3


def test_what_is_added_to_a_row_counts_too() -> None:
    file = "<!DOCTYPE r [<!ENTITY e 'x'>]><r xmlns='u'><item>&e;</item></r>"
    (row,) = texts(file)

    assert isinstance(read(file, max_bytes=len(row) - 1)[0], DocumentError)
    assert read(file, max_bytes=len(row)) == [(file.index("<item"), row)]


def test_a_large_row_without_an_end_is_told_once() -> None:
    rows, error = failure(f"<r><item/><item>{'x' * 1_000}", buffer=10, max_bytes=100)

    assert (rows, error.document, error.offset) == (1, "file", 1_016)


def test_a_doctype_is_rejected_once_for_the_whole_file_if_none_is_allowed() -> None:
    file = "<!--c-->\n<!DOCTYPE r [<!ENTITY e 'x'>]>\n<r><item/><item/></r>"
    parts = cut_rows("file", [file.encode()], "item", 1)

    told = [row for part in parts for row in read_part(file.encode(), part, Limits(doctype="reject"))]

    assert [error.args for error in told if isinstance(error, DocumentError)] == [
        ("file", 2, 1, 9, "a DOCTYPE is not allowed here")
    ]
    assert len(told) == 1 < len(parts)


# -- parts


def read_part(data: bytes, part: Rows, limits: Limits = LIMITS) -> list[tuple[int, bytes] | DocumentError]:
    return list(read_rows("file", [data[part.start : part.end]], "item", limits, part))


def test_a_part_needs_nothing_before_it() -> None:
    file = (
        b"<!DOCTYPE r [<!ENTITY e 'x'>]>\n<r xmlns='u'><b xmlns:p='v'>\n<item>1</item></b> <item>2</item>\n<item/></r>"
    )
    whole = read_part(file, Rows())

    parts = cut_rows("file", [file], "item", 10)

    assert [part.start for part in parts] == [0, *(row[0] for row in whole if not isinstance(row, DocumentError))]
    assert [row for part in parts for row in read_part(file, part)] == whole
    assert (parts[1].line, parts[1].column, [element.name for element in parts[1].open]) == (3, 1, ["r", "b"])


@pytest.mark.parametrize("most", [1, 20, 50, 10_000])
def test_an_error_is_told_by_one_part_at_its_place_in_the_file(most: int) -> None:
    file = b"<r>" + b"\n<item>1</item>" * 9 + b"<b>\n</r>"

    parts = cut_rows("file", [file], "item", most)

    told = [row for part in parts for row in read_part(file, part)]
    assert [row.args for row in told if isinstance(row, DocumentError)] == [("file", 11, 3, 144, "mismatched tag")]
    assert len(told) == 10


@pytest.mark.parametrize("broken", ["<item a='1>", "<item a='1/>", "<b a='1>", "<b", "<item", "&", "<!x"])
def test_what_breaks_off_where_a_part_ends_is_read_as_in_the_whole_file(broken: str) -> None:
    file = f"<r><item/>\n{broken}<item/></item>{broken}<item/></r>".encode()

    told = [row for part in cut_rows("file", [file], "item", 1) for row in read_part(file, part)]

    whole = read_part(file, Rows())
    assert [getattr(row, "args", row) for row in told] == [getattr(row, "args", row) for row in whole]


# -- size and speed


@pytest.mark.timed
def test_a_comment_or_a_dtd_of_megabytes_takes_no_more_than_a_moment() -> None:
    comment = f"<!--{'>-' * 2_000_000}-->"
    subset = f"<!ENTITY e 'x'>{comment}<!--{'] ' * 500_000}-->"
    began = time.process_time()

    rows = read(f"<!DOCTYPE r [{subset}]><r>{comment}<item/>{comment}</r>", buffer=100_000)

    assert len(rows) == 1
    assert time.process_time() - began < 10


def test_a_tag_without_an_end_is_not_held_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weft.inputs.row_reader._LONGEST", 1_000)

    for file in ("<r><item/><b a='" + "x" * 2_000, "<r><item/><!--" + "x" * 2_000, "<r><item/><item a='" + "x" * 2_000):
        rows, error = failure(file, buffer=100)
        assert (rows, error.offset) == (1, 10)
        assert "more than 1000 bytes" in error.reason


MEASURE = """
import resource, sys
from weft.inputs.files import Piece, find_files, pieces, read_piece

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

(file,) = find_files(sys.argv[1])
before = peak()
parts = pieces([file], "item", 64 * 1024 * 1024)
rows = sum(1 for part in parts for _ in read_piece(part, "item"))
whole = sum(1 for _ in read_piece(Piece(file), "item"))
print(len(parts), rows, whole, peak() - before)
"""


@pytest.mark.slow
def test_a_file_of_200_megabytes_is_read_in_little_memory(tmp_path: Path) -> None:
    row = b"<item>" + b"<b>some text</b>\n" * 1_000 + b"</item>\n"
    with (tmp_path / "large.xml").open("wb") as file:
        file.write(b"<r>")
        file.writelines([row * 100] * 124)
        file.write(b"</r>")

    command = [sys.executable, "-c", MEASURE, str(tmp_path / "large.xml")]
    measured = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()

    parts, rows, whole, kilobytes = map(int, measured)
    assert (parts, rows, whole) == (4, 12_400, 12_400)
    assert kilobytes < 64 * 1024
