"""Counts and positions: worked out once for all who compare them, in both ways of evaluation what lxml says."""

from __future__ import annotations

import pickle
import random
import subprocess
import sys
from collections.abc import Iterator
from unittest.mock import patch

import pytest

import kernels
from oracle import Oracle, table_of
from weft.engine import Engine
from weft.engine.evaluation import batch
from weft.engine.index import Index
from weft.languages.xpath import parse

OPERATORS = ("=", "!=", "<", "<=", ">", ">=")
NUMBERS = ("0", "0.5", "1", "2", "3", "4", "1.5", "-1", "100")
COUNTED = ("b", ".//b", "b/c", "b[c]", "b[. = 'x']", "b[2]", "b[c]/c[. = 'y']", "b[count(c) > 1]", "@k", "zebra")
FORMS = (
    *(f"//a[count({counted}) {{}}]" for counted in COUNTED),
    "//a[not(count(b) {})]",
    "//a[b or count(.//b) {}]",
    "//a[b = 'x' and not(count(b) {})]/b",
    "//b[position() {}]",
    "//a[b][position() {}]",
    "//a[position() < 3][position() {}]",
    "//a[not(position() {})]",
    "//a[b][not(position() {})]",
    "//a[b[position() {}] = 'x']",
    "//a[position() {}]/b[position() != 2]",
)
QUERIES = [
    *(form.format(f"{operator} {number}") for form in FORMS for operator in OPERATORS for number in NUMBERS),
    *(f"//b[position() {operator} last()]" for operator in OPERATORS),
    *(f"//a[b][not(position() {operator} last())]/b[last()]" for operator in OPERATORS),
    "//a[not(@k != '1')]",
    "//a[not(b != 'x')][not(. != 'x')]",
    "//a[b and not(b != 'x')]",
    "//a[not(b) and not(c)]",
    "//a[@k != '1' and not(b)]",
    "//a[starts-with(b[c]/c, 'y')]",
    "//a[contains(b[2], 'x') and not(starts-with(b[c], 'y'))]",
]
CHILD = """
import pickle, sys
import kernels
kernels.load()
from unit.engine.evaluation.test_measures import QUERIES, documents, found_by
import weft.kernel.measuring
found = found_by(QUERIES, documents())
sys.stdout.buffer.write(pickle.dumps((weft.kernel.measuring.__file__, found)))
"""


def documents() -> list[str]:
    """Elements in elements, several of a name beside each other."""
    chance = random.Random(16)
    return [f"<r>{''.join(_element(chance, 4) for _ in range(4))}</r>" for _ in range(12)]


def _element(chance: random.Random, depth: int) -> str:
    name = chance.choice("aabbc")
    attribute = chance.choice(("", "", " k='1'", " k='2'"))
    inner = "".join(_element(chance, depth - 1) for _ in range(chance.randrange(4))) if depth else ""
    return f"<{name}{attribute}>{inner or chance.choice('xxy')}</{name}>"


def engine_of(queries: list[str]) -> Engine:
    engine = Engine()
    for number, query in enumerate(queries):
        engine.add(number, parse(query))
    return engine


def found_by(queries: list[str], texts: list[str]) -> list[list[list[int]]]:
    """By document and query the places of its nodes."""
    table = table_of(texts)
    found: list[list[list[int]]] = [[[] for _ in queries] for _ in texts]
    _, numbers, nodes = engine_of(queries).match(table).nodes()
    for number, node in zip(numbers.tolist(), nodes.tolist(), strict=True):
        document = int(table.node_document[node])
        found[document][number].append(node - int(table.ranges[0, document]))
    return found


def found_by_lxml() -> Iterator[list[list[int]]]:
    for text in documents():
        root = Oracle(text).root
        place = {element: at for at, element in enumerate(root.iter())}
        yield [[place[node] for node in root.getroottree().xpath(query)] for query in QUERIES]


def test_counts_and_positions_are_those_of_lxml() -> None:
    assert found_by(QUERIES, documents()) == list(found_by_lxml())


def test_the_thorough_way_finds_the_same() -> None:
    with patch.object(batch, "_FEW_STEPS", 0), patch.object(batch, "_STEPS_A_NODE", 0):
        assert found_by(QUERIES, documents()) == list(found_by_lxml())


def test_documents_match_where_they_have_nodes() -> None:
    engine, nodes = engine_of(QUERIES), found_by(QUERIES, documents())

    for document, expected in zip(documents(), nodes, strict=True):
        matched = engine.match(table_of([document])).subscriptions()[0]
        assert sorted(matched.tolist()) == [number for number, places in enumerate(expected) if places]


def test_what_is_not_compiled_finds_the_same() -> None:
    environment = kernels.as_python()
    environment["PYTHONPATH"] = f"{kernels.ROOT / 'src'}:{kernels.ROOT / 'tests'}"

    ran = subprocess.run([sys.executable, "-c", CHILD], env=environment, check=True, capture_output=True)
    file, found = pickle.loads(ran.stdout)

    assert file.endswith(".py")
    assert found == found_by(QUERIES, documents())


UNTOUCHED = {
    "a count": "//a[count(b) > {}]",
    "a count that is equal": "//a[count(b) = {}]",
    "a count that is not": "//a[not(count(b) <= {})]",
    "a count of what passes a test": "//a[count(b[. = 'never {}']) > 1]",
    "a count of any": "//a[count(b[. = 'never {}']) > 0]",
    "a position": "//b[{}]",
    "a position of what passes a test": "//b[c][{}]",
    "a position that is not": "//b[not(position() <= {})]",
    "a position above another": "//a[{}]/b[1]",
    "a position below another": "//a[1]/b[{}]",
    "the first that passes a test": "//a[starts-with(b[c]/c, 'never {}')]",
    "none but one": "//a[not(c) and not(count(b) = 0) and not(b != 'never {}')]",
}


@pytest.mark.parametrize("query", UNTOUCHED.values(), ids=UNTOUCHED)
def test_queries_that_nothing_touches_take_no_steps_however_many_they_are(query: str) -> None:
    table = table_of(documents())
    engine = engine_of([query.replace("{}", str(1000 + number)) for number in range(3_000)])

    with (
        patch.object(batch, "_FEW_STEPS", 4_000),
        patch.object(batch, "_STEPS_A_NODE", 0),
        patch.object(Index, "_do_thoroughly", side_effect=AssertionError("it took too many steps")),
    ):
        assert [found.size for found in engine.match(table).subscriptions()] == [0] * len(documents())


@pytest.mark.parametrize("comparison", ["> 0", ">= 1", "!= 0", "> 0.5"])
def test_a_count_of_at_least_one_is_that_there_is_something(comparison: str) -> None:
    assert parse(f"//a[count(b[c = 'x']) {comparison}]") == parse("//a[b[c = 'x']]")
    assert parse(f"//a[not(count(b) {comparison})]") == parse("//a[not(b)]")


@pytest.mark.parametrize("comparison", ["= 0", "< 1", "<= 0", "< 0.5"])
def test_a_count_of_none_is_that_there_is_nothing(comparison: str) -> None:
    assert parse(f"//a[count(b) {comparison}]") == parse("//a[not(b)]")
