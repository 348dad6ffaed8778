"""FLWR queries in, a function out that times Saxon on documents; runs in a child process, with a heap of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from saxonche import PySaxonProcessor

from bench.brokering.saxon import Answered
from bench.measure import timed


def make(queries: list[str]) -> Callable[[tuple[bytes, bool]], Answered]:
    """Compile all queries once, each as functions of the document; then answer for one document after the other."""
    saxon = PySaxonProcessor(license=False)
    to_value = [_compile(saxon, query) for query in queries]
    to_text = [_compile(saxon, query, "serialize({})") for query in queries]
    processor = saxon.new_xquery_processor()

    def run_query(query: str) -> str:
        processor.set_query_content(query)
        return str(processor.run_query_to_string())

    def answer(asked: tuple[bytes, bool]) -> Answered:
        document, also_run_query = asked
        node = saxon.parse_xml(xml_text=document.decode())
        values, _ = timed(lambda some: [function.call([some]) for function in to_value], node)
        texts, messages = timed(lambda some: [function.call([some]).head.string_value for function in to_text], node)
        again = None
        if also_run_query:
            processor.set_context(xdm_item=node)
            again, _ = timed(lambda some: [run_query(query) for query in some], queries)
        return Answered(values, texts, messages, again)

    return answer


def _compile(saxon: PySaxonProcessor, query: str, result: str = "{}") -> Any:
    """The query as a function item, the one form of a compiled query that Saxon's Python interface has."""
    processor = saxon.new_xquery_processor()
    body = result.format(query.replace(" in /", " in $document/", 1))
    processor.set_query_content(f"function($document) {{ {body} }}")
    return processor.run_query_to_value().head
