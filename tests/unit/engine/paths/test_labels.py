"""Label paths: each distinct one runs the NFA once, and what is remembered of them keeps to its bounds."""

from __future__ import annotations

import pytest

from oracle import table_of
from weft.columns.integers import Ints
from weft.engine.paths.labels import Bounds, LabelPaths
from weft.engine.paths.states import ROOT, States
from weft.languages.xpath import parse
from weft.plans.plan import Pattern

QUERIES = ("/a/b", "//b", "//b/@k", "/a//text()", "/a/*/c")


class Recorded:
    """Label paths over some queries; a plan is the queries whose states were reached, and each one made is counted."""

    def __init__(self, bounds: Bounds | None = None, size: int = 1, queries: tuple[str, ...] = QUERIES) -> None:
        self.states, self.size, self.made = States(), size, 0
        self._ends: dict[int, str] = {}
        self.add(*queries)
        self.paths: LabelPaths[list[str]] = LabelPaths(self.states, self._make, bounds)

    def add(self, *queries: str) -> None:
        for query in queries:
            selection = parse(query)
            assert isinstance(selection, Pattern)
            self._ends[self.states.extend(ROOT, selection.path)] = query

    def _make(self, _: int, reached: Ints) -> tuple[list[str], int]:
        self.made += 1
        return [self._ends[state] for state in reached.tolist() if state in self._ends], self.size

    def found(self, *documents: str) -> dict[str, set[str]]:
        """What is reached at each label path of a batch, by its names."""
        labels = self.paths.of(table_of(documents))
        return {
            "/".join(self.paths.names_of(path)): set(self.paths.plans[path])
            for path in sorted(set(labels.tolist()))
            if path >= 0
        }

    def batch(self, *documents: str) -> None:
        mark = len(self.paths)
        self.found(*documents)
        self.paths.finish_batch(mark)


def test_every_node_gets_the_queries_that_lead_to_it() -> None:
    recorded = Recorded()

    assert recorded.found("<a><b k='1'>x<c/></b><c><b/></c></a>") == {
        "a": set(),
        "a/b": {"/a/b", "//b"},
        "a/b/@k": {"//b/@k"},
        "a/b/text()": {"/a//text()"},
        "a/b/c": {"/a/*/c"},
        "a/c": set(),
        "a/c/b": {"//b"},
    }


def test_a_label_path_is_run_once_however_often_it_comes() -> None:
    recorded = Recorded()
    first = recorded.found("<a><b/><b/></a>", "<a><b/></a>")
    made = recorded.made

    again = recorded.found("<a><b/><b/><b/></a>")

    assert first == again
    assert recorded.made == made == 2, "of two label paths"


def test_how_often_a_label_path_was_seen_is_counted() -> None:
    recorded = Recorded()
    recorded.found("<a><b/><b/></a>")
    recorded.found("<a><b/></a>")

    seen = {"/".join(recorded.paths.names_of(path)): recorded.paths.seen[path] for path in range(len(recorded.paths))}
    assert seen == {"": 0, "a": 2, "a/b": 3}


def test_attributes_and_texts_have_no_label_path_where_no_query_asks_for_them() -> None:
    recorded = Recorded(queries=("//a",))
    table = table_of(["<a k='1'>x<b/></a>"])

    labels = recorded.paths.of(table)

    assert (labels[: table.elements] >= 0).all()
    assert (labels[table.elements :] == -1).all()


def test_after_the_nfa_has_grown_the_label_paths_are_made_anew() -> None:
    recorded = Recorded()
    recorded.found("<a><d/></a>")

    recorded.add("/a/d")
    recorded.paths.clear()

    assert recorded.found("<a><d/></a>") == {"a": set(), "a/d": {"/a/d"}}


@pytest.mark.parametrize(
    ("bounds", "size"), [(Bounds(label_paths=6), 1), (Bounds(entries=60), 10)], ids=["label paths", "entries"]
)
def test_beyond_the_bound_what_a_batch_brings_is_forgotten_and_what_was_there_stays(bounds: Bounds, size: int) -> None:
    recorded = Recorded(bounds, size)
    recorded.batch("<a><b k='1'/><c/></a>")  # four label paths and that of the document
    kept = len(recorded.paths)

    recorded.batch("<a><x/><y/><z/></a>")

    assert len(recorded.paths) == kept
    made = recorded.made
    assert recorded.found("<a><b k='1'/><c/></a>")["a/b"] == {"/a/b", "//b"}
    assert recorded.made == made
    assert recorded.found("<a><x/></a>") == {"a": set(), "a/x": set()}
    assert recorded.made == made + 1


def test_where_nothing_that_is_remembered_has_helped_for_long_it_is_begun_anew() -> None:
    recorded = Recorded(Bounds(label_paths=10))
    old = "<old>" + "".join(f"<n{number}/>" for number in range(7)) + "</old>"
    recorded.batch(old)

    made = [0] * 5
    for number in range(5):
        recorded.batch(f"<r{number}><s/></r{number}>")
        before = recorded.made
        recorded.batch(f"<r{number}><s/></r{number}>")
        made[number] = recorded.made - before

    assert made[0] == 2, "it was forgotten after its batch"
    assert made[-1] == 0, "it is remembered, since there is room again"
    before = recorded.made
    recorded.found(old)
    assert recorded.made == before + 8, "and what was there before is not"


def test_state_sets_are_a_cache_and_can_be_made_again() -> None:
    documents = ["<a><b><c><b k='1'>x</b></c></b></a>", "<a><c><b><b/></b></c></a>"]

    tight, wide = Recorded(Bounds(states=0)), Recorded()

    assert tight.found(*documents) == wide.found(*documents)
    for path in range(1, len(tight.paths)):
        assert set(tight.paths.reached(path).tolist()) == set(wide.paths.reached(path).tolist())
