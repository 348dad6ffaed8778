"""What lxml says about documents and queries, and what Weft says, in one form that can be compared.

A node is the *place* that it has in its document, counting elements, attributes and texts in document order from 0.
"""

from __future__ import annotations

import operator as operators
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from lxml import etree
from numpy.typing import NDArray

from weft.documents import Document, NodeTable, read
from weft.engine import Engine
from weft.engine.matches import Matches

Answer = NDArray[np.int64]  # rows of document, subscription and place, in this order
EXTENSIONS = "urn:what-libxml2-does-not-have"


class Described(NamedTuple):
    """What there is to know about a node without asking a query."""

    kind: str
    owner: int | None  # the place of the element that it stands in
    name: str | None
    value: str | None


# -- lxml


class Oracle:
    """A document as lxml reads it."""

    def __init__(self, document: bytes | str) -> None:
        self.root = etree.fromstring(document, etree.XMLParser(attribute_defaults=True, huge_tree=True))
        self.described: list[Described] = []
        self._places: dict[tuple[Any, str], int] = {}
        for event, node in etree.iterwalk(self.root, events=("start", "end", "comment", "pi")):
            if event == "start":
                self._add_element(node)
            elif node is not self.root and node.tail:
                self._add((node, "tail"), Described("text", self._places[node.getparent(), ""], None, node.tail))

    def nodes(self, query: str, namespaces: Mapping[str, str] | None = None) -> list[int]:
        """The nodes that an absolute XPath selects, as lxml orders them."""
        found = _compiled(query, tuple((namespaces or {}).items()))(self.root.getroottree())
        return [self._place(node) for node in found]

    def _add_element(self, node: Any) -> None:
        parent = node.getparent()
        owner = None if parent is None else self._places[parent, ""]
        place = self._add((node, ""), Described("element", owner, node.tag, None))
        for name, value in node.attrib.items():
            self._add((node, f"@{name}"), Described("attribute", place, name, value))
        if node.text:
            self._add((node, "text"), Described("text", place, None, node.text))

    def _add(self, key: tuple[Any, str], node: Described) -> int:
        self._places[key] = len(self.described)
        self.described.append(node)
        return self._places[key]

    def _place(self, node: Any) -> int:
        if etree.iselement(node):
            return self._places[node, ""]
        if node.is_attribute:
            return self._places[node.getparent(), f"@{node.attrname}"]
        return self._places[node.getparent(), "tail" if node.is_tail else "text"]


@lru_cache(maxsize=20_000)
def _compiled(query: str, namespaces: tuple[tuple[str, str], ...]) -> Any:
    functions = {"ends-with": _ends_with, "matches": _matches, "stands": _stands}
    extensions = {(EXTENSIONS, name): function for name, function in functions.items()}
    return etree.XPath(query, namespaces={**dict(namespaces), "more": EXTENSIONS}, extensions=extensions)


def _ends_with(_: object, text: str, end: str) -> bool:
    return text.endswith(end)


def _matches(_: object, text: str, pattern: str) -> bool:
    """Python's `$` also stands before a line's end, XPath's does not."""
    return re.search(pattern.replace("$", r"\Z"), text, re.ASCII) is not None


def _stands(_: object, nodes: list[Any], operator: str, kind: str, constant: str) -> bool:
    """Whether some node is a date of this type that stands in the relation to the constant."""
    texts = (node.xpath("string()") if etree.iselement(node) else node for node in nodes)
    read = (instant_of(str(text), kind) for text in texts)
    wanted = instant_of(constant, kind)
    assert wanted is not None
    return any(_OPERATORS[operator](one, wanted) for one in read if one is not None)


def instant_of(text: str, kind: str) -> datetime | None:
    """A date, date with time, or time of years from 1 to 9999, as Python reads it; in UTC if it says nothing else."""
    written = text.strip(" \t\r\n")
    forms = {"date": r"[^:]*", "dateTime": r"[^:]*T.*", "time": r"[^T]{3}.*"}
    if not re.fullmatch(forms[kind], written, re.DOTALL):
        return None
    date, time = {"date": (written[:10], f"00:00{written[10:]}"), "time": ("1972-12-31", written)}.get(
        kind, (written[:10], written[11:])
    )
    try:
        found = datetime.fromisoformat(f"{date}T{time}")
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


_OPERATORS = {
    "=": operators.eq,
    "!=": operators.ne,
    "<": operators.lt,
    "<=": operators.le,
    ">": operators.gt,
    ">=": operators.ge,
}


def lxml_answer(oracles: Iterable[Oracle], queries: Mapping[int, str]) -> Answer:
    """What lxml finds for queries, each with its number."""
    found = [
        (at, number, place)
        for at, oracle in enumerate(oracles)
        for number, query in queries.items()
        for place in oracle.nodes(query)
    ]
    return np.array(found, np.int64).reshape(-1, 3)


# -- Weft


def table_of(documents: Iterable[bytes | str]) -> NodeTable:
    """The node table of documents that must all be good."""
    table = read(Document(data, id=str(at)) for at, data in enumerate(documents))
    assert not table.rejected
    return table


def places(table: NodeTable) -> NDArray[np.int64]:
    """The place of every node in its document."""
    in_order = np.lexsort((table.order, table.node_document))
    rank = np.empty(in_order.size, np.int64)
    rank[in_order] = np.arange(in_order.size)
    firsts = np.searchsorted(table.node_document[in_order], np.arange(len(table.documents)))
    return rank - firsts[table.node_document]


def described(table: NodeTable) -> list[list[Described]]:
    """For each document its nodes in document order."""
    place = places(table)
    found: list[list[tuple[int, Described]]] = [[] for _ in table.documents]
    for node in range(table.nodes):
        owner = int(place[table.parent[node]]) if table.parent[node] >= 0 else None
        if node < table.elements:
            entry = Described("element", owner, table.names[table.name[node]], None)
        elif node < table.first_text:
            at = node - table.elements
            name = table.names[table.attribute_name[at]]
            entry = Described("attribute", owner, name, table.attribute_values[at])
        else:
            entry = Described("text", owner, None, table.texts[node - table.first_text])
        found[table.node_document[node]].append((int(place[node]), entry))
    return [[entry for _, entry in sorted(nodes, key=lambda pair: pair[0])] for nodes in found]


def weft_answer(engine: Engine, table: NodeTable, first: int = 0) -> Answer:
    """What Weft finds in a batch whose documents are numbered from `first`."""
    matches = engine.match(table)
    document, subscription, node = matches.nodes()
    assert_subscriptions_are_those_with_nodes(matches, document, subscription)
    return np.stack([document + np.int64(first), subscription, places(table)[node]], axis=1)


def assert_subscriptions_are_those_with_nodes(
    matches: Matches, document: NDArray[np.integer], subscription: NDArray[np.integer]
) -> None:
    """The two ways to ask must agree."""
    for at, found in enumerate(matches.subscriptions()):
        assert sorted(found.tolist()) == sorted(set(subscription[document == at].tolist()))


def assert_same(weft: Answer, lxml: Answer, queries: Mapping[int, str], documents: list[bytes]) -> None:
    """Both found the same nodes in the same order; if not, the first difference is told."""
    if np.array_equal(weft, lxml):
        return
    by_weft, by_lxml = _grouped(weft), _grouped(lxml)
    different = [key for key in sorted({*by_weft, *by_lxml}) if by_weft.get(key) != by_lxml.get(key)]
    assert different, "the nodes are right, but not sorted by document, then subscription"
    at, number = different[0]
    raise AssertionError(
        f"{queries[number]}\n  over {documents[at].decode()}\n"
        f"  lxml finds {by_lxml.get((at, number))}, Weft finds {by_weft.get((at, number))}"
    )


def _grouped(answer: Answer) -> dict[tuple[int, int], list[int]]:
    grouped: dict[tuple[int, int], list[int]] = {}
    for at, number, place in answer.tolist():
        grouped.setdefault((at, number), []).append(place)
    return grouped
