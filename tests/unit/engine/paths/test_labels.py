"""Label paths: each distinct one runs the NFA once, and what is remembered of them keeps to its bounds."""

from __future__ import annotations

import gc
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise, product
from unittest.mock import patch

import pytest

from oracle import table_of
from weft.columns.integers import Ints
from weft.documents.document import Document, Limits
from weft.documents.scan import DocumentPaths, scan_paths
from weft.engine.paths import labels
from weft.engine.paths.bounds import Bounds
from weft.engine.paths.labels import LabelPaths
from weft.engine.paths.states import ROOT, States
from weft.kernel.path_labels import PathLabels
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


@pytest.mark.parametrize("size", [1, 5_000])
def test_beyond_the_bound_what_a_batch_brings_is_forgotten_and_what_was_there_stays(size: int) -> None:
    usual, other = "<a><b k='1'/><c/></a>", "<a><c><b/><c/></c><b><c><b/></c></b></a>"  # the same names
    recorded = Recorded(just_for(usual, size), size)
    recorded.batch(usual)
    kept = len(recorded.paths)

    recorded.batch(other)

    assert len(recorded.paths) == kept == 5
    made = recorded.made
    assert recorded.found(usual)["a/b"] == {"/a/b", "//b"}
    assert recorded.made == made
    assert recorded.found("<a><c><b/></c></a>")["a/c/b"] == {"//b"}
    assert recorded.made == made + 1


def test_where_nothing_that_is_remembered_has_helped_for_long_it_is_begun_anew() -> None:
    old = "<a>" + "".join(f"<n{number}/>" for number in range(7)) + "</a>"
    recorded = Recorded(just_for(old))
    recorded.batch(old)
    kept, sizes = len(recorded.paths), []

    for first, second, third in product(range(7), repeat=3):
        inside = f"<n{first}><n{second}><n{third}/></n{second}></n{first}>"
        recorded.batch(f"<a>{inside}</a>")
        sizes.append(len(recorded.paths))

    assert sizes[0] == kept, "it is forgotten after its batch"
    assert max(sizes) < 3 * kept
    assert min(sizes) == 1, "and after many of them so is what was there before"
    forgotten = recorded.made
    recorded.found(old)
    assert recorded.made > forgotten, "which is made again"


def test_names_that_never_come_again_are_forgotten_too() -> None:
    recorded = Recorded(Bounds(memory=200_000))

    taken = []
    for number in range(2_000):
        recorded.batch(f"<a><n{number}/></a>")
        taken.append(len(recorded.paths.names))

    assert max(taken) < 500
    assert recorded.paths.memory <= Bounds(memory=200_000).kept


def just_for(document: str, size: int = 1) -> Bounds:
    """As much as the label paths of a document take."""
    recorded = Recorded(size=size)
    recorded.batch(document)
    return Bounds(memory=recorded.paths.memory * 4 // 3 + 3)


def test_a_document_of_very_many_label_paths_is_as_any_other() -> None:
    recorded = Recorded(queries=("//b", "/a/n139999"))
    document = "<a>" + "".join(f"<n{number}/>" for number in range(140_000)) + "<b/></a>"

    labels = recorded.paths.of(table_of([document]))

    assert len(recorded.paths) == 140_003
    assert recorded.paths.plans[int(labels[-1])] == ["//b"]
    assert recorded.paths.plans[int(labels[-2])] == ["/a/n139999"]
    assert recorded.paths.names_of(int(labels[70_000])) == ["a", "n69999"]


def test_state_sets_are_a_cache_and_can_be_made_again() -> None:
    documents = ["<a><b><c><b k='1'>x</b></c></b></a>", "<a><c><b><b/></b></c></a>"]

    tight, wide = Recorded(Bounds(memory=0)), Recorded()

    assert tight.found(*documents) == wide.found(*documents)
    for path in range(1, len(tight.paths)):
        assert set(tight.paths.reached(path).tolist()) == set(wide.paths.reached(path).tolist())


# -- paths of names, where nobody asks for nodes


def paths_in(document: str) -> DocumentPaths:
    return scan_paths([Document(document)], Limits(), attributes=True, texts=True)


def test_paths_of_names_lead_to_label_paths_as_nodes_do_also_after_some_were_forgotten() -> None:
    wide, names = Recorded(), range(16)
    wide.paths.of_paths(paths_in("<a>" + "".join(f"<n{name}/>" for name in names) + "<b/></a>"))
    recorded, sizes = Recorded(Bounds(memory=(wide.paths.memory + 4_000) * 4 // 3)), [1]

    for first, second in product(names, repeat=2):
        document = f"<a><n{first} k='1'><n{second}>x</n{second}></n{first}><b/></a>"
        by_names = recorded.paths.of_paths(paths_in(document)).tolist()

        assert sorted(set(recorded.paths.of(table_of([document])).tolist())) == sorted(by_names)
        assert f"a/n{first}/n{second}" in {"/".join(recorded.paths.names_of(path)) for path in by_names}
        recorded.paths.finish_batch(sizes[-1])
        sizes.append(len(recorded.paths))

    assert any(before == after > 1 for before, after in pairwise(sizes)), "some were cut off"
    assert 1 in sizes[1:], "and all were forgotten"


def test_what_is_kept_for_paths_of_names_counts() -> None:
    recorded = Recorded()
    document = "<a>" + "".join(f"<n{number}/>" for number in range(1_000)) + "</a>"
    recorded.paths.of(table_of([document]))
    before = recorded.paths.memory

    recorded.paths.of_paths(paths_in(document))

    assert recorded.paths.memory - before >= 4 * 2 * 1_000  # label path and code of each


def test_threads_in_turn_do_not_begin_anew_with_what_each_knows() -> None:
    recorded = Recorded()
    documents = [f"<a><b/><n{number}/></a>" for number in range(20)]

    counted = patch.object(labels, "PathLabels", wraps=PathLabels)
    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(1) as other, counted as made:
        for document in documents:
            for thread in (one, other):
                recorded.paths.of_paths(thread.submit(paths_in, document).result())

    assert made.call_count == 2


def test_what_is_kept_for_the_paths_of_threads_goes_with_them_and_is_bounded() -> None:
    recorded, document = Recorded(), "<a>" + "".join(f"<n{number}/>" for number in range(1_000)) + "</a>"
    recorded.paths.of_paths(paths_in(document))
    before = recorded.paths.memory

    held = []
    for _ in range(100):
        with ThreadPoolExecutor(1) as thread:
            held.append(thread.submit(paths_in, document).result())
            recorded.paths.of_paths(held[-1])
    most = recorded.paths.memory
    held.clear()
    gc.collect()

    assert most <= before + 64 * 4 * 2 * 1_100
    assert recorded.paths.memory <= before
