"""Prefixes, default namespaces and their absence: Weft's three ways to read names agree with lxml's one."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from oracle import Oracle, assert_same, described, table_of, weft_answer
from strategies import Query, Vocabulary, absolute_paths, namespaced_documents, plain
from weft.engine import Engine
from weft.errors import QueryError
from weft.languages.xpath import parse

PREFIXES = {"p": "urn:p", "other": "urn:q"}
DEFAULT = "urn:default"


@dataclass(frozen=True)
class Reading:
    """A way to read the names of a query: what `parse` is told, and how the names are drawn."""

    namespaces: Mapping[str, str]
    ignore_namespaces: bool
    vocabulary: Vocabulary = field(repr=False)


def local(name: str) -> str:
    return f"*[local-name() = '{name}']"


def reading_with_prefixes(default: str | None) -> Reading:
    """Names without a prefix are in the default namespace; lxml knows none, so there it has a prefix."""
    d = "default:" if default else ""
    elements = [Query(name, d + name) for name in ("a", "a", "b")]
    elements += [Query(f"*:{name}", local(name)) for name in "ab"]
    elements += [Query(f"*[not(self::{name} or self::p:a)]", f"*[not(self::{d}{name} or self::p:a)]") for name in "ab"]
    vocabulary = Vocabulary(
        elements=st.sampled_from(elements) | plain("p:a", "other:a", "p:b", "p:*", "other:*", "*"),
        attributes=plain("@x", "@p:x", "@other:x", "@p:*", "@*", "@xml:lang", "@xml:*")
        | st.just(Query("@*:x", f"@{local('x')}")),
        named=plain("self::p:a", "self::p:*") | self_tests([Query("a", d + "a"), Query("*:a", local("a"))]),
    )
    return Reading({**PREFIXES, **({"": default} if default else {})}, False, vocabulary)


def reading_without_namespaces() -> Reading:
    """Only local names count, whatever prefix stands before them."""
    elements = [Query(prefix + name, local(name)) for prefix, name in product(("", "p:", "*:", "undeclared:"), "ab")]
    vocabulary = Vocabulary(
        elements=st.sampled_from(elements) | st.sampled_from((Query("*", "*"), Query("p:*", "*"))),
        attributes=plain("@*")
        | st.sampled_from([Query(f"@{written}", f"@{local(written[-1])}") for written in ("x", "p:x", "y", "*:x")]),
        named=self_tests([Query("a", local("a")), Query("p:b", local("b")), Query("p:*", "*")]),
    )
    return Reading({}, True, vocabulary)


def self_tests(names: list[Query]) -> SearchStrategy[Query]:
    return st.sampled_from([Query(f"self::{name.weft}", f"self::{name.lxml}") for name in names])


READINGS = (reading_with_prefixes(None), reading_with_prefixes(DEFAULT), reading_without_namespaces())
wanted_paths = st.one_of(*(st.tuples(st.just(reading), absolute_paths(reading.vocabulary)) for reading in READINGS))


@pytest.mark.slow
@given(st.lists(namespaced_documents(), min_size=1, max_size=3), st.lists(wanted_paths, min_size=1, max_size=8))
def test_every_reading_of_names_finds_what_lxml_finds(batch: list[bytes], wanted: list[tuple[Reading, Query]]) -> None:
    engine = Engine()
    for number, (reading, query) in enumerate(wanted):
        engine.add(number, parse(query.weft, reading.namespaces, reading.ignore_namespaces))

    found = weft_answer(engine, table_of(batch))

    expected = [
        (at, number, place)
        for at, oracle in enumerate(map(Oracle, batch))
        for number, (_, query) in enumerate(wanted)
        for place in oracle.nodes(query.lxml, {**PREFIXES, "default": DEFAULT})
    ]
    queries = {number: f"{query.weft} with {reading.namespaces}" for number, (reading, query) in enumerate(wanted)}
    assert_same(found, np.array(expected, np.int64).reshape(-1, 3), queries, batch)


@given(st.lists(namespaced_documents(), min_size=1, max_size=3))
def test_names_are_expanded_as_lxml_expands_them(batch: list[bytes]) -> None:
    table = table_of(batch)

    found = described(table)

    assert found == [Oracle(document).described for document in batch]


SAME_LOCAL_NAMES = b'<r xmlns:p="urn:p"><a/><p:a/><a xmlns="urn:default"/><p:a xmlns:p="urn:q"/></r>'


@pytest.mark.parametrize(
    ("query", "namespaces", "ignore_namespaces", "places"),
    [
        ("//a", {}, False, [1]),
        ("//a", {"": "urn:default"}, False, [3]),
        ("//p:a", {"p": "urn:p"}, False, [2]),
        ("//p:a", {"p": "urn:q"}, False, [4]),
        ("//*:a", {}, False, [1, 2, 3, 4]),
        ("//p:*", {"p": "urn:p"}, False, [2]),
        ("//a", {}, True, [1, 2, 3, 4]),
        ("//a", {"": "urn:default"}, True, [1, 2, 3, 4]),
        ("/*/*[not(self::p:a)]", {"p": "urn:p"}, False, [1, 3, 4]),
        ("/*/*:a[2]", {}, False, [2]),
    ],
)
def test_the_same_local_name_is_told_apart_by_its_namespace(
    query: str, namespaces: dict[str, str], ignore_namespaces: bool, places: list[int]
) -> None:
    engine = Engine()
    engine.add(0, parse(query, namespaces, ignore_namespaces))

    found = weft_answer(engine, table_of([SAME_LOCAL_NAMES]))

    assert found[:, 2].tolist() == places


@pytest.mark.parametrize("query", ["//p:a", "//a/@p:x", "//a[p:b]", "//a[not(self::p:b)]", "//p:*"])
def test_a_prefix_that_is_not_declared_is_refused_with_its_place(query: str) -> None:
    with pytest.raises(QueryError, match="expected a declared prefix, found 'p'") as refused:
        parse(query, {"q": "urn:q"})

    assert query[refused.value.at :].startswith("p:")
