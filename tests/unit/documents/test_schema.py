"""Documents that do not validate are rejected: what lxml says of them by itself is the oracle."""

import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from profiles import examples
from weft import Broker, ConfigurationError, Document
from weft.documents.schema import Schema

XS = 'xmlns:xs="http://www.w3.org/2001/XMLSchema"'
ORDER = f"""<xs:schema {XS}><xs:include schemaLocation="parts/item.xsd"/><xs:element name="order"><xs:complexType>
<xs:sequence><xs:element name="item" type="Item" minOccurs="1" maxOccurs="3"/></xs:sequence>
<xs:attribute name="id" type="xs:int" use="required"/></xs:complexType></xs:element></xs:schema>"""
ITEM = f"""<xs:schema {XS}><xs:simpleType name="Item"><xs:restriction base="xs:decimal">
<xs:minInclusive value="0"/></xs:restriction></xs:simpleType></xs:schema>"""


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("schema with blanks")
    (folder / "parts").mkdir()
    (folder / "order.xsd").write_text(ORDER)
    (folder / "parts" / "item.xsd").write_text(ITEM)
    return folder / "order.xsd"


_ITEMS = st.lists(st.sampled_from(["1", "-1", "x", "2.5", ""]).map("<item>{}</item>\n".format), max_size=4)
_ORDERS = st.builds("<order{}>\n{}</order>".format, st.sampled_from([" id='1'", "", " id='x'"]), _ITEMS.map("".join))


@pytest.mark.slow
@given(texts=st.lists(_ORDERS, min_size=1, max_size=6))
@examples(60)
def test_a_broker_rejects_what_lxml_rejects(schema: Path, texts: list[str]) -> None:
    broker = Broker(schema=schema)
    broker.subscribe("/order")
    oracle = etree.XMLSchema(file=str(schema))

    found = broker.matches([Document(text, str(at)) for at, text in enumerate(texts)])

    assert [bool(each) for each in found] == [oracle.validate(etree.fromstring(text)) for text in texts]
    for error in broker.rejected:
        oracle.validate(etree.fromstring(texts[int(error.document)]))
        first = oracle.error_log[0]
        assert (error.line, error.reason) == (first.line, f"not valid: {first.message} ({first.path})")


def test_a_schema_travels_with_what_it_includes(tmp_path: Path) -> None:
    copy = tmp_path / "order.xsd"
    copy.write_text(ORDER)
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "item.xsd").write_text(ITEM)
    loaded = Schema.load(copy)
    copy.unlink()
    (tmp_path / "parts" / "item.xsd").unlink()

    elsewhere: Schema = pickle.loads(pickle.dumps(loaded))

    assert elsewhere.fault("d", b"<order id='1'><item>1</item></order>") is None
    error = elsewhere.fault("d", b"<order id='1'>\n<item>-1</item></order>")
    assert error is not None
    assert (error.line, error.offset) == (2, 15)


def test_a_document_in_another_encoding_and_with_entities_is_validated_as_it_is_read(schema: Path) -> None:
    broker = Broker(schema=schema)
    broker.subscribe("//item/text()")
    latin = "<?xml version='1.0' encoding='iso-8859-1'?><order id='1'><!-- \xe9 --><item>1</item></order>".encode(
        "latin-1"
    )
    entity = "<!DOCTYPE order [<!ENTITY n '7'>]><order id='1'><item>&n;</item></order>"

    assert [message.nodes for message in broker.publish([latin, entity])] == [("1",), ("7",)]
    assert broker.rejected == ()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("<", "not an XML Schema"),
        (f'<xs:schema {XS}><xs:include schemaLocation="gone.xsd"/></xs:schema>', "not an XML Schema"),
        (f'<xs:schema {XS}><xs:include schemaLocation="http://localhost:1/a.xsd"/></xs:schema>', "not an XML Schema"),
        (f'<xs:schema {XS}><xs:element name="a" type="B"/></xs:schema>', "not an XML Schema"),
    ],
)
def test_what_is_no_schema_is_told_with_its_file(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "a.xsd"
    file.write_text(text)

    with pytest.raises(ConfigurationError, match=told) as error:
        Broker(schema=file)

    assert str(error.value).startswith(str(file))


def test_a_schema_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no such file of XML Schema"):
        Schema.load(tmp_path / "none.xsd")
