"""What Saxon makes of whole XQuery expressions, item by item, and what Weft makes of them, in one form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lxml import etree
from saxonche import PySaxonProcessor

import weft

ERROR = ["an error"]
_TOLD = """
declare variable $documents external;
declare function local:told($item as item()) as element() {
  if ($item instance of element()) then <element>{ $item }</element>
  else if ($item instance of document-node()) then <element>{ $item/* }</element>
  else if ($item instance of attribute()) then <other>{ concat(name($item), '="', $item, '"') }</other>
  else <other>{ string($item) }</other>
};
"""


class Asked(NamedTuple):
    """A query as a prolog and a body, and an expression that is true where Weft is to make a message."""

    prolog: str
    body: str
    found: str = "true()"

    @property
    def text(self) -> str:
        """The whole query."""
        return f"{self.prolog}{self.body}"


Answer = dict[tuple[int, int], list[str]]  # by document and query: items, elements in canonical XML; or an error


def saxon_items(saxon: PySaxonProcessor, documents: Sequence[str], queries: Mapping[int, Asked]) -> Answer:
    """What Saxon makes of each query with each document; nothing where there is to be no message."""
    processor = saxon.new_xquery_processor()
    processor.set_parameter("documents", saxon.make_array([saxon.parse_xml(xml_text=text) for text in documents]))
    answer: Answer = {}
    for number, asked in queries.items():
        processor.set_query_content(
            f"declare boundary-space strip; {asked.prolog}{_TOLD}<all>{{ $documents?* ! <one>{{ try {{ "
            f"if ({asked.found}) then for $told in ({asked.body}) return local:told($told) else () "
            f"}} catch * {{ <error>{{ $err:code }}</error> }} }}</one> }}</all>"
        )
        made = etree.fromstring(processor.run_query_to_string().encode(), etree.XMLParser(huge_tree=True))
        assert len(made) == len(documents)
        for at, one in enumerate(made):
            if len(one):
                answer[at, number] = ERROR if one[0].tag == "error" else list(map(_item, one))
    return answer


def _item(told: etree._Element) -> str:
    return canonical(etree.tostring(told[0], with_tail=False)) if told.tag == "element" else told.text or ""


def canonical(text: bytes | str) -> str:
    """An element in canonical XML, without namespaces that it does not use."""
    made: bytes = etree.tostring(etree.fromstring(text), method="c14n", exclusive=True)
    return made.decode()


def broker_with(queries: Mapping[int, Asked], **options: object) -> weft.Broker:
    """A broker that has the queries."""
    broker = weft.Broker(**options)  # type: ignore[arg-type]
    for number, asked in queries.items():
        broker.subscribe(asked.text, id=str(number), language="xquery")
    return broker


def weft_items(broker: weft.Broker, documents: Sequence[str]) -> tuple[Answer, dict[tuple[int, int], str]]:
    """What Weft makes of them, as it is; and what it refuses, with the reasons."""
    before = len(broker.refused)
    batch = [weft.Document(text, id=str(at)) for at, text in enumerate(documents)]
    made = broker.publish(batch)
    found = {(int(each.document), int(each.subscription)): list(each.nodes) for each in made}
    refused = {(int(each.document), int(each.subscription)): each.reason for each in broker.refused[before:]}
    return found, refused


def is_same(expected: list[str], found: list[str]) -> bool:
    """Whether items are the same; those that Saxon calls elements are compared as such."""
    return len(expected) == len(found) and all(map(_is_same_item, expected, found))


def _is_same_item(expected: str, found: str) -> bool:
    if expected == found:
        return True
    try:
        return expected.startswith("<") and expected == canonical(found)
    except etree.XMLSyntaxError:
        return False


def differences(
    expected: Answer,
    found: Answer,
    refused: Mapping[tuple[int, int], str],
    queries: Mapping[int, Asked],
    documents: Sequence[str],
) -> list[str]:
    """What is not the same, told with the query and the document."""
    told = []
    for key in sorted(expected.keys() | found.keys() | refused.keys()):
        wanted = expected.get(key, [])
        if (wanted == ERROR) != (key in refused) or (wanted != ERROR and not is_same(wanted, found.get(key, []))):
            at, number = key
            told.append(
                f"{queries[number].text}\n  over {documents[at]}\n  Saxon: {wanted}\n"
                f"  Weft: {found.get(key)} {refused.get(key, '')}"
            )
    return told
