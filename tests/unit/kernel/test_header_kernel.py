"""Headers read and written, and what stands at offsets: the kernel against slow versions written from what they say."""

from __future__ import annotations

import re
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzz.grammar import document
from profiles import rounds
from weft.documents.build import read
from weft.documents.document import Document
from weft.documents.offsets import text_offsets
from weft.headers.header import ABSENT, UTF8, Header, check
from weft.kernel import find_attribute, find_text, fold, fold_all, known_values, place_nodes, plain_values, unfold

MOST = 10_000  # entries


# -- the fields of a header


class _Wrong(Exception):  # noqa: N818 it is what a header is
    pass


class _Cursor:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, size: int) -> bytes:
        if self.at + size > len(self.data):
            raise _Wrong
        self.at += size
        return self.data[self.at - size : self.at]

    def number(self) -> int:
        value = 0
        for shift in range(0, 63, 7):
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise _Wrong


def slow_unfold(data: bytes) -> tuple[str, int, int, int, tuple[int, ...], int, int]:
    """The fields, as header.py describes the form, and the checksum behind them, which is not checked."""
    data, own = data[:-4], data[-4:]
    cursor = _Cursor(data)
    if cursor.take(3) != b"WV\x01":
        raise _Wrong
    flags = cursor.take(1)[0]
    try:
        tag = cursor.take(cursor.number()).decode("utf-8")
    except UnicodeDecodeError:
        raise _Wrong from None
    length = cursor.number()
    checksum = int.from_bytes(cursor.take(4), "little")
    count, root = cursor.number(), cursor.number()
    if length > (1 << 61) or count > MOST or root >= length:
        raise _Wrong
    entries, before = [], root
    for _ in range(count):
        value = cursor.number()
        if value < 3:
            entries.append(-1 - value)
            continue
        folded = value - 3
        before += ~(folded >> 1) if folded & 1 else folded >> 1
        if not 0 <= before < length:
            raise _Wrong
        entries.append(before)
    if cursor.at != len(data):
        raise _Wrong
    return tag, length, checksum, root, tuple(entries), flags, int.from_bytes(own, "little")


def outcome(function: Any, *given: Any) -> Any:
    try:
        return function(*given)
    except (_Wrong, ValueError):
        return "refused"


def drawn_header(chance: Random) -> bytes:
    length = chance.choice((1, 5, 200, 1 << 16, 1 << 35))
    entries = tuple(chance.choice((-1, -2, -3, chance.randrange(length))) for _ in range(chance.randrange(9)))
    tag = chance.choice(("", "v/1", "é/2", "news/12"))
    return Header(tag, length, chance.getrandbits(32), chance.randrange(length), entries, chance.randrange(4)).encode()


def damaged(data: bytes, chance: Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 4))):
        at = chance.randrange(len(changed) + 1)
        match chance.randrange(4):
            case 0:
                changed[at : at + 1] = chance.randbytes(1)
            case 1:
                changed[at:at] = chance.choice((b"\xff" * 9, b"\x80", b"\0", b"\x7f" * 3, chance.randbytes(5)))
            case 2:
                del changed[at : at + chance.randrange(4)]
            case _:
                del changed[at:]
    return bytes(changed)


def test_a_header_is_read_as_its_form_is_described() -> None:
    chance = Random(1)

    for _ in range(rounds(5_000)):
        data = drawn_header(chance)
        assert unfold(data) == slow_unfold(data)


def test_a_damaged_header_is_read_or_refused_as_its_form_is_described() -> None:
    chance = Random(2)

    for _ in range(rounds(20_000)):
        data = damaged(drawn_header(chance), chance)
        assert outcome(unfold, data) == outcome(slow_unfold, data)


@given(st.binary(max_size=60) | st.binary(max_size=60).map(b"WV\x01".__add__))
def test_whatever_bytes_there_are_nothing_but_a_refusal_comes_of_them(data: bytes) -> None:
    assert outcome(unfold, data) == outcome(slow_unfold, data)


def slow_fold(tag: str, length: int, checksum: int, root: int, entries: tuple[int, ...], flags: int) -> bytes:
    """The bytes, as header.py describes the form."""

    def number(value: int) -> bytes:
        return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + number(value >> 7)

    name = tag.encode("utf-8")
    made = b"WV\x01" + bytes([flags]) + number(len(name)) + name + number(length) + checksum.to_bytes(4, "little")
    made += number(len(entries)) + number(root)
    before = root
    for entry in entries:
        difference = entry - before
        folded = 3 + (2 * difference if difference >= 0 else -2 * difference - 1)
        made += number(-1 - entry if entry < 0 else folded)
        before = before if entry < 0 else entry
    return made


def test_a_header_is_written_as_its_form_is_described() -> None:
    chance = Random(4)

    for _ in range(rounds(5_000)):
        fields = unfold(drawn_header(chance))[:6]
        assert fold(*fields) == slow_fold(*fields)


def test_the_headers_of_many_documents_are_written_as_each_alone() -> None:
    chance = Random(6)

    for _ in range(rounds(300)):
        number, views = chance.randrange(5), chance.randrange(4)
        documents = [bytes(chance.randrange(100)) for _ in range(number)]
        checksums, roots = (
            [chance.randrange(1 << 64) for _ in documents],
            [chance.randrange(1 << 20) for _ in documents],
        )
        entries = [
            tuple(chance.choice((-1, -2, -3, chance.randrange(1 << 20))) for _ in range(views)) for _ in documents
        ]
        flags = [chance.randrange(4) for _ in documents]
        column = np.array(entries, np.int64).reshape(-1)

        made = fold_all("vé/1", documents, checksums, roots, column, flags)

        rows = zip(documents, checksums, roots, entries, flags, strict=True)
        assert made == [
            slow_fold("vé/1", len(document), checksum & 0xFFFFFFFF, root, row, flag)
            for document, checksum, root, row, flag in rows
        ]


_NONE = np.zeros(0, np.int64)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ((), TypeError),
        ((b"v", [b""], [1], [0], _NONE, [0]), TypeError),
        (("v", (b"",), [1], [0], _NONE, [0]), TypeError),
        (("v", ["x"], [1], [0], _NONE, [0]), TypeError),
        (("v", [b""], ["1"], [0], _NONE, [0]), TypeError),
        (("v", [b""], [1], ["0"], _NONE, [0]), TypeError),
        (("v", [b""], [1], [0], _NONE, ["0"]), TypeError),
        (("v", [b""], [], [0], _NONE, [0]), TypeError),
        (("v", [b""], [1], [0, 0], _NONE, [0]), TypeError),
        (("v", [b""], [1], [0], _NONE, []), TypeError),
        (("v", [b""], [1], [0], None, [0]), TypeError),
        (("v", [b""], [1], [-1], _NONE, [0]), ValueError),
        (("v", [b""], [1], [0], np.array([-4]), [0]), ValueError),
        (("v", [b""], [1], [0], np.array([1 << 62]), [0]), ValueError),
        (("v", [b""], [1], [0], np.zeros(2, np.int32), [0]), ValueError),
        (("v", [b""], [1], [0], np.zeros((1, 2), np.int64), [0]), ValueError),
        (("v", [b"", b""], [1, 1], [0, 0], np.zeros(3, np.int64), [0, 0]), ValueError),
        (("v", [], [], [], np.zeros(1, np.int64), []), ValueError),
        (("\ud800", [b""], [1], [0], _NONE, [0]), UnicodeEncodeError),
    ],
)
def test_headers_that_do_not_fit_together_are_not_written(given: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        fold_all(*given)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ((), TypeError),
        ((b"v", 1, 1, 0, (), 0), TypeError),
        (("v", 1, 1, 0, [], 0), TypeError),
        (("v", "1", 1, 0, (), 0), TypeError),
        (("v", 1, 1, 0, ("x",), 0), TypeError),
        (("v", -1, 1, 0, (), 0), ValueError),
        (("v", 1, 1, -1, (), 0), ValueError),
        (("v", 1, 1, 0, (-4,), 0), ValueError),
        (("v", 1, 1, 0, (1 << 62,), 0), ValueError),
        (("v", 1 << 70, 1, 0, (), 0), OverflowError),
        (("\ud800", 1, 1, 0, (), 0), UnicodeEncodeError),
        (("v", 1, 1, 0, np.zeros(2, np.int64), 0), TypeError),
    ],
)
def test_what_no_header_says_is_not_written(given: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        fold(*given)


@pytest.mark.parametrize("given", ["WV", None, 5, bytearray(b"WV\x01"), memoryview(b"WV\x01")])
def test_a_header_is_bytes(given: Any) -> None:
    with pytest.raises(TypeError, match="expected bytes"):
        unfold(given)


# -- values at offsets

_ELEMENT = re.compile(rb"""<(?:[^<>"']|"[^"<]*"|'[^'<]*')*>""")
_NAME_END = re.compile(rb"""[^ \t\r\n=<>"'/\0]*[ \t\r\n]*=[ \t\r\n]*(["'])""")


def slow_value(source: bytes, offset: int, kind: int) -> str | None:
    """The value at an offset if it is plain text: nothing to be resolved, normalized or joined."""
    if kind == 0:
        tag = _ELEMENT.match(source, offset)
        if tag is None:
            return None
        if tag[0].endswith(b"/>"):
            return ""
        plain = re.compile(rb"([^<&\r]*)</").match(source, tag.end())
    elif kind == 1:
        name = _NAME_END.match(source, offset)
        if name is None:
            return None
        plain = re.compile(rb"([^&\t\r\n%b]*)%b" % (name[1], name[1])).match(source, name.end())
    else:
        plain = re.compile(rb"([^<&\r]+)<[^!]").match(source, offset)
    if plain is None:
        return None
    try:
        return plain[1].decode("utf-8")
    except UnicodeDecodeError:
        return None


def test_plain_values_are_those_that_need_no_parser() -> None:
    chance = Random(3)

    for _ in range(rounds(400)):
        source = document(chance)
        source = damaged(source, chance) if chance.random() < 0.7 else source
        for kind in range(3):
            entries = tuple(range(len(source) + 2))
            found = plain_values(source, entries, bytes([kind]) * len(entries), entries)
            assert list(found) == [slow_value(source, offset, kind) for offset in entries], source


@given(st.binary(max_size=40) | st.text("<>a=\"'&/! \t\r\n]", max_size=40).map(str.encode))
def test_whatever_stands_at_an_offset_a_value_or_nothing_comes_of_it(source: bytes) -> None:
    entries = tuple(range(len(source) + 2))

    for kind in range(3):
        found = plain_values(source, entries, bytes([kind]) * len(entries), entries)
        assert list(found) == [slow_value(source, offset, kind) for offset in entries]


def test_reasons_stand_for_themselves_and_only_what_is_wanted_is_read() -> None:
    source = b"<a x='1'><b>2</b>3</a>"

    found = plain_values(source, (9, -1, 3, -2, 17, 0, 1 << 60), bytes((0, 0, 1, 0, 2, 0, 0)), (4, 3, 2, 1, 0, 5, 6))

    assert found == ("3", -2, "1", -1, "2", None, None)


@pytest.mark.parametrize("wanted", [1, -1, 1 << 70])
def test_an_entry_that_is_not_there_is_refused(wanted: int) -> None:
    with pytest.raises((IndexError, OverflowError)):
        plain_values(b"<a/>", (0,), b"\0", (wanted,))


@pytest.mark.parametrize("kinds", [b"", b"\x03", b"\xff"])
def test_a_kind_that_is_not_there_is_refused(kinds: bytes) -> None:
    with pytest.raises(IndexError, match="an entry that is not there"):
        plain_values(b"<a/>", (0,), kinds, (0,))


@pytest.mark.parametrize(
    "given", [(), (b"", (), b""), ("", (), b"", ()), (b"", [], b"", ()), (b"", (), "", ()), (b"", (), b"", [])]
)
def test_arguments_of_another_kind_are_refused(given: Any) -> None:
    with pytest.raises(TypeError, match="expected bytes, a tuple, bytes and a tuple"):
        plain_values(*given)


def test_entries_that_are_no_numbers_are_refused() -> None:
    broken: Any = ("x",)

    with pytest.raises(TypeError):
        plain_values(b"<a/>", broken, b"\0", (0,))
    with pytest.raises(TypeError):
        plain_values(b"<a/>", (0,), b"\0", broken)


# -- where attributes and texts begin

_TAG = re.compile(rb"""<[^\s<>/="']+(?:\s+[^\s<>/="']+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*\s*/?>""")
_ATTRIBUTE = re.compile(rb"""([^\s<>/="']+)\s*=\s*("[^"<]*"|'[^'<]*')""")


def test_attributes_and_texts_are_found_where_a_start_tag_has_them() -> None:
    chance = Random(5)

    for _ in range(rounds(300)):
        source = document(chance)
        for tag in _TAG.finditer(source):
            found = {each[1]: each.start() for each in _ATTRIBUTE.finditer(source, tag.start(), tag.end())}
            assert {name: find_attribute(source, tag.start(), name) for name in found} == found
            assert find_attribute(source, tag.start(), b"not-there") == -1
            is_text = source[tag.end() - 2 : tag.end() - 1] != b"/" and source[tag.end() : tag.end() + 1] not in b"<&"
            assert find_text(source, tag.start()) == (tag.end() if is_text else -1)


@given(st.binary(max_size=40) | st.text("<>ax=\"'&/! \t\r\n]", max_size=40).map(str.encode))
def test_whatever_stands_at_an_offset_a_place_inside_or_nothing_comes_of_it(source: bytes) -> None:
    for start in range(-1, len(source) + 2):
        assert -1 <= find_attribute(source, start, b"x") < len(source)
        assert -1 <= find_text(source, start) < max(len(source), 1)


@pytest.mark.parametrize("given", [(), ("<a/>", 0, b"x"), (b"<a/>", "0", b"x"), (b"<a/>", 0, "x")])
def test_places_are_asked_for_with_bytes_and_numbers(given: Any) -> None:
    with pytest.raises(TypeError):
        find_attribute(*given)
    with pytest.raises(TypeError):
        find_text(*given)


# -- a header and the values at its offsets at once


def slow_known(header: bytes, source: bytes, tag: bytes, kinds: bytes, wanted: tuple[int, ...]) -> Any:
    """The values step by step: the fields, whether they are those of the source, and what stands at the offsets."""
    try:
        fields = unfold(header)
    except ValueError:
        return None
    told = fields[0].encode(), fields[1], fields[2], len(fields[4]), fields[5] & UTF8, fields[6]
    if told != (tag, len(source), check(source), len(kinds), UTF8, check(header[:-4])):
        return None
    values = plain_values(source, fields[4], kinds, wanted)
    is_known = all(isinstance(value, str) or value == ABSENT for value in values)
    return [None if value == ABSENT else value for value in values] if is_known else None


def drawn_look(chance: Random) -> tuple[bytes, bytes, bytes, tuple[int, ...]]:
    """A document and a header, often of it; the kinds of its entries; and those that are wanted."""
    source = document(chance)
    places = [at for at in range(len(source)) if source[at : at + 1] == b"<" or source[at - 1 : at] in b" >"]
    entries = tuple(chance.choice((ABSENT, chance.choice(places), chance.randrange(-3, len(source)))) for _ in range(3))
    kinds = bytes(0 if entry < 0 or source[entry] == 60 else chance.choice((1, 2)) for entry in entries)
    tag, flags = chance.choice(("v/1", "v/1", "w/1")), chance.choice((UTF8, UTF8, 3, 1))
    header = Header(tag, len(source), check(source), 0, entries, flags).encode()
    header = damaged(header, chance) if chance.random() < 0.2 else header
    source = chance.choice((source, source, source, source[:-1], source.swapcase()))
    return header, source, kinds, tuple(chance.sample(range(3), chance.randrange(4)))


def test_known_values_are_those_that_fields_and_plain_values_give() -> None:
    chance = Random(6)
    values_seen = held_seen = 0

    for _ in range(rounds(3_000)):
        header, source, kinds, wanted = drawn_look(chance)
        expected = slow_known(header, source, b"v/1", kinds, wanted)
        constants = tuple(
            {value: at} if value and chance.random() < 0.5 else {} for at, value in enumerate(expected or ())
        )
        constants = constants or ({},) * len(wanted)
        own, checksum = check(header[:-4]) + (1 << 40), check(source) + (1 << 50)  # the low bits count

        known = known_values(header, source, b"v/1", kinds, wanted, constants, own, checksum)

        held = [at for each in constants for at in each.values()]
        assert known == (None if expected is None else (expected, held))
        values_seen += bool(expected)
        held_seen += bool(held)
    assert values_seen
    assert held_seen


@pytest.mark.parametrize("count", [256, 257])
def test_of_very_many_entries_nothing_is_known_at_once(count: int) -> None:
    header = Header("v/1", 4, 0, 0, (0,) * count, UTF8).encode()

    known = known_values(header, b"<a/>", b"v/1", bytes(count), (0,), ({"": 7},), check(header[:-4]), 0)

    assert known == (([""], [7]) if count == 256 else None)


@pytest.mark.parametrize(
    "given",
    [
        (),
        (b"", b"", b"", b"", (), (), 0),
        (b"", "", b"", b"", (), (), 0, 0),
        (b"", b"", b"", b"", [], (), 0, 0),
        (b"", b"", b"", b"", (), [], 0, 0),
        (b"", b"", b"", b"", (0,), (), 0, 0),
        (b"", b"", b"", b"", (0,), (5,), 0, 0),
        (b"", b"", b"", b"", (), (), "", 0),
        (b"", b"", b"", b"", (), (), 0, ""),
    ],
)
def test_known_values_are_asked_for_with_bytes_entries_dicts_and_numbers(given: Any) -> None:
    with pytest.raises(TypeError):
        known_values(*given)


@pytest.mark.parametrize(("kinds", "wanted"), [(b"\0", 1), (b"\0", -1), (b"\x03", 0), (b"\0", 1 << 70)])
def test_an_entry_or_a_kind_that_is_not_there_is_not_known_but_refused(kinds: bytes, wanted: int) -> None:
    header = Header("v/1", 4, 0, 0, (0,), UTF8).encode()

    with pytest.raises((IndexError, OverflowError)):
        known_values(header, b"<a/>", b"v/1", kinds, (wanted,), ({},), check(header[:-4]), 0)


# -- the offsets of nodes

UNPLACED = -4


def test_nodes_are_where_expat_finds_them_one_by_one() -> None:
    chance, texts = Random(9), 0

    for _ in range(rounds(300)):
        data = document(chance)
        table = read([Document(data)])
        nodes, offsets = np.arange(table.nodes, dtype=np.int32), np.zeros(table.nodes, np.int64)
        columns = table.start, table.parent, table.attribute_tag, table.text_first
        missing = place_nodes([data], nodes, columns, table.tags, offsets)
        assert missing == offsets.tolist().count(UNPLACED)
        assert offsets[: table.elements].tolist() == table.start.tolist()
        for node in range(table.elements, table.first_text):
            tag = table.tags[table.attribute_tag[node - table.elements]].encode()
            assert offsets[node] == find_attribute(data, int(table.start[table.parent[node]]), tag) >= 0
        for row in range(table.elements):
            own = [node for node in range(table.first_text, table.nodes) if table.parent[node] == row]
            places = zip(own, text_offsets(data, int(table.start[row])), strict=True)
            assert all(offsets[node] in (place, UNPLACED) for node, place in places)
            texts += sum(offsets[node] != UNPLACED for node in own)

    assert texts


def test_reasons_stay_and_texts_that_do_not_begin_right_behind_the_tag_are_left_to_others() -> None:
    data = b"<a x='1'>t<b/>u<c><d/>v</c></a>"
    table = read([Document(data)])
    first = table.first_text
    nodes = np.array([-1, -2, -3, 0, 4, first, first + 1, first + 2], np.int32)
    offsets = np.zeros(nodes.size, np.int64)
    columns = table.start, table.parent, table.attribute_tag, table.text_first

    assert place_nodes([data], nodes, columns, table.tags, offsets) == 2
    assert offsets.tolist() == [-1, -2, -3, 0, 3, 9, UNPLACED, UNPLACED]


def test_columns_that_do_not_fit_have_no_places() -> None:
    ints, longs = np.zeros(1, np.int32), np.zeros(1, np.int64)
    good: tuple[Any, ...] = [b"<a/>"], ints, (longs, ints, ints[:0], ints), ["a"], longs.copy()
    wrong: list[tuple[Any, ...]] = [
        good[:4],
        (b"<a/>", *good[1:]),
        (["<a/>"], *good[1:]),
        ([], *good[1:]),
        ([b"<a/>", b"<b/>"], *good[1:]),
        (good[0], longs, *good[2:]),
        (*good[:2], (longs, ints, ints[:0]), *good[3:]),
        (*good[:2], (ints, ints, ints[:0], ints), *good[3:]),
        (*good[:2], (longs, ints[:0], ints[:0], ints), *good[3:]),
        (*good[:2], (longs, ints, ints[:0], ints[:0]), *good[3:]),
        (*good[:3], ("a",), good[4]),
        (*good[:4], longs[:0]),
        (*good[:4], bytes(8)),
    ]
    assert place_nodes(*good) == 0
    for arguments in wrong:
        with pytest.raises((TypeError, ValueError, BufferError)):
            place_nodes(*arguments)
