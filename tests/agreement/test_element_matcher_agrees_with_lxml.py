"""Conjunctive queries over generated documents: the elements that match are those in which lxml finds nodes."""

from __future__ import annotations

import pytest
from lxml import etree

from shapes import XPATH_SHAPES
from weft import Document
from weft.optimizer import ElementMatcher
from weft.optimizer.search import Optimizer
from weft.workload import SHIPPED, generate_documents, generate_queries, shipped

DOCUMENTS, QUERIES = 300, 60


@pytest.mark.slow
@pytest.mark.parametrize("optimizer", ["greedy", "fast-prune", "fixed"])
@pytest.mark.parametrize("name", SHIPPED)
def test_an_element_matches_where_lxml_finds_nodes(name: str, optimizer: Optimizer) -> None:
    dtd = shipped(name)
    sources = list(generate_documents(dtd, number=DOCUMENTS, elements=40, values=5, words=2, seed=7))
    elements = [Document(source, str(at)) for at, source in enumerate(sources)]
    trees = [etree.fromstring(source).getroottree() for source in sources]
    queries = [
        f"/{dtd.root}[.{query}]" if query.startswith("//") else query
        for seed, shape in enumerate(XPATH_SHAPES)
        for query in generate_queries(dtd, number=QUERIES // len(XPATH_SHAPES), seed=seed, **shape)
    ]
    with_patterns = 0

    for query in queries:
        matcher = ElementMatcher(query, optimizer=optimizer, dtd=dtd)
        with_patterns += bool(matcher.tree.required)
        expected = [str(at) for at, tree in enumerate(trees) if tree.xpath(query)]
        found = [id for at in range(0, DOCUMENTS, 100) for id in matcher.matches(elements[at : at + 100])]

        assert found == expected, query
    assert with_patterns > len(queries) / 4
