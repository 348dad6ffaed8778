"""Queries by id in, a function out that times pygixml on documents; runs in a child process, because it can crash."""

from __future__ import annotations

from collections.abc import Callable

import pygixml

from bench.measure import timed

Timed = tuple[float, list[list[str]]]


def make(queries: dict[str, str]) -> Callable[[list[bytes]], Timed]:
    """Compile all queries once; then for documents the seconds, and the matching ids of each."""
    compiled = [(name, pygixml.XPathQuery(query)) for name, query in queries.items()]

    def match(document: bytes) -> list[str]:
        tree = pygixml.parse_string(document.decode())
        root = tree.root
        return [name for name, query in compiled if query.evaluate_boolean(root)]

    def match_all(documents: list[bytes]) -> list[list[str]]:
        return [match(document) for document in documents]

    return lambda documents: timed(match_all, documents)
