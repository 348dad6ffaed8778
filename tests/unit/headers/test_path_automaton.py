"""All paths as one automaton: the node that libxml2 finds, however few states there may be."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from random import Random

import numpy as np
import pytest
from lxml import etree

from profiles import rounds
from weft.columns.integers import Ints
from weft.documents.build import build, read
from weft.documents.document import Document, Limits
from weft.documents.scan import Scanned, scan
from weft.documents.table import NodeTable
from weft.headers.document_bounds import document_bounds
from weft.headers.header import ABSENT, SEVERAL
from weft.headers.path_automaton import PathAutomaton, TooManyStatesError
from weft.headers.view_nodes import ViewNodes, path_of
from weft.languages import parse
from weft.plans.plan import Path, Pattern

NAMES = "abc"


def drawn_element(chance: Random, depth: int) -> str:
    name = chance.choice(NAMES)
    attributes = "".join(f" {each}='{chance.randrange(3)}'" for each in "xy" if chance.random() < 0.4)
    inside = [
        chance.choice(("", "t", drawn_element(chance, depth - 1))) for _ in range(chance.randrange(4) if depth else 0)
    ]
    return f"<{name}{attributes}>{''.join(inside)}</{name}>"


def drawn_path(chance: Random) -> str:
    steps = [chance.choice(("/", "/", "//")) + chance.choice("abcd*") for _ in range(chance.randrange(1, 5))]
    last = chance.choice(("", "", "/@x", "//@y", "/@*", "/text()", "//text()"))
    return "".join(steps) + last


def pattern(text: str) -> Pattern:
    plan = parse(text)
    assert isinstance(plan, Pattern)
    return plan


def path(text: str) -> Path:
    found = path_of(pattern(text))
    assert found is not None
    return found


Place = tuple[int, str, str]


def expected(data: str, text: str) -> Place | int:
    """Where libxml2 finds the one node: the number of its element, and what it is there; or why there is none."""
    root = etree.fromstring(data)
    numbers = {element: number for number, element in enumerate(root.iter())}
    found: list[Place] = []
    for node in root.getroottree().xpath(text):
        if isinstance(node, etree._Element):
            found.append((numbers[node], "", ""))
        else:
            parent = node.getparent()
            owner = parent.getparent() if node.is_tail else parent
            found.append((numbers[owner], node.attrname or "", str(node)))
    return ABSENT if not found else SEVERAL if len(found) > 1 else found[0]


def told(table: NodeTable, node: int, bounds: Ints) -> Place | int:
    """The same of a node of a table."""
    if node < 0:
        return node
    if node < table.elements:
        return node - int(bounds[0]), "", ""
    name = "" if node >= table.first_text else table.names[table.attribute_name[node - table.elements]]
    return int(table.parent[node] - bounds[0]), name, table.string_value(node)


def selected(automaton: PathAutomaton, paths: int, table: NodeTable) -> list[list[int]]:
    """By document."""
    bounds = document_bounds(table)
    nodes = np.full((len(bounds), paths), ABSENT, np.int32)
    automaton.select(table, bounds, nodes)
    found: list[list[int]] = nodes.tolist()
    return found


def test_paths_lead_where_libxml2_says() -> None:
    chance = Random(1)

    for _ in range(rounds(60)):
        texts = [drawn_path(chance) for _ in range(8)]
        automaton = PathAutomaton({number: path(text) for number, text in enumerate(texts)})
        documents = [drawn_element(chance, 4) for _ in range(4)]
        for batch in (documents[:1], documents[1:]):  # alone, and together
            table = read([Document(data) for data in batch])
            found = selected(automaton, len(texts), table)
            for data, bounds, nodes in zip(batch, document_bounds(table), found, strict=True):
                for text, node in zip(texts, nodes, strict=True):
                    assert told(table, node, bounds) == expected(data, text), (text, data)


def test_a_path_that_ends_where_another_goes_on_is_found_too() -> None:
    automaton = PathAutomaton({0: path("/a"), 1: path("/a/b"), 2: path("/a/b/@x"), 3: path("//c"), 4: path("/a/b")})
    table = read([Document("<a><b x='1'/><d><c/></d></a>")])

    assert selected(automaton, 5, table) == [[0, 1, 4, 3, 1]]


def test_names_of_another_name_table_are_not_taken_for_those_of_the_first() -> None:
    automaton = PathAutomaton({0: path("/a/b"), 1: path("/a/c")})
    data = ["<a><b/></a>", "<a><c/><b/></a>"]
    tables = [build(_scanned_anew(each)) for each in data]

    assert tables[0].name_table is not tables[1].name_table
    assert [selected(automaton, 2, table) for table in tables] == [[[1, ABSENT]], [[2, 1]]]


def _scanned_anew(data: str) -> Scanned:
    """What another thread scans: it has a name table of its own."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(scan, [Document(data)], Limits()).result()


def test_threads_may_use_one_automaton() -> None:
    chance = Random(3)
    texts = [drawn_path(chance) for _ in range(40)]
    documents = [drawn_element(chance, 5) for _ in range(200)]
    paths = {number: path(text) for number, text in enumerate(texts)}
    shared = PathAutomaton(paths)

    def nodes_of(data: str, automaton: PathAutomaton) -> list[list[int]]:
        table = read([Document(data)])
        return selected(automaton, len(texts), table)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda data: nodes_of(data, shared), documents))

    alone = PathAutomaton(paths)
    assert found == [nodes_of(data, alone) for data in documents]


def test_names_that_no_path_asks_for_are_one_and_the_automaton_stays_small() -> None:
    automaton = PathAutomaton({0: path("/a/b"), 1: path("//c/@x")})

    for number in range(300):
        table = read([Document(f"<a><b/><n{number} m{number}='1'/></a>")])
        selected(automaton, 2, table)

    assert len(automaton) < 10


def test_more_states_than_there_may_be_are_refused() -> None:
    automaton = PathAutomaton({0: path("//a/*/*/*/*/*/*/b")}, most_cells=64)
    table = read([Document("<a>" * 9 + "</a>" * 9)])

    with pytest.raises(TooManyStatesError):
        selected(automaton, 1, table)


def test_where_states_are_too_many_the_engine_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = Random(2)
    patterns = [pattern(drawn_path(chance)) for _ in range(12)] + [pattern("//a[b]"), pattern("/a/b[2]")]
    given = [patterns[:7], patterns[7:]]
    table = read([Document(drawn_element(chance, 4), str(number)) for number in range(20)])
    usual = all_nodes(ViewNodes(given, Limits()), table)
    tried = []

    def refuse(*_: object) -> None:
        tried.append(1)
        raise TooManyStatesError

    views = ViewNodes(given, Limits())
    monkeypatch.setattr(PathAutomaton, "_step", refuse)

    assert all_nodes(views, table) == usual
    assert len(tried) == 2  # once for each configuration
    assert any(SEVERAL in each for each in usual)
    assert all_nodes(views, table) == usual


def all_nodes(views: ViewNodes, table: NodeTable) -> list[list[int]]:
    found, places = views.select(table), range(len(table.documents))
    nodes = [found.of(places, which, document_bounds(table)).tolist() for which in (0, 1)]
    assert not found.unknown
    return [each for of_documents in zip(*nodes, strict=True) for each in of_documents]


@pytest.mark.parametrize("text", ["/a[b]", "/a[1]/b", "//a[@x = 1]/@y"])
def test_a_view_with_a_test_is_no_path(text: str) -> None:
    assert path_of(pattern(text)) is None
