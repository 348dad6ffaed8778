"""The two forms of a header: what is written is read back, and what is not as it was written is refused."""

from __future__ import annotations

import re
from dataclasses import replace
from email.message import Message
from email.parser import Parser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.headers.configuration import configure
from weft.headers.header import (
    ABSENT,
    HIDDEN,
    HTTP_HEADER,
    PLAIN,
    RECORD_HEADER,
    SEVERAL,
    UTF8,
    Header,
    HeaderError,
    check,
    decode,
)
from weft.headers.matcher import HeaderMatcher
from weft.headers.producer import attach
from weft.languages import parse

DOCUMENT = b"<a>" + b"<b>x</b>" * 100 + b"</a>"
HEADER = Header("news/1", len(DOCUMENT), check(DOCUMENT), 0, (3, 67, ABSENT, 11, SEVERAL, HIDDEN), PLAIN | UTF8)


@pytest.mark.parametrize("form", [bytes, bytearray, memoryview])
def test_a_header_is_read_from_whatever_holds_its_bytes(form: Any) -> None:
    assert decode(form(HEADER.encode())) == HEADER


@pytest.mark.parametrize("given", [5, None, [], object()])
def test_what_is_neither_bytes_nor_text_is_refused(given: Any) -> None:
    with pytest.raises(HeaderError, match="header: expected bytes or text, found"):
        decode(given)


# -- what is written is read back


@given(
    tag=st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    length=st.integers(1, 1 << 40),
    checksum=st.integers(0, (1 << 32) - 1),
    places=st.lists(st.floats(0, 1, exclude_max=True) | st.sampled_from([ABSENT, SEVERAL, HIDDEN]), max_size=30),
    root=st.floats(0, 1, exclude_max=True),
    flags=st.integers(0, 3),
)
def test_both_forms_are_read_back(
    tag: str, length: int, checksum: int, places: list[float], root: float, flags: int
) -> None:
    entries = tuple(int(place * length) if place >= 0 else int(place) for place in places)
    header = Header(tag, length, checksum, int(root * length), entries, flags)

    assert decode(header.encode()) == header
    assert decode(header.to_text()) == header


def test_the_binary_form_is_the_one_that_is_described() -> None:
    header = Header("v/1", 5, 0x04030201, 1, (1, 0, ABSENT, SEVERAL, HIDDEN, 4), PLAIN | UTF8)

    data = header.encode()

    # Entries: as before (0 and 3), one back (folded to 1, and 3), the reasons, and four further (8 and 3).
    expected = b"WV\x01\x03" + b"\x03v/1" + b"\x05" + b"\x01\x02\x03\x04" + b"\x06\x01" + b"\x03\x04\x00\x01\x02\x0b"
    assert data == expected + check(expected).to_bytes(4, "little")


def test_the_text_form_can_stand_in_any_header() -> None:
    texts = [HEADER._replace(checksum=checksum).to_text() for checksum in range(0, 1 << 32, 12_345_679)]

    assert all(re.fullmatch(r"[A-Za-z0-9_-]+", text) for text in texts)
    assert all(decode(text).checksum == at * 12_345_679 for at, text in enumerate(texts))


@given(st.lists(st.integers(0, (1 << 16) - 1), min_size=1, max_size=60), st.integers(0, (1 << 16) - 1))
def test_a_view_of_a_document_up_to_64_kb_takes_three_bytes_at_most(offsets: list[int], root: int) -> None:
    without, with_views = (Header("v/1", 1 << 16, 0, root, entries, 0) for entries in ((), tuple(offsets)))

    assert len(with_views.encode()) - len(without.encode()) <= 3 * len(offsets)


def test_a_reason_takes_one_byte() -> None:
    without, with_views = (Header("v/1", 9, 0, 0, entries, 0) for entries in ((), (ABSENT, SEVERAL, HIDDEN)))

    assert len(with_views.encode()) - len(without.encode()) == 3


# -- what is not as it was written is refused


def test_a_header_that_is_cut_is_refused_at_every_length() -> None:
    data = HEADER.encode()

    for length in range(len(data)):
        with pytest.raises(HeaderError, match="header: expected"):
            decode(data[:length])


def test_a_header_with_any_bit_changed_is_refused() -> None:
    data = HEADER.encode()

    for bit in range(8 * len(data)):
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        with pytest.raises(HeaderError):
            decode(bytes(changed))


def test_a_header_with_more_behind_it_is_refused() -> None:
    for more in (b"\0", b"\xff", HEADER.encode()):
        with pytest.raises(HeaderError):
            decode(HEADER.encode() + more)


@pytest.mark.parametrize("text", ["é", "a", "W", "====", "not a header", "\ud800", "WV" * 1_000])
def test_a_text_that_is_no_header_is_refused(text: str) -> None:
    with pytest.raises(HeaderError, match="header: expected"):
        decode(text)


def test_a_text_that_is_cut_is_refused_at_every_length() -> None:
    text = HEADER.to_text()

    for length in range(len(text)):
        with pytest.raises(HeaderError):
            decode(text[:length])


def sealed(body: bytes) -> bytes:
    """With a checksum that is right: whoever wrote it meant it."""
    return body + check(body).to_bytes(4, "little")


GOOD = HEADER.encode()[:-4]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"WV",
        b"WV\x01",
        b"WW" + GOOD[2:],
        b"WV\x02" + GOOD[3:],
        b"WV\x00" + GOOD[3:],
        GOOD[:-1],
        GOOD + b"\0",
        b"WV\x01\x00\x05v/1",
        b"WV\x01\x00\x03\xff\xfe/\x05\0\0\0\0\x00\x00",  # a tag that is not UTF-8
        b"WV\x01\x00\x03v/1\x00\0\0\0\0\x00\x00",  # a document without bytes
        b"WV\x01\x00\x03v/1\x05\0\0\0\0\x00\x05",  # a root behind the end
        b"WV\x01\x00\x03v/1\x05\0\0\0\0\x01\x00\x0d",  # an entry behind the end
        b"WV\x01\x00\x03v/1\x05\0\0\0\0\x01\x00\x04",  # an entry before the beginning
        b"WV\x01\x00\x03v/1\x05\0\0\0\0\x02\x00\x00",  # fewer entries than told
        b"WV\x01\x00\x03v/1\x05\0\0\0\0\x91\x4e\x00" + b"\0" * 10_001,  # more than there may be
        b"WV\x01\x00\x03v/1" + b"\xff" * 9 + b"\x01",  # a number without end
        b"WV\x01\x00" + b"\xff" * 8 + b"\x7f" + b"v/1",
        b"WV\x01\x00\x03v/1\x05\0\0\0\0\x01\x00" + b"\xff" * 8 + b"\x7f",
    ],
)
def test_a_header_that_was_written_otherwise_is_refused(body: bytes) -> None:
    with pytest.raises(HeaderError, match="expected one of version 1"):
        decode(sealed(body))


# -- and never answers


CONFIGURATION = configure("v", ["/a/b", "/a/@x", "/a/c[1]"])
MADE = attach(b"<a x='1'><b>2</b><c>3</c></a>", CONFIGURATION)[0]
OTHERS = {
    "another document": replace(MADE, data=b"<a x='1'><b>2</b><c>4</c></a>"),
    "a longer document": replace(MADE, data=b"<a x='1'><b>2</b><c>3</c></a> "),
    "an unknown tag": attach(MADE, configure("w", ["/a/b", "/a/@x", "/a/c[1]"]))[0],
    "another version": attach(MADE, configure("v", ["/a/b", "/a/@x", "/a/c[1]"], version=2))[0],
    "fewer entries": attach(MADE, configure("v", ["/a/b", "/a/@x"]))[0],
    "more entries": attach(MADE, configure("v", ["/a/b", "/a/@x", "/a/c[1]", "/a/d"]))[0],
    "no header": replace(MADE, header=None),
}


@pytest.mark.parametrize("which", OTHERS)
def test_a_header_of_something_else_never_answers(which: str) -> None:
    matcher = HeaderMatcher(CONFIGURATION)
    matcher.add(0, parse("/a[b = 2 and @x = 1]"))

    assert matcher.answer(MADE) == [0]
    assert matcher.answer(OTHERS[which]) is None
    assert matcher.hits == 1


def test_a_damaged_header_never_answers() -> None:
    matcher = HeaderMatcher(CONFIGURATION)
    matcher.add(0, parse("/a[b = 2 and @x = 1]"))
    assert MADE.header is not None
    cut = [MADE.header[:length] for length in range(len(MADE.header))]
    changed = [
        bytes(byte ^ (at == bit // 8) << bit % 8 for at, byte in enumerate(MADE.header))
        for bit in range(8 * len(MADE.header))
    ]

    assert {matcher.answer(replace(MADE, header=header)) is None for header in (*cut, *changed)} == {True}


def test_an_offset_where_no_node_is_never_answers() -> None:
    """Somebody who reads XML otherwise made it: whatever stands at the offset, it is no exception either."""
    good = decode(MADE.header or b"")
    matcher = HeaderMatcher(CONFIGURATION)
    matcher.add(0, parse("/a[b = 'z']"))
    matcher.add(1, parse("/a[c = 'z']"))
    matcher.add(2, parse("/a[@x = 'z']"))

    for offset in range(len(MADE.data)):
        wrong = good._replace(entries=(offset, offset, offset, ABSENT)).encode()
        assert matcher.answer(replace(MADE, header=wrong)) in (None, [])


def test_a_header_travels_in_http_and_in_records_under_names_that_both_take() -> None:
    header = Header("news/1", 100, 7, 0, (5, -1), 3)
    message = Message()

    message[HTTP_HEADER] = header.to_text()

    assert decode(Parser().parsestr(message.as_string())[RECORD_HEADER]) == header
