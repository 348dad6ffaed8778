"""Which encodings a document may declare, and that it must be what it declares."""

import codecs
import pkgutil
from encodings import __path__ as codec_modules
from encodings.aliases import aliases
from pathlib import Path
from xml.parsers import expat

import pytest
from lxml import etree

from weft import Broker, Document, Limits
from weft.documents import NodeTable, read
from weft.documents.charsets import _REGISTERED, codec_of
from weft.errors import DocumentError
from weft.inputs.files import Piece, find_files, read_piece

CODECS = {*aliases, *aliases.values(), *(module.name for module in pkgutil.iter_modules(codec_modules))}
#: All names by which Python knows a codec, in the forms in which they may be written.
NAMES = sorted({form for name in CODECS for form in (name, name.replace("_", "-"), name.upper())})
NO_CHARSETS = (
    *("rot13", "rot_13", "hex", "base64", "base_64", "zlib", "zip", "bz2", "uu", "quopri", "quoted-printable"),
    "unicode_escape",
    "raw-unicode-escape",
    "idna",
    "punycode",
    "undefined",
    "mbcs",
    "oem",
    "utf-7",
    "charmap",
)


def declared(name: str, encoding: str = "ascii", mark: bytes = b"") -> bytes:
    return mark + f'<?xml version="1.0" encoding="{name}"?><a>b</a>'.encode(encoding)


def read_one(data: bytes) -> NodeTable:
    return read([Document(b"<before/>", "before"), Document(data, "it"), Document(b"<after/>", "after")])


# -- names


@pytest.mark.parametrize("name", NAMES)
def test_a_document_is_read_in_a_registered_character_set_or_rejected_with_its_place(name: str) -> None:
    table = read_one(declared(name))

    told = [(error.line, error.column, error.offset, error.reason) for error in table.rejected]
    if codec_of(name) is None and name[0].isalpha() and name.isascii():
        assert told == [(1, 31, 30, f"unknown encoding {name!r}")]
    elif told:
        assert "which it is not" in told[0][3] or not name[0].isalpha()
    else:
        assert table.string_value(1) == "b"
    assert [document.id for document in table.documents if document.id != "it"] == ["before", "after"]


@pytest.mark.parametrize("name", NO_CHARSETS)
def test_a_codec_that_is_no_character_set_is_unknown(name: str) -> None:
    broker = Broker()
    broker.subscribe("//a")

    messages = broker.publish([Document(declared(name), "bad"), Document(b"<a/>", "good")])

    assert [message.document for message in messages] == ["good"]
    assert [error.reason for error in broker.rejected] == [f"unknown encoding {name!r}"]


@pytest.mark.parametrize("codec", [codec for codec in _REGISTERED if not codec.startswith("utf")])
def test_a_registered_character_set_leaves_a_declaration_as_it_is_and_reads_what_python_writes(codec: str) -> None:
    letters = {"b", "~"} | {chr(code) for code in range(0xA0, 0x3100) if _survives(chr(code), codec)}
    text = "".join(sorted(letters - {"~"} if codec == "hz" else letters))
    for name in _REGISTERED[codec].split():
        head = f'<?xml version="1.0" encoding="{name}"?>'

        (table,) = [read([Document(f"{head}<a>{text}</a>".encode(codec))])]

        assert head.encode(codec) == head.encode()
        assert table.texts == (text,)


def _survives(character: str, codec: str) -> bool:
    try:
        return character.encode(codec).decode(codec) == character and character.isalpha()
    except UnicodeError:
        return False


def test_a_declaration_is_found_however_it_is_spaced_and_none_is_read_past_its_bound() -> None:
    spaced = b"<?xml\n version = '1.0'\n\tencoding = 'rot13' ?><a/>"
    padded = b'<?xml version="1.0"' + b" " * 5_000 + b'encoding="iso-8859-1"?><a>\xe9</a>'

    (unknown,), (long,) = read([Document(spaced)]).rejected, read([Document(padded)]).rejected

    assert (unknown.line, unknown.column, unknown.reason) == (3, 14, "unknown encoding 'rot13'")
    assert long.reason == "an XML declaration of more than 4096 bytes"


# -- what is declared must be


WIDE = {"utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}


@pytest.mark.parametrize("name", ["utf-8", "UTF-8", "iso-8859-1", "windows-1252", "us-ascii", "rot13"])
@pytest.mark.parametrize("has_mark", [True, False])
@pytest.mark.parametrize("encoding", WIDE)
def test_utf16_that_declares_to_be_something_else_is_rejected(encoding: str, has_mark: bool, name: str) -> None:
    data = declared(name, encoding, WIDE[encoding] if has_mark else b"")

    (error,) = read([Document(data)]).rejected

    with pytest.raises((expat.ExpatError, LookupError)):
        expat.ParserCreate().Parse(data, True)
    known = "unknown encoding 'rot13'" if name == "rot13" else f"declared to be {name}, which it is not"
    assert (error.column, error.offset, error.reason) == (31, 60 + 2 * has_mark, known)


@pytest.mark.parametrize("has_mark", [True, False])
@pytest.mark.parametrize(("encoding", "other"), [("utf-16-le", "UTF-16BE"), ("utf-16-be", "UTF-16LE")])
def test_utf16_is_in_the_order_that_it_declares(encoding: str, other: str, has_mark: bool) -> None:
    mark = WIDE[encoding] if has_mark else b""
    own = encoding.upper().replace("16-", "16")

    tables = [read([Document(declared(name, encoding, mark))]) for name in ("utf-16", own, other)]

    assert [len(table.rejected) for table in tables] == [0, 0, 1]


@pytest.mark.parametrize("name", ["utf-16", "UTF-16LE", "utf-16be"])
@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
def test_bytes_that_declare_to_be_utf16_and_are_not_are_rejected(name: str, mark: bytes) -> None:
    (error,) = read([Document(declared(name, "utf-8", mark))]).rejected

    assert error.reason == f"declared to be {name}, which it is not"
    with pytest.raises(expat.ExpatError, match="encoding specified in XML declaration is incorrect"):
        expat.ParserCreate().Parse(declared(name, "utf-8", mark), True)


@pytest.mark.parametrize("name", ["utf-8", "iso-8859-1", "windows-1252", "shift_jis", "us-ascii"])
def test_an_encoding_that_is_declared_behind_a_byte_order_mark_yields_to_it(name: str) -> None:
    data = codecs.BOM_UTF8 + f'<?xml version="1.0" encoding="{name}"?><a>é日</a>'.encode()

    table = read([Document(data)])

    assert table.texts == ("é日",)
    assert etree.fromstring(data).text == "é日"


def test_an_unknown_encoding_is_rejected_behind_a_byte_order_mark_too() -> None:
    (error,) = read([Document(declared("rot13", mark=codecs.BOM_UTF8))]).rejected

    assert error.reason == "unknown encoding 'rot13'"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (declared("rot13"), "unknown encoding 'rot13'"),
        (declared("utf-8", "utf-16"), "declared to be utf-8, which it is not"),
    ],
)
def test_a_file_with_a_row_tag_is_no_exception(data: bytes, reason: str, tmp_path: Path) -> None:
    (tmp_path / "one.xml").write_bytes(data)
    (file,) = find_files(tmp_path)

    (error,) = read_piece(Piece(file), "a", Limits())

    assert isinstance(error, DocumentError)
    assert error.reason == reason
