"""Along an edge, down and up: both find the pairs of nodes that lxml finds, each once."""

import numpy as np
import pytest
from lxml import etree

from oracle import table_of
from weft.documents.table import NodeTable
from weft.engine.evaluation.navigate import Navigation
from weft.engine.paths.states import ROOT
from weft.engine.shared.frozen import Frozen
from weft.engine.shared.label_plans import LabelPlans
from weft.engine.shared.plan import SharedPlan
from weft.engine.shared.results import Results
from weft.languages.xpath import parse
from weft.plans.plan import Path, Pattern

DOCUMENTS = [
    "<a><b><a><b/><c><b/></c></a></b><c><b/></c></a>",
    "<a><a><a><b><b/></b></a></a></a>",
    "<c><b><c><a/></c></b></c>",
]
#: From the root to where an edge begins, and from there on.
EDGES = [("/a", "/b"), ("//a", "//b"), ("//a", "/*/b"), ("//*", "//b//*"), ("//b", "/a//c/b"), ("//a//a", "//b")]


def path_of(query: str) -> Path:
    selection = parse(query)
    assert isinstance(selection, Pattern)
    return selection.path


class Edge:
    """An edge of the shared plan, and a batch; elements are numbered through the batch in document order."""

    def __init__(self, above: str, below: str) -> None:
        shared = SharedPlan()
        self.above = shared.extend(ROOT, path_of(above))
        self.below = shared.extend(self.above, path_of(below))
        self.number = shared.add_edge(self.above, self.below)
        self.table = table_of(DOCUMENTS)
        frozen = Frozen(shared, Results())
        frozen.is_busy[:] = True  # so that label paths remember all their states
        self.plans = LabelPlans(shared, None)
        self.plans.freeze(frozen)
        self.labels = self.plans.labels(self.table)
        self.navigation = Navigation(self.table, self.labels, self.plans, frozen)

    def rows(self, state: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int32]]:
        """The nodes that a state is reached at."""
        reached = [state in self.plans.paths.reached(label).tolist() for label in self.labels.tolist()]
        return np.flatnonzero(reached).astype(np.int32)

    def pairs(self, is_down: bool) -> list[tuple[int, int]]:
        rows = self.rows(self.above if is_down else self.below)
        walk = self.navigation.down if is_down else self.navigation.up
        origin, others = walk(np.full(rows.size, self.number, np.int32), rows)
        found = list(zip(rows[origin].tolist(), others.tolist(), strict=True))
        return found if is_down else [(above, below) for below, above in found]


def by_lxml(above: str, below: str) -> list[tuple[int, int]]:
    pairs, before = [], 0
    for document in DOCUMENTS:
        root = etree.fromstring(document)
        numbers = {element: at for at, element in enumerate(root.iter(), start=before)}
        for start in root.getroottree().xpath(above):
            pairs += [(numbers[start], numbers[end]) for end in start.xpath(f".{below}")]
        before += len(numbers)
    return pairs


@pytest.mark.parametrize(("above", "below"), EDGES)
def test_an_edge_leads_down_to_what_lxml_finds_in_document_order(above: str, below: str) -> None:
    expected = by_lxml(above, below)

    assert Edge(above, below).pairs(is_down=True) == expected
    assert expected


@pytest.mark.parametrize(("above", "below"), EDGES)
def test_an_edge_leads_up_to_where_it_would_lead_down_from(above: str, below: str) -> None:
    found = Edge(above, below).pairs(is_down=False)

    assert len(found) == len(set(found)), "each once"
    assert sorted(found) == sorted(by_lxml(above, below))


def test_many_edges_are_walked_at_once_each_from_its_own_row() -> None:
    shared, table = SharedPlan(), table_of(["<a k='1' l='2'>x<b k='3'>y</b>z</a>"])
    walks = [shared.add_walk(path_of(path)) for path in ("/@*", "/text()", "//text()", "/b/@k", "//@k", "/c")]
    navigation = Navigation(table, np.zeros(table.nodes, np.int32), None, Frozen(shared, Results()))

    origin, nodes = navigation.down(np.array(walks, np.int32), np.zeros(len(walks), np.int32))

    values: list[list[str]] = [[] for _ in walks]
    for at, node in zip(origin.tolist(), nodes.tolist(), strict=True):
        values[at].append(value_of(table, node))
    assert values == [["1", "2"], ["x", "z"], ["x", "y", "z"], ["3"], ["1", "3"], []]


def value_of(table: NodeTable, node: int) -> str:
    return table.string_value(node)
