"""What a server does at a miss, by three parsers: a document and queries in, which of them match out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from xml.parsers import expat

from lxml import etree

from bench.stream_views.workload import Ask
from weft.documents import Document, read
from weft.engine import Engine
from weft.languages import parse

Answer = Callable[[bytes], list[int]]


# Long: three handlers, which share what is open.
def by_expat(expressions: Sequence[str], queries: Sequence[Ask]) -> Answer:
    """Handlers that follow the wanted paths as a tree of names, as one writes them for SAX; all of it is Python."""
    wanted: dict[str, Any] = {}
    for number, query in enumerate(queries):
        node = wanted
        *steps, last = expressions[query.expression].strip("/").split("/")
        for step in steps:
            node = node.setdefault(step, {})
        node.setdefault(last, {}).setdefault("=", []).append((number, query.constant))
    nothing: dict[str, Any] = {}

    def answer(data: bytes) -> list[int]:
        found: list[int] = []
        open_nodes = [wanted]
        texts: list[str] | None = None

        def start(name: str, attributes: dict[str, str]) -> None:
            nonlocal texts
            node = open_nodes[-1].get(name, nothing)
            open_nodes.append(node)
            if node is nothing:
                return
            for attribute, value in attributes.items():
                tests = node.get(f"@{attribute}", nothing).get("=", ())
                found.extend(number for number, constant in tests if constant == value)
            if "=" in node:
                texts = []

        def end(_: str) -> None:
            nonlocal texts
            node = open_nodes.pop()
            if texts is not None and "=" in node:
                value = "".join(texts)
                found.extend(number for number, constant in node["="] if constant == value)
                texts = None

        def text(part: str) -> None:
            if texts is not None:
                texts.append(part)

        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, text
        parser.Parse(data, True)
        return sorted(found)

    return answer


def by_lxml(expressions: Sequence[str], queries: Sequence[Ask]) -> Answer:
    """A tree by libxml2, and compiled XPaths on it."""
    paths = [etree.XPath(written(expressions, query)) for query in queries]

    def answer(data: bytes) -> list[int]:
        root = etree.fromstring(data)
        return [number for number, path in enumerate(paths) if path(root)]

    return answer


def by_weft(expressions: Sequence[str], queries: Sequence[Ask]) -> Answer:
    """Weft's scan and its engine, one document at a time."""
    engine = Engine()
    for number, query in enumerate(queries):
        plan = parse(written(expressions, query))
        engine.add(number, plan)  # type: ignore[arg-type]

    def answer(data: bytes) -> list[int]:
        return sorted(engine.match(read([Document(data, "1")])).subscriptions()[0].tolist())  # they have no order

    return answer


def written(expressions: Sequence[str], query: Ask) -> str:
    """A query as XPath."""
    quote = "'" if '"' in query.constant else '"'
    return f"{expressions[query.expression]}[. = {quote}{query.constant}{quote}]"


PARSERS: dict[str, Callable[[Sequence[str], Sequence[Ask]], Answer]] = {
    "expat": by_expat,
    "lxml": by_lxml,
    "weft_scan": by_weft,
}
