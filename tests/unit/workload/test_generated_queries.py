"""Queries made from a DTD compile, can be matched and follow the parameters."""

import re
from itertools import pairwise
from typing import Any

import pytest
from lxml import etree

from weft.documents.dtd import Dtd
from weft.errors import ConfigurationError
from weft.workload import SHIPPED, generate_documents, generate_queries, shipped

PARAMETERS: list[dict[str, Any]] = [
    {},
    {"depth": 3, "skew": 1.0},
    {"predicates": 3, "nested": 2, "words": 2},
    {"predicates": 2, "predicate_probability": 0.5, "nested": 3, "descendant": 0.6, "wildcard": 0.5},
]


def steps(query: str) -> list[tuple[str, str]]:
    """Axis and name of each step of a query without predicates."""
    return re.findall(r"(//?)([^/]+)", query)


@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
@pytest.mark.parametrize("name", SHIPPED)
def test_every_query_compiles(name: str, parameters: dict[str, Any]) -> None:
    for query in generate_queries(shipped(name), number=300, distinct=False, **parameters):
        etree.XPath(query)


def test_queries_depend_on_the_seed_alone() -> None:
    first, again, other = (
        generate_queries(shipped("news"), number=50, predicates=1, nested=1, seed=seed) for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other


def test_distinct_queries_are_as_many_as_asked_for_and_all_different() -> None:
    queries = generate_queries(shipped("news"), number=20_000)
    assert len(queries) == len(set(queries)) == 20_000


@pytest.mark.slow
def test_a_hundred_thousand_distinct_news_queries_can_be_had() -> None:
    assert len(set(generate_queries(shipped("news"), number=100_000))) == 100_000


def test_too_many_distinct_queries_are_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"found only \d+ distinct queries of 100000: allow more by depth"):
        generate_queries(shipped("bibliography"), number=100_000)


def test_without_descendants_and_wildcards_each_query_is_a_path_of_the_graph() -> None:
    dtd = shipped("auction")
    for query in generate_queries(dtd, number=200, descendant=0, wildcard=0, depth=5, distinct=False):
        names = query.split("/")[1:]
        assert names[0] == dtd.root
        assert all(below in dtd.children(above) for above, below in pairwise(names))


def test_paths_are_as_deep_as_asked_for_where_the_graph_allows() -> None:
    news = generate_queries(shipped("news"), number=500, descendant=0)
    bibliography = generate_queries(shipped("bibliography"), number=500, descendant=0, distinct=False)
    assert {len(steps(query)) for query in news} == {6}
    assert {len(steps(query)) for query in bibliography} == {3, 4}


def test_descendant_and_wildcard_are_the_shares_of_steps() -> None:
    queries = generate_queries(shipped("news"), number=4000, descendant=0.3, wildcard=0.1, distinct=False)
    found = [step for query in queries for step in steps(query)]
    assert sum(axis == "//" for axis, _ in found) / len(found) == pytest.approx(0.3, abs=0.02)
    assert sum(name == "*" for _, name in found) / len(found) == pytest.approx(0.1, abs=0.02)


def test_a_descendant_step_may_leave_elements_out() -> None:
    queries = generate_queries(shipped("news"), number=300, descendant=1, wildcard=0)
    assert {axis for query in queries for axis, _ in steps(query)} == {"//"}
    assert {len(steps(query)) for query in queries} == {1, 2, 3, 4, 5, 6}


def test_predicates_are_at_most_so_many_with_values_out_of_the_range() -> None:
    queries = generate_queries(shipped("book"), number=2000, predicates=2, values=5, words=1, distinct=False)
    assert {query.count("[") for query in queries} == {1, 2}
    assert {int(value) for query in queries for value in re.findall(r'[=(,<>] "?(\d+)', query)} == set(range(5))


def test_predicates_are_of_many_kinds_and_mostly_equalities() -> None:
    queries = generate_queries(shipped("news"), number=4000, predicates=1)
    tests = [test for query in queries for test in re.findall(r"\[(.*?)\]", query)]
    for kind in (
        r'^@\w+ = "\d+"$',
        r"^@\w+ >= \d+$",
        r'^\w+/\w+ = "',
        r'^text\(\) = "',
        r"^contains\(",
        r"^starts-with\(",
    ):
        assert any(re.search(kind, test) for test in tests), kind
    assert sum(" = " in test for test in tests) > 0.7 * len(tests)


def test_a_probability_of_none_leaves_predicates_out() -> None:
    queries = generate_queries(
        shipped("news"), number=100, predicates=2, predicate_probability=0, nested=2, nested_probability=0
    )
    assert not any("[" in query for query in queries)


def test_nested_paths_are_below_their_step_and_may_descend() -> None:
    queries = generate_queries(shipped("news"), number=2000, nested=1, descendant=0.5)
    nested = [test for query in queries for test in re.findall(r"\[(.*?)\]", query)]
    assert 1900 < len(nested) <= 2000
    assert any(path.startswith(".//") for path in nested)
    assert not any(path.startswith("/") for path in nested)


def test_two_predicates_of_a_step_never_compare_the_same() -> None:
    dtd = Dtd.parse("<!ELEMENT a EMPTY><!ATTLIST a b CDATA #IMPLIED c CDATA #IMPLIED>")
    for query in generate_queries(dtd, number=200, predicates=3, depth=1, distinct=False):
        compared = re.findall(r"@\w", query)
        assert len(compared) == len(set(compared))


def test_skew_prefers_the_first_children() -> None:
    heads = [
        sum("/head" in query for query in generate_queries(shipped("news"), number=2000, wildcard=0, skew=skew))
        for skew in (0.0, 2.0)
    ]
    assert heads[1] > 1.2 * heads[0]


def test_skew_without_distinct_repeats_a_few_queries_often() -> None:
    even = generate_queries(shipped("news"), number=3000, distinct=False)
    skewed = generate_queries(shipped("news"), number=3000, distinct=False, skew=1.0)
    assert len(even) == len(skewed) == 3000
    assert len(set(skewed)) < 0.7 * len(set(even))
    assert max(map(skewed.count, set(skewed))) > 100


@pytest.mark.parametrize(
    ("parameters", "share"), [({}, 0.8), ({"nested": 1}, 0.5), ({"predicates": 1, "values": 5}, 0.4)], ids=str
)
def test_most_queries_are_matched_by_some_document(parameters: dict[str, Any], share: float) -> None:
    documents = generate_documents(shipped("news"), number=150, elements=200, values=parameters.get("values", 100))
    trees = [etree.fromstring(document) for document in documents]
    queries = [etree.XPath(query) for query in generate_queries(shipped("news"), number=200, **parameters)]
    matched = sum(any(query(tree) for tree in trees) for query in queries)
    assert matched >= share * len(queries)


def test_no_queries_are_no_queries() -> None:
    assert generate_queries(shipped("book"), number=0) == []
    assert generate_queries(shipped("book"), number=0, distinct=False, skew=1.0) == []


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"number": -1}, "number must be at least 0"),
        ({"depth": 0}, "depth must be at least 1"),
        ({"predicates": -1}, "predicates must be at least 0"),
        ({"nested": -1}, "nested must be at least 0"),
        ({"values": 0}, "values must be at least 1"),
        ({"skew": -1.0}, "skew must be at least 0"),
        ({"descendant": 1.5}, "descendant must be a probability from 0 to 1, found 1.5"),
        ({"wildcard": -0.1}, "wildcard must be a probability"),
        ({"nested_probability": 2.0}, "nested_probability must be a probability"),
    ],
    ids=str,
)
def test_a_wrong_parameter_is_told(parameters: dict[str, Any], reason: str) -> None:
    with pytest.raises(ConfigurationError, match=reason):
        generate_queries(shipped("book"), **{"number": 1, **parameters})
