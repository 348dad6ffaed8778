"""Queries in, a function out that times Saxon on documents; runs in a child process, with a heap of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from saxonche import PySaxonProcessor

from bench.measure import timed

Times = tuple[float, list[str]]


def make(queries: list[str]) -> Callable[[bytes], Times]:
    """Compile all queries once; then answer for one document after the other, from the parsed document to texts."""
    saxon = PySaxonProcessor(license=False)
    functions = [_compile(saxon, query) for query in queries]

    def answer(document: bytes) -> Times:
        node = saxon.parse_xml(xml_text=document.decode())
        return timed(lambda some: [function.call([some]).head.string_value for function in functions], node)

    return answer


def _compile(saxon: PySaxonProcessor, query: str) -> Any:
    """The query as a function item that gives its results as text, each on lines of its own."""
    processor = saxon.new_xquery_processor()
    prolog, mark, body = query.rpartition("; ") if query.startswith("declare") else ("", "", query)
    processor.set_query_content(
        f"{prolog}{mark}function($document as document-node()) {{ "
        f'string-join($document ! (for $item in ({body}) return serialize($item)), "&#10;") }}'
    )
    return processor.run_query_to_value().head
