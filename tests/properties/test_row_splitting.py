"""The rows of a file mean what lxml says they do, wherever the file is cut into chunks and into parts."""

from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from lxml import etree

from weft.documents import Document, Limits, read
from weft.errors import DocumentError
from weft.inputs.rows import WHOLE, Rows, cut_rows, read_rows

LIMITS = Limits()
#: As rows come out of a file: offset and document.
Row = tuple[int, bytes] | DocumentError

NAMESPACES = (
    'xmlns=""',
    'xmlns="urn:d"',
    "xmlns='urn:e?a&amp;b'",
    'xmlns:p="urn:p"',
    "xmlns:p='urn:o'",
    'xmlns:q="urn:q"',
)
ATTRIBUTES = (
    'a=">"',
    "b='/>'",
    "c=' xmlns=\"no\"'",
    'd="\n>&#10;é"',
    "p:e='&lt;item>'",
    "xml:lang='de'",
    'xmlnsx="\'"',
    'f="&e;"',
)
FAKES = ("<item>", "</item>", "<item", "</w>", "<p:item/>", "'", '"', ">", "é", "]", "-", "?")
TEXTS = (" ", "\n  ", "\r\n", "text", "&amp;", "é", "'", '"', ">", "]] ", "&#60;item/>", "&e;", "&x;", "items/item>")
ROWS = ("item", "p:item", "q:item")
OTHERS = ("w", "w", "items", "it", "p:w", "item-", "item.s", "q:items")
PROLOGS = ("", "\ufeff", '<?xml version="1.0" encoding="UTF-8"?>\n', "<!-- <item/> -->\n<?p <item>?>\n", "\n\n")
SUBSETS = (  # &e; is for attributes too, &x; for content alone
    "<!ENTITY e 'in'><!ENTITY x 'in'>",
    "<!-- ' ]> --><!ENTITY e \"]>'\"><?p ]> '?><!ENTITY x '&e;'>",
    "<!ENTITY e ''><!ENTITY x '<it>&#38;amp;</it>'><!ATTLIST item g CDATA 'given' a NMTOKENS #IMPLIED>",
    "<!ENTITY e ' '><!ENTITY x ''><!ATTLIST w xmlns:p CDATA 'urn:default'>"
    "<!ATTLIST p:item xmlns:p CDATA #FIXED 'urn:fixed'>",
)


@st.composite
def asides(draw: DrawFn) -> str:
    """What may hold anything that looks like a row."""
    inside = "".join(draw(st.lists(st.sampled_from(FAKES), max_size=3)))
    form, sign = draw(st.sampled_from((("<!--{} -->", "-"), ("<![CDATA[{}]]>", "]"), ("<?p {}?>", "?"))))
    return form.format(inside.replace(sign, ""))


@st.composite
def elements(draw: DrawFn, names: st.SearchStrategy[str], depth: int) -> str:
    name = draw(names)
    declared = {text.partition("=")[0]: text for text in draw(st.lists(st.sampled_from(NAMESPACES), max_size=2))}
    given_attributes = draw(st.lists(st.sampled_from(ATTRIBUTES), max_size=2, unique=True))
    spaces = st.sampled_from((" ", "\n", "\t "))
    tag = name + "".join(draw(spaces) + attribute for attribute in (*declared.values(), *given_attributes))
    after = draw(st.sampled_from(("", "", " ", "\n")))
    if draw(st.integers(0, 3)) == 0:
        return f"<{tag}{after}/>"
    return f"<{tag}{after}>{draw(contents(depth - 1))}</{name}{after}>"


@st.composite
def contents(draw: DrawFn, depth: int) -> str:
    parts: st.SearchStrategy[str] = st.sampled_from(TEXTS) | asides()
    if depth > 0:
        parts |= elements(st.sampled_from(ROWS), depth) | elements(st.sampled_from(ROWS + OTHERS), depth)
    return "".join(draw(st.lists(parts, max_size=4)))


@st.composite
def files(draw: DrawFn) -> bytes:
    """Files with rows in wrappers, rows in rows and what looks like rows."""
    prolog = draw(st.sampled_from(PROLOGS))
    subset = draw(st.sampled_from((*SUBSETS, SUBSETS[0])))
    root = draw(st.sampled_from(("r", "r", "r", "r", "p:r", "item")))
    head = f"<{root} xmlns:p=\"urn:p\" xmlns:q='urn:q' {draw(st.sampled_from(('', NAMESPACES[1])))}"
    parts = (
        elements(st.sampled_from(ROWS), 2) | elements(st.sampled_from(OTHERS), 3) | st.sampled_from(TEXTS) | asides()
    )
    inside = "".join(draw(st.lists(parts, max_size=5)))
    tail = draw(st.sampled_from(("", "\n", "<!-- <item> -->")))
    return f"{prolog}<!DOCTYPE {root} [{subset}]>\n{head}>{inside}</{root}>{tail}".encode()


@st.composite
def plain_files(draw: DrawFn) -> bytes:
    """The same without a DOCTYPE."""
    file = draw(files()).decode()
    start, end = file.index("<!DOCTYPE"), file.index("]>\n<") + 3
    return (file[:start] + file[end:]).replace("&e;", "&gt;").replace("&x;", "&#9;").encode()


row_tags = st.sampled_from(("item", "item", "p:item", "w", "q:items"))
sizes = st.sampled_from((1, 2, 3, 5, 11, 64, 1_000))
wounds = st.sampled_from(
    (b"", b"<", b">", b"&", b"/", b'"', b"'", b"\x01", b"\xff", b"]]>", b"p:", b"<item>", b"</item>", b"<!--")
)


def cut(data: bytes, size: int, start: int = 0, end: int | None = None) -> Iterator[bytes]:
    end = len(data) if end is None else end
    return (data[at : min(at + size, end)] for at in range(start, end, size))


def rows_of(file: bytes, tag: str, size: int, limits: Limits = LIMITS, rows: Rows = WHOLE) -> list[Row]:
    return list(read_rows("file", cut(file, size, rows.start, rows.end), tag, limits, rows))


def told(rows: list[Row]) -> list[object]:
    """Rows and errors as values that can be compared; expat's view of what is no token depends on the chunks."""
    return [row if not isinstance(row, DocumentError) else row.args if is_exact(row) else row.document for row in rows]


def is_exact(error: DocumentError) -> bool:
    return error.reason.startswith(
        ("mismatched tag", "unclosed <", "undefined entity", "no element found", "more than")
    )


def parsed(document: bytes) -> etree._Element:
    return etree.fromstring(document, etree.XMLParser(no_network=True))


def is_row(element: etree._Element, tag: str) -> bool:
    if not isinstance(element.tag, str):
        return False
    local = etree.QName(element).localname
    return tag in (local, f"{element.prefix}:{local}")


def expected(file: bytes, tag: str) -> list[bytes]:
    """The canonical form of the outermost elements of that name."""
    found = [element for element in parsed(file).iter() if is_row(element, tag)]
    outermost = [row for row in found if not any(is_row(above, tag) for above in row.iterancestors())]
    return [canonical(row) for row in outermost]


def canonical(row: etree._Element) -> bytes:
    """Of the element alone: lxml would add the comments around a root, and undeclare namespaces in other elements."""
    alone = parsed(etree.tostring(row, encoding="utf-8", with_tail=False))
    written: bytes = etree.tostring(alone, method="c14n", exclusive=True)  # with the declarations that it uses
    return written


@given(files() | plain_files(), row_tags, sizes)
def test_rows_are_the_outermost_elements_of_that_name(file: bytes, tag: str, size: int) -> None:
    rows = rows_of(file, tag, size)

    documents = [row for row in rows if not isinstance(row, DocumentError)]
    assert told(rows) == documents
    assert [canonical(parsed(row)) for _, row in documents] == expected(file, tag)
    assert all(file[offset : offset + 1] == b"<" for offset, _ in documents)


@given(files() | plain_files(), row_tags, sizes, st.integers(1, 300))
def test_the_parts_of_a_file_give_what_the_whole_gives(file: bytes, tag: str, size: int, most: int) -> None:
    whole = rows_of(file, tag, 4_000)

    parts = cut_rows("file", cut(file, size), tag, most)

    assert told([row for part in parts for row in rows_of(file, tag, size, rows=part)]) == told(whole)
    assert [part.end for part in parts] == [*(part.start for part in parts[1:]), None]
    assert all(part.end is None or part.end - part.start >= most for part in parts)


@given(files() | plain_files(), row_tags, sizes, st.integers(0), st.integers(0, 3), wounds, st.integers(1, 300))
def test_what_is_wrong_with_a_file_is_told_once_however_it_is_read(
    file: bytes, tag: str, size: int, at: int, gone: int, put: bytes, most: int
) -> None:
    at %= len(file)
    damaged = file[:at] + put + file[at + gone :]
    whole = rows_of(damaged, tag, 4_000)

    in_chunks = rows_of(damaged, tag, size)
    parts = cut_rows("file", cut(damaged, size), tag, most)
    in_parts = [row for part in parts for row in rows_of(damaged, tag, size, rows=part)]

    assert told(in_chunks) == told(in_parts) == told(whole)
    assert [row for row in whole[:-1] if isinstance(row, DocumentError)] == []


@given(plain_files(), row_tags, st.integers(0), st.integers(0, 3), wounds)
def test_a_damaged_file_is_read_without_an_error_if_and_only_if_it_is_a_document_that_is_not_rejected(
    file: bytes, tag: str, at: int, gone: int, put: bytes
) -> None:
    file = file.replace(b' encoding="UTF-8"', b"")  # files.py knows of encodings, rows.py does not
    at %= len(file)
    damaged = file[:at] + put + file[at + gone :]

    rows = rows_of(damaged, tag, 50)
    documents = [Document(row[1], str(row[0])) for row in rows if not isinstance(row, DocumentError)]

    is_read = len(documents) == len(rows) and not read(documents).rejected
    assert is_read == (not read([Document(damaged)]).rejected)


@given(files() | plain_files(), row_tags, sizes, st.integers(1, 200))
def test_a_row_that_is_too_large_takes_nothing_else_with_it(file: bytes, tag: str, size: int, most: int) -> None:
    whole = [row for row in rows_of(file, tag, 4_000) if not isinstance(row, DocumentError)]

    rows = rows_of(file, tag, size, Limits(max_bytes=most))

    assert len(rows) == len(whole)
    for row, (offset, data) in zip(rows, whole, strict=True):
        if len(data) <= most:
            assert row == (offset, data)
        else:
            assert isinstance(row, DocumentError)
            before = file[:offset]
            place = (before.count(b"\n") + 1, len(before.rpartition(b"\n")[2].decode()) + 1, offset)
            assert row.args == (f"file@{offset}", *place, f"more than {most} bytes")
