"""A choice of parts becomes a version of the store: what is wanted is there, and all else is known."""

from __future__ import annotations

from pathlib import Path

from query_servers import queries
from weft.views.sources.local import FileSource
from weft.views.store.store import Store
from weft.views.storing import Wanted, store_parts
from weft.views.workload import workload_of

DOCUMENT = "<s><a>1</a><b>2<a>3</a></b><c><a>4</a></c></s>"


def made(folder: Path, wanted: Wanted) -> Store:
    (folder / "s.xml").write_text(DOCUMENT)
    store = Store(folder / "store")
    store_parts(store, {"s": FileSource(folder / "s.xml")}, wanted, 1.0, 100)
    return store


def test_all_parts_are_known_and_the_wanted_ones_stored(tmp_path: Path) -> None:
    workload = queries("/s/*", "/s/b", "//a")
    known = made(tmp_path, Wanted(workload, whole=frozenset({"q1"}))).manifest()
    chosen = known.parts[0].id

    manifest = made(tmp_path, Wanted(workload, frozenset({chosen}))).manifest()

    assert {part.id for part in manifest.parts} == {part.id for part in known.parts}
    assert [part.id for part in manifest.parts if part.files is not None] == [chosen]
    assert manifest.budget == 100


def test_a_whole_query_has_all_parts_that_its_nodes_lie_in(tmp_path: Path) -> None:
    store = made(tmp_path, Wanted(queries("/s/*", "/s/b", "//a"), whole=frozenset({"q3"})))

    manifest = store.manifest()

    assert manifest.is_stored("q3", "s")
    assert store.rows(manifest.view_of["q3"].requires, "q3")["fragment"].to_pylist() == [
        "<a>1</a>",
        "<a>3</a>",
        "<a>4</a>",
    ]


def test_a_source_of_which_nothing_is_stored_takes_no_space(tmp_path: Path) -> None:
    manifest = made(tmp_path, Wanted(queries("/s/*"))).manifest()

    assert (manifest.size, manifest.sources) == (0, ())
    assert not manifest.is_stored("q1", "s")


def test_parts_are_found_again_when_a_new_query_parts_them(tmp_path: Path) -> None:
    before = made(tmp_path, Wanted(queries("/s/*"), whole=frozenset({"q1"}))).manifest()
    stored = frozenset(part.id for part in before.parts)
    both = workload_of(
        [*queries("/s/*").queries, *(each for each in queries("x", "/s/b").queries if each.name == "q2")]
    )

    after = made(tmp_path, Wanted(both, stored, new=frozenset({"q2"}))).manifest()

    assert len(after.parts) == 2
    assert all(part.files is not None for part in after.parts)
