"""What cannot be read is rejected with its place and reason, fetches nothing, and leaves its batch alone."""

import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from oracle import Oracle, described
from strategies import documents
from weft import Broker, Document, DocumentError, Limits
from weft.documents import read
from weft.errors import ConfigurationError

LATIN = '<?xml version="1.0" encoding="iso-8859-1"?>\n'
WIDE = '<?xml version="1.0" encoding="utf-16"?>\n'
DOCTYPE = "<!DOCTYPE a [<!ENTITY e 'x'>]>\n"
OUTSIDE = '<!DOCTYPE a SYSTEM "http://example.invalid/a.dtd" [{}]>'


def rejection(document: bytes | str, **limits: Any) -> DocumentError:
    """Why a document is rejected, while those around it are read."""
    batch = [Document("<f/>", "first"), Document(document, "bad"), Document("<l/>", "last")]
    table = read(batch, Limits(**limits))
    assert [document.id for document in table.documents] == ["first", "last"]
    assert [[node.name for node in nodes] for nodes in described(table)] == [["f"], ["l"]]
    (error,) = table.rejected
    assert error.document == "bad"
    return error


def accepted(document: bytes | str, **limits: Any) -> bool:
    return not read([Document(document, "good")], Limits(**limits)).rejected


# -- places

MALFORMED = {
    "": (1, 1, 0, "no element found"),
    " \n ": (2, 2, 3, "no element found"),
    "text": (1, 1, 0, "syntax error"),
    "<a>\n  <b></a>": (2, 8, 11, "mismatched tag"),
    "<a/>\n<b/>": (2, 1, 5, "junk after document element"),
    "<a x=1/>": (1, 6, 5, "not well-formed"),
    "<a\nx='1' x='2'/>": (2, 7, 9, "duplicate attribute"),
    "<a>é\n日本<p:b/></a>": (2, 3, 12, "unbound prefix"),
    "<a p:x='1'/>": (1, 1, 0, "unbound prefix"),
    "<a>é & b</a>": (1, 7, 7, "not well-formed"),
    "<a x='<'/>": (1, 7, 6, "not well-formed"),
    "<a>\n&u;</a>": (2, 1, 4, "undefined entity"),
    "<a>]]></a>": (1, 6, 5, "not well-formed"),
    "<a>\x01</a>": (1, 4, 3, "not well-formed"),
    "<a>\n\n<b>": (3, 4, 8, "no element found"),
    "\n<?xml version='1.0'?><a/>": (2, 1, 1, "XML or text declaration not at start"),
    "<a>\ud800</a>": (1, 4, 3, "surrogate"),
    "<!DOCTYPE a [<!ENTITY e 'x'>]>\n<a>é\n<b></a>": (3, 6, 42, "mismatched tag"),
    "<!DOCTYPE a [<!ENTITY e 'x'>]>\n<a>é\n<p:b/></a>": (3, 1, 37, "unbound prefix"),
    "<!DOCTYPE a [<!ENTITY e '&f;'><!ENTITY f '&e;'>]>\n<a>\n&e;</a>": (3, 1, 54, "recursive entity"),
}


@pytest.mark.parametrize(("document", "expected"), MALFORMED.items(), ids=map(repr, MALFORMED))
def test_a_malformed_document_is_rejected_with_line_column_offset_and_reason(
    document: str, expected: tuple[int, int, int, str]
) -> None:
    error = rejection(document)

    assert (error.line, error.column, error.offset) == expected[:3]
    assert expected[3] in error.reason
    assert str(error) == f"bad:{error.line}:{error.column}: {error.reason} (byte {error.offset})"


@pytest.mark.parametrize(
    ("document", "place"),
    [
        ((LATIN + "<a>éé<b></a>").encode("iso-8859-1"), (2, 11, len(LATIN) + 10)),
        ((WIDE + "<a>é<b></a>").encode("utf-16"), (2, 10, 2 + 2 * (len(WIDE) + 9))),
        (b'<?xml version="1.0" encoding="us-ascii"?>\n<a>\xe9</a>', (2, 4, 45)),
        (b'<?xml version="1.0" encoding="klingon"?><a/>', (1, 31, 30)),
        (b'<?xml version="1.0" encoding="utf-7"?><a/>', (1, 31, 30)),
        (b'<?xml version="1.0" encoding="shift_jis"?><a>\x81</a>', (1, 46, 45)),
        (b"<a>\n\xff</a>", (2, 1, 4)),
        (b"\xef\xbb\xbf<a>\n<b></a>", (2, 6, 12)),
    ],
)
def test_places_are_those_of_the_document_as_it_was_given(document: bytes, place: tuple[int, int, int]) -> None:
    error = rejection(document)

    assert (error.line, error.column, error.offset) == place


wounds = st.sampled_from(
    (b"", b"<", b">", b"&", b"/", b'"', b"=", b"\x01", b"\xff", b"x", b"\n", b"]]>", b"p:", b"&x;")
)


@given(documents(), st.integers(0), st.integers(0, 3), wounds)
def test_a_damaged_document_is_rejected_if_and_only_if_lxml_rejects_it(
    document: bytes, at: int, cut: int, put: bytes
) -> None:
    at %= len(document)
    damaged = document[:at] + put + document[at + cut :]

    table = read([Document(document, "whole"), Document(damaged, "damaged"), Document(document, "again")])

    assert [error.document for error in table.rejected] == ([] if is_well_formed(damaged) else ["damaged"])
    assert described(table)[0] == described(table)[-1] == Oracle(document).described
    for error in table.rejected:
        before = damaged[: error.offset]
        assert 0 <= error.offset <= len(damaged)
        assert error.line == before.count(b"\n") + 1
        assert error.column == len(before.rpartition(b"\n")[2].decode(errors="replace")) + 1


def is_well_formed(document: bytes) -> bool:
    try:
        etree.fromstring(document)
    except etree.XMLSyntaxError:
        return False
    return True


# -- limits


@pytest.mark.parametrize("text", ["<a>éé</a>", "<a>éé</a>".encode(), "<a>éé</a>".encode("utf-16")])
def test_max_bytes_is_the_last_number_of_bytes_that_passes(text: str | bytes) -> None:
    size = len(text.encode() if isinstance(text, str) else text)

    error = rejection(text, max_bytes=size - 1)

    assert f"more than {size - 1}" in error.reason
    assert accepted(text, max_bytes=size)


def test_max_bytes_counts_what_entities_expand_to() -> None:
    document = f"<!DOCTYPE a [<!ENTITY e '{'x' * 1_000}'>]><a>{'&e;' * 50}</a>"

    error = rejection(document, max_bytes=10_000)

    assert "once its entities are expanded" in error.reason
    assert accepted(document, max_bytes=60_000)


@pytest.mark.parametrize("head", ["", DOCTYPE])
def test_max_depth_is_the_deepest_level_that_passes(head: str) -> None:
    document = f"{head}<a>\n<b><c/><c><d/></c></b></a>"

    error = rejection(document, max_depth=3)

    assert (error.line, error.offset) == (document.count("\n") + 1, document.index("<d/>"))
    assert "nested deeper than 3" in error.reason
    assert accepted(document, max_depth=4)


@pytest.mark.parametrize("head", ["", DOCTYPE])
def test_max_attributes_is_the_largest_number_on_one_element_that_passes(head: str) -> None:
    document = f"{head}<a x='1' xmlns:p='urn:p'>\n<b x='1' xmlns:q='urn:q' y='2'/></a>"

    error = rejection(document, max_attributes=2)

    assert (error.line, error.offset) == (document.count("\n") + 1, document.index("<b"))
    assert "3 attributes" in error.reason
    assert accepted(document, max_attributes=3)


@pytest.mark.parametrize(
    ("document", "nodes"),
    [
        ("<a><b/><c>1</c></a>", 4),
        ("<a x='1' y='2'><b x='3'/></a>", 5),
        ("<a>1<!--c-->2<?p?>3</a>", 4),
        ("<a>" + "a line of one long text\n" * 5_000 + "</a>", 2),
    ],
)
def test_max_nodes_is_the_largest_number_of_elements_attributes_and_texts_that_passes(
    document: str, nodes: int
) -> None:
    error = rejection(document, max_nodes=nodes - 1)

    assert f"more than {nodes - 1} nodes" in error.reason
    assert accepted(document, max_nodes=nodes)


@pytest.mark.parametrize("document", ["<!DOCTYPE a><a/>", f"<!--<!DOCTYPE-->\n{DOCTYPE}<a/>"])
def test_every_doctype_can_be_rejected(document: str) -> None:
    error = rejection(document, doctype="reject")

    assert error.offset == document.rindex("<!DOCTYPE")
    assert "DOCTYPE" in error.reason
    assert accepted(document)


@pytest.mark.parametrize("limits", [{"max_bytes": 0}, {"max_depth": -1}, {"max_nodes": 0}, {"doctype": "fetch"}])
def test_limits_that_make_no_sense_are_refused(limits: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match="Limits"):
        Limits(**limits)


# -- entities


@pytest.mark.parametrize(
    "document",
    [
        "<!DOCTYPE a [<!ENTITY s SYSTEM '{uri}'>]><a>&s;</a>",
        "<!DOCTYPE a [<!ENTITY s SYSTEM '{uri}'>]><a x='&s;'/>",
        "<!DOCTYPE a [<!ENTITY s PUBLIC '-//s' '{uri}'><!ENTITY t '<b>&s;</b>'>]><a>&t;</a>",
        "<!DOCTYPE a SYSTEM '{uri}'><a>&s;</a>",
        "<!DOCTYPE a [<!ENTITY % p SYSTEM '{uri}'>%p;]><a>&s;</a>",
        "<!DOCTYPE a [<!ENTITY % p SYSTEM '{uri}'>%p;]><a x='&s;'/>",
    ],
)
def test_an_external_entity_is_never_fetched(document: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("<!ENTITY s 'hidden treasure'>")
    broker = Broker()
    broker.subscribe("//*")
    broker.subscribe("//@*")

    messages = broker.publish(Document(document.format(uri=secret.as_uri()), "curious"))

    (error,) = broker.rejected
    assert error.document == "curious"
    assert messages == []
    assert "treasure" not in str(error)


@pytest.mark.parametrize(
    "document",
    [
        "<!DOCTYPE a SYSTEM '{uri}'><a>1</a>",
        "<!DOCTYPE a [<!ENTITY s SYSTEM '{uri}'>]><a>1</a>",
        "<!DOCTYPE a [<!NOTATION n SYSTEM 'n'><!ENTITY s SYSTEM '{uri}' NDATA n>]><a>1</a>",
    ],
)
def test_what_is_declared_outside_and_not_used_does_no_harm(document: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hidden treasure")
    broker = Broker()
    broker.subscribe("//*")

    (message,) = broker.publish(document.format(uri=secret.as_uri()))

    assert message.nodes == ("<a>1</a>",)


@pytest.mark.parametrize(
    "document",
    [
        OUTSIDE.format("") + "<a>1&u;2</a>",
        OUTSIDE.format("") + "<a x='1&u;2'/>",
        OUTSIDE.format("") + "<a><b y='>' x='&lt;&u;'/></a>",
        OUTSIDE.format("<!ENTITY e '&u;'>") + "<a>&e;</a>",
        OUTSIDE.format("<!ENTITY e '&u;'>") + "<a x='&e;'/>",
        OUTSIDE.format("<!ENTITY e '<b x=\"&u;\"/>'>") + "<a>&e;</a>",
        OUTSIDE.format("<!ATTLIST a x CDATA '1&u;2'>") + "<a/>",
        OUTSIDE.format("<!ATTLIST b x CDATA '1&u;2'>") + "<a><b/></a>",
    ],
)
def test_a_reference_to_what_only_an_external_dtd_could_declare_is_rejected(document: str) -> None:
    error = rejection(document)

    assert "&u;" in error.reason or "undefined entity" in error.reason


@pytest.mark.timed
@pytest.mark.parametrize("place", ["<a>{}</a>", "<a x='{}'/>"])
def test_entities_that_explode_are_rejected_quickly(place: str) -> None:
    levels = "".join(f"<!ENTITY e{level} '{f'&e{level - 1};' * 10}'>" for level in range(1, 12))
    laughs = f"<!DOCTYPE a [<!ENTITY e0 'ha'>{levels}]>{place.format('&e11;')}"
    blowup = f"<!DOCTYPE a [<!ENTITY e '{'x' * 100_000}'>]>{place.format('&e;' * 50_000)}"

    began = time.process_time()
    errors = [rejection(document) for document in (laughs, blowup)]

    assert time.process_time() - began < 10
    assert all("amplification" in error.reason for error in errors)
