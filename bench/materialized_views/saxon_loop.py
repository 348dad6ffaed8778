"""XPath queries in, a function out that times Saxon on a document; runs in a child process, with a heap of its own."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import process_time
from typing import Any

from saxonche import PySaxonProcessor


def make(queries: list[str], rounds: int) -> Callable[[bytes], tuple[float, float, list[int]]]:
    """Compile all queries once; then tell for a document what an answer as text takes, in the mean, and parsing.

    Both are milliseconds of the processor.
    """
    saxon = PySaxonProcessor(license=False)
    functions = [_compile(saxon, query) for query in queries]

    def answer(document: bytes) -> tuple[float, float, list[int]]:
        start = process_time()
        node = saxon.parse_xml(xml_text=document.decode())
        parsing = process_time() - start
        times, counts = [], []
        for function in functions:
            taken = []
            for _ in range(rounds):
                start = process_time()
                fragments = [item.string_value for item in function.call([node])]
                taken.append(process_time() - start)
            counts.append(len(fragments))
            times.append(median(taken) * 1e3)
        return sum(times) / len(times), parsing * 1e3, counts

    return answer


def _compile(saxon: PySaxonProcessor, query: str) -> Any:
    """The query as a function item, the one form of a compiled query that Saxon's Python interface has."""
    processor = saxon.new_xquery_processor()
    body = query.replace("/s1/", "$document/s1/")
    processor.set_query_content(f"function($document) {{ for $node in ({body}) return serialize($node) }}")
    return processor.run_query_to_value().head
