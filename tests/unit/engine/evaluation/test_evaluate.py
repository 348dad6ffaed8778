"""Results of the shared plan on one document, kind by kind of node; and what no fact brings up is not looked at."""

from unittest.mock import patch

import pytest

from oracle import Oracle, table_of
from weft.engine import Engine
from weft.engine.evaluation.evaluate import Evaluation
from weft.engine.evaluation.navigate import Navigation
from weft.languages.xpath import parse

#: Elements are numbered in document order: r is 0, the `a` are 1, 4 and 7.
DOCUMENT = """<r><a><b>x</b><b>y</b></a><a><b>y</b><c k="2"/></a><a><d><b>x</b></d></a></r>"""
CASES = {
    "a value": ("//b[. = 'x']", [2, 9]),
    "a value that is not": ("//b[. != 'x']", [3, 5]),
    "a number": ("//c[@k > 1]", [6]),
    "a path": ("//a[b]", [1, 4]),
    "no path": ("//a[not(b)]", [7]),
    "a value on a path": ("//a[b = 'x']", [1]),
    "a value on a deep path": ("//a[.//b = 'x']", [1, 7]),
    "a name": ("//*[self::c or self::d]", [6, 8]),
    "all of several": ("//a[b = 'y' and c]", [4]),
    "all of several, one not": ("//a[b = 'y' and not(c)]", [1]),
    "one of several": ("//a[c or d]", [4, 7]),
    "the second": ("//a[2]", [4]),
    "the last": ("//a[last()]", [7]),
    "the last of those": ("//a[b][last()]", [4]),
    "behind the first": ("//a[position() > 1]", [4, 7]),
    "the first on a path": ("//a[starts-with(b, 'y')]", [4]),
    "the first on a path with a test": ("//a[starts-with(b[2], 'y')]", [1]),
    "a count": ("//a[count(b) = 2]", [1]),
    "a count of none": ("//a[count(b) < 1]", [7]),
    "a pattern below a test": ("//a[b = 'x']/b", [2, 3]),
    "a pattern below a test, with a test": ("//a[c]/b[. = 'y']", [5]),
    "two patterns below each other": ("//a[d]/d[b]/b[. = 'x']", [9]),
    "always": ("//a[true()]", [1, 4, 7]),
    "never": ("//a[false()]", []),
}


def found_by(engine: Engine, *documents: str) -> list[tuple[int, int]]:
    """(subscription, node of the batch)."""
    _, subscriptions, nodes = engine.match(table_of(documents)).nodes()
    return list(zip(subscriptions.tolist(), nodes.tolist(), strict=True))


@pytest.mark.parametrize(("query", "places"), CASES.values(), ids=CASES)
def test_a_query_holds_where_it_should_alone_and_as_lxml_says(query: str, places: list[int]) -> None:
    engine = Engine()
    engine.add(0, parse(query))

    assert [node for _, node in found_by(engine, DOCUMENT)] == places
    root = Oracle(DOCUMENT).root
    elements = list(root.iter())
    assert [elements.index(node) for node in root.getroottree().xpath(query)] == places


def test_all_queries_together_hold_where_each_does_alone() -> None:
    engine = Engine()
    for number, (query, _) in enumerate(CASES.values()):
        engine.add(number, parse(query))

    assert found_by(engine, DOCUMENT) == [
        (number, place) for number, (_, places) in enumerate(CASES.values()) for place in places
    ]


def test_roots_of_a_batch_are_nobodys_siblings() -> None:
    engine = Engine()
    engine.add(0, parse("/r[1]"))
    engine.add(1, parse("/r[2]"))
    engine.add(2, parse("/r[last()]"))

    assert sorted(found_by(engine, "<r/>", "<r/>")) == [(0, 0), (0, 1), (2, 0), (2, 1)]


def test_what_the_constants_of_a_query_do_not_bring_up_is_not_looked_at() -> None:
    engine = Engine()
    for number, query in enumerate(["//a[b = 'none' and .//c]", "//a[.//c]/b[. = 'none']", "//a[contains(b, 'none')]"]):
        engine.add(number, parse(query))
    table = table_of([DOCUMENT])

    with (
        patch.object(Navigation, "up", side_effect=AssertionError("looked up")),
        patch.object(Navigation, "down", side_effect=AssertionError("looked down")),
    ):
        found = engine.match(table).nodes()[2]

    assert found.size == 0


MANY_PATHS = ["k{}", "d/k{}", ".//k{}", "d//k{}", "*/k{}", "@k{}", ".//@k{}"]
WITH_MANY = '<a><a><k3/><d><k5/><e k8="1"><k7/></e></d></a><d k2="1"><a k4="1"><k3/></a></d></a>'


@pytest.mark.parametrize("path", MANY_PATHS)
def test_many_paths_from_one_node_hold_as_lxml_says(path: str) -> None:
    queries = [f"//a[{path.format(number)}]" for number in range(100)]
    engine = Engine()
    for number, query in enumerate(queries):
        engine.add(number, parse(query))

    root = Oracle(WITH_MANY).root
    elements = list(root.iter())
    wanted = [
        (number, elements.index(node))
        for number, query in enumerate(queries)
        for node in root.getroottree().xpath(query)
    ]
    assert wanted
    assert sorted(found_by(engine, WITH_MANY)) == sorted(wanted)


def test_of_many_paths_from_one_node_only_those_come_up_that_lead_somewhere() -> None:
    engine = Engine()
    for number in range(1000):
        engine.add(number, parse(f"//a[@lang = 'en'][k{number}]"))
    evaluations: list[Evaluation] = []
    rise = Evaluation._rise

    def spy(evaluation: Evaluation, whether: bool) -> object:
        evaluations.append(evaluation)
        return rise(evaluation, whether)

    with patch.object(Evaluation, "_rise", spy):
        found = found_by(engine, "<r><a lang='en'><k700/></a><a lang='en'/><a/></r>")

    assert found == [(700, 1)]
    assert evaluations[0].brought_up()[0].size == 3  # what all have in common, twice, and one path
