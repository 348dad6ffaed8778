"""All paths as one automaton: the nodes that libxml2 finds, however few states there may be."""

from __future__ import annotations

from random import Random

import pytest
from lxml import etree

from profiles import rounds
from weft.documents.build import read
from weft.documents.document import Document, Limits
from weft.documents.table import NodeTable
from weft.headers.path_automaton import PathAutomaton, TooManyStatesError
from weft.headers.view_nodes import MANY, ViewNodes, path_of
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


def expected(data: str, text: str) -> list[tuple[int, str, str]]:
    """Where libxml2 finds nodes: the number of their element, and what they are there."""
    root = etree.fromstring(data)
    numbers = {element: number for number, element in enumerate(root.iter())}
    found = []
    for node in root.getroottree().xpath(text):
        if isinstance(node, etree._Element):
            found.append((numbers[node], "", ""))
        else:
            parent = node.getparent()
            owner = parent.getparent() if node.is_tail else parent
            found.append((numbers[owner], node.attrname or "", str(node)))
    return sorted(found)


def told(table: NodeTable, nodes: list[int]) -> list[tuple[int, str, str]]:
    """The same of nodes of a table with one document."""
    found = []
    for node in nodes:
        if node < table.elements:
            found.append((node, "", ""))
        else:
            is_text = node >= table.first_text
            name = "" if is_text else table.names[table.attribute_name[node - table.elements]]
            found.append((int(table.parent[node]), name, table.string_value(node)))
    return sorted(found)


def test_paths_lead_where_libxml2_says() -> None:
    chance = Random(1)

    for _ in range(rounds(60)):
        texts = [drawn_path(chance) for _ in range(8)]
        automaton = PathAutomaton({number: path(text) for number, text in enumerate(texts)})
        for _ in range(3):
            data = drawn_element(chance, 4)
            table = read([Document(data)])
            numbers, nodes = automaton.select(table)
            for number, text in enumerate(texts):
                assert told(table, nodes[numbers == number].tolist()) == expected(data, text), (text, data)


def test_names_that_no_path_asks_for_are_one_and_the_automaton_stays_small() -> None:
    automaton = PathAutomaton({0: path("/a/b"), 1: path("//c/@x")})
    documents = [Document(f"<a><b/><n{number} m{number}='1'/></a>") for number in range(300)]

    for document in documents:
        automaton.select(read([document]))

    assert len(automaton) < 10


def test_more_states_than_there_may_be_are_refused() -> None:
    automaton = PathAutomaton({0: path("//a/*/*/*/*/*/*/b")}, most_cells=64)

    with pytest.raises(TooManyStatesError):
        automaton.select(read([Document("<a>" * 9 + "</a>" * 9)]))


def test_where_states_are_too_many_the_engine_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = Random(2)
    patterns = [pattern(drawn_path(chance)) for _ in range(12)] + [pattern("//a[b]"), pattern("/a/b[2]")]
    documents = [Document(drawn_element(chance, 4), str(number)) for number in range(20)]
    table = read(documents)
    usual = ViewNodes(patterns, Limits()).select(table)
    tried = []

    def refuse(*_: object) -> None:
        tried.append(1)
        raise TooManyStatesError

    views = ViewNodes(patterns, Limits())
    monkeypatch.setattr(PathAutomaton, "_step", refuse)
    other = views.select(table)

    assert tried
    assert (other.starts, other.numbers, other.nodes) == (usual.starts, usual.numbers, usual.nodes)
    assert MANY in usual.nodes
    assert views.select(table).nodes == usual.nodes


@pytest.mark.parametrize("text", ["/a[b]", "/a[1]/b", "//a[@x = 1]/@y"])
def test_a_view_with_a_test_is_no_path(text: str) -> None:
    assert path_of(pattern(text)) is None
