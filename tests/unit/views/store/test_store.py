"""A store gives back what was put in, whoever reads it, and whatever happens to those who write it."""

from __future__ import annotations

import random
import signal
import time
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from held_source import HeldSource, fill, selected, stored, views_of
from processes import end_of, start
from weft.errors import ConfigurationError
from weft.views.store.dropping import drop_view
from weft.views.store.locks import StoreBusyError
from weft.views.store.manifest import Manifest, ViewEntry
from weft.views.store.refresh import refresh
from weft.views.store.store import PartRows, SourceState, Store

QUERIES = {"a": "/s/a", "b": "//b", "x": "//@x", "t": "//b/text()"}


def document(number: int, first: int = 0) -> bytes:
    """A document that tells its number in all of its nodes."""
    items = "".join(f'<a x="{number}">{at}<b>{number}</b>{"text " * 20}</a>\n' for at in range(first, first + 100))
    return f"<s>{items}<b>{number}</b></s>".encode()


def test_what_is_put_in_comes_out(tmp_path: Path) -> None:
    sources = [HeldSource({"e": document(1), "d": document(2)}), HeldSource({"d": b"<r><b x='1'/></r>"}, "r")]
    store = Store(tmp_path)

    manifest = fill(store, sources, views_of(QUERIES), now=5.0)

    assert store.manifest() == manifest
    assert (manifest.number, manifest.created, manifest.budget) == (1, 5.0, 1 << 20)
    for name, query in QUERIES.items():
        both = [row for source in sources for row in selected(source, query).to_pylist()]
        assert stored(store, name).to_pylist() == both
    assert store.check() == []


def test_sizes_are_those_on_the_disk(tmp_path: Path) -> None:
    manifest = fill(Store(tmp_path), [HeldSource({"d": document(1)})], views_of(QUERIES))

    assert manifest.size == sum(file.stat().st_size for file in (tmp_path / "files").iterdir())
    of_parts = manifest.size - sum(each.documents.bytes + each.regions.bytes for each in manifest.sources)
    assert abs(sum(part.bytes for part in manifest.parts) - of_parts) < len(manifest.parts)


def test_small_parts_share_a_file_and_large_ones_do_not(tmp_path: Path) -> None:
    items = "".join(f"<a>{at * 7919}</a>" for at in range(2_000))
    source = HeldSource({"d": f"<s>{items}<b>1</b><c>2</c><d><b>3</b></d></s>".encode()})
    queries = {name: f"//{name}" for name in "abcd"}

    manifest = fill(Store(tmp_path), [source], views_of(queries))

    files = {part.signature: (part.files or ())[0].name for part in manifest.parts}
    assert len(files) == 4
    assert len(set(files.values())) == 2
    for name, query in queries.items():
        assert stored(Store(tmp_path), name).equals(selected(source, query))


def test_what_was_dropped_leaves_the_file_that_it_shared(tmp_path: Path) -> None:
    source, store = HeldSource({"d": b"<s><b>here</b><c>there</c></s>"}), Store(tmp_path)
    fill(store, [source], views_of({"b": "//b", "c": "//c"}))

    manifest = drop_view(store, "b", 2.0)

    name = (manifest.required("c", "s")[0].files or ())[0].name
    texts = duckdb.connect().execute(f"SELECT value FROM '{tmp_path}/files/{name}'")
    assert texts.fetchall() == [("there",)]
    assert stored(store, "c").equals(selected(source, "//c"))


def test_nothing_was_stored_yet(tmp_path: Path) -> None:
    assert Store(tmp_path / "new").manifest() == Manifest(0, 0.0, None)


def reweigh(store: Store, frequencies: dict[str, float]) -> None:
    """A small change of the store: views are asked more or less often."""
    with store.writing():
        manifest = store.manifest()
        views = (replace(view, frequency=frequencies.get(view.name, view.frequency)) for view in manifest.views)
        store.swap(replace(manifest, views=tuple(views)))


def test_a_view_is_dropped_with_the_parts_that_only_it_requires(tmp_path: Path) -> None:
    source, store = HeldSource({"d": document(1)}), Store(tmp_path)
    before = fill(store, [source], views_of({"a": "/s/a", "b": "/s/b", "all": "/s/a[b]"}))

    after = drop_view(store, "b", 2.0)

    assert [view.name for view in after.views if view.is_kept] == ["a", "all"]
    assert after.size < before.size
    assert not after.is_stored("b", "s")
    assert stored(store, "a").equals(selected(source, "/s/a"))
    with pytest.raises(ConfigurationError, match="expected it to be stored, found that it is not"):
        stored(store, "b")
    with pytest.raises(ConfigurationError, match="expected one of a, all, found 'c'"):
        drop_view(store, "c", 3.0)


def test_rows_of_another_version_are_refused(tmp_path: Path) -> None:
    source, store = HeldSource({"d": document(1)}), Store(tmp_path)
    manifest = fill(store, [source], views_of({"a": "/s/a"}))
    with store.reading() as snapshot:
        rows = snapshot.part_rows(manifest.parts[0].id)
    source.documents["d"] = document(2)
    refresh(store, source, 2.0)
    with store.reading() as snapshot:
        places = snapshot.places("s")

    state = SourceState("s", "memory", 3.0, places)
    with pytest.raises(ValueError, match="expected d in version"):
        store.replace([], [PartRows("p", "s", ("a",), rows)], [state], 3.0)


def test_parts_that_are_not_there_are_told(tmp_path: Path) -> None:
    store = Store(tmp_path)

    with pytest.raises(ValueError, match="views require parts that are not given: p"):
        store.replace([ViewEntry("a", "/s/a", requires=("p",))], [], [], 1.0)
    with pytest.raises(ConfigurationError, match="expected a part p, found none"):
        store.rows(["p"])


def test_duckdb_reads_the_files_as_they_are(tmp_path: Path) -> None:
    source, store = HeldSource({"d": document(1)}), Store(tmp_path)
    manifest = fill(store, [source], views_of({"a": "/s/a"}))
    files = [str(tmp_path / "files" / file.name) for part in manifest.parts for file in part.files or ()]

    rows = duckdb.execute(f'SELECT document, version, "offset", path, fragment FROM read_parquet({files!r})').fetchall()

    expected = [
        tuple(row[name] for name in ("document", "version", "offset", "path", "fragment"))
        for row in selected(source, "/s/a").to_pylist()
    ]
    assert rows == expected


def test_duckdb_reads_what_is_current_after_a_refresh(tmp_path: Path) -> None:
    items = [f"<a>{number}{'text ' * 100}</a>" for number in range(200)]
    source, store = HeldSource({"d": f"<s>{''.join(items)}</s>".encode()}), Store(tmp_path)
    fill(store, [source], views_of({"a": "/s/a"}))
    items[3:6] = ["<a>new</a>"]
    source.documents["d"] = f"<s>{''.join(items)}</s>".encode()
    refresh(store, source, 2.0)
    manifest = store.manifest()
    files = [str(tmp_path / "files" / file.name) for part in manifest.parts for file in part.files or ()]
    regions = str(tmp_path / "files" / manifest.sources[0].regions.name)

    rows = duckdb.execute(
        f"""SELECT p.version, r."offset" + p."offset" - p.written AS place, r.fragment
        FROM read_parquet({files!r}) r JOIN read_parquet('{regions}') p ON r.region = p.region ORDER BY place"""
    ).fetchall()

    expected = selected(source, "/s/a").select(["version", "offset", "fragment"]).to_pylist()
    assert len(files) == 2
    assert rows == [tuple(row.values()) for row in expected]


def test_a_damaged_file_is_told_and_the_others_are_read(tmp_path: Path) -> None:
    large = b"<s>" + b"".join(b"<a>%d</a>" % at for at in range(2_000)) + b"<b/></s>"
    source, store = HeldSource({"d": large}), Store(tmp_path)
    manifest = fill(store, [source], views_of({"a": "/s/a", "b": "/s/b"}))
    file = tmp_path / "files" / (manifest.required("a", "s")[0].files or ())[0].name
    content = file.read_bytes()

    for damaged in (content[:-10], content[:100] + b"?" + content[101:], b"", None):
        file.unlink() if damaged is None else file.write_bytes(damaged)

        with pytest.raises(ConfigurationError, match=f"{file.name}: .*; materialize the views that need it again"):
            stored(store, "a")
        assert [file.name in problem for problem in store.check()] == [True]
        assert stored(store, "b").equals(selected(source, "/s/b"))

    fill(store, [source], views_of({"a": "/s/a", "b": "/s/b"}))
    assert store.check() == []


def test_a_damaged_manifest_is_told_and_can_be_replaced(tmp_path: Path) -> None:
    source, store = HeldSource({"d": document(1)}), Store(tmp_path)
    fill(store, [source], views_of({"a": "/s/a"}))
    fill(store, [source], views_of({"b": "/s/b"}))
    newest = max(tmp_path.glob("*.manifest"))
    newest.write_bytes(newest.read_bytes()[:-40])

    with pytest.raises(ConfigurationError, match=f"{newest.name}: damaged: .*; remove it: the version before"):
        store.manifest()

    fill(store, [source], views_of({"t": "//text()"}))
    assert store.check() == []
    assert stored(store, "t").num_rows == selected(source, "//text()").num_rows


def test_files_that_a_reader_holds_stay(tmp_path: Path) -> None:
    source, store = HeldSource({"d": document(0)}), Store(tmp_path)
    first = fill(store, [source], views_of({"a": "/s/a"}))
    expected = selected(source, "/s/a")
    with store.reading() as snapshot:
        for number in range(1, 5):
            source.documents["d"] = document(number)
            refresh(store, source, float(number))

        assert snapshot.rows([first.parts[0].id]).equals(expected)

    reweigh(store, {})
    kept = {file.name for file in (tmp_path / "files").iterdir()}
    assert kept == {file.name for file in store.manifest().files()}


def write_for_ever(folder: Path, first: int) -> None:
    """Refresh and materialize in turn."""
    source, store = HeldSource({}), Store(folder)
    for number in range(first, first + 10_000):
        source.documents = {"d": document(number, number % 7), "e": document(number)}
        if number % 3:
            refresh(store, source, float(number))
        else:
            fill(store, [source], views_of(QUERIES), float(number))


@pytest.mark.slow
def test_a_writer_that_is_killed_leaves_a_version_that_is_whole(tmp_path: Path) -> None:
    source, store = HeldSource({"d": document(0), "e": document(0)}), Store(tmp_path)
    fill(store, [source], views_of(QUERIES))
    chance, seen = random.Random(7), set()
    for kill in range(20):
        before = store.manifest().number
        writer = start(write_for_ever, tmp_path, 1 + 100 * kill)
        while kill % 4 == 0 and store.manifest().number == before:  # on a busy machine it may not come so far
            time.sleep(0.01)
        time.sleep(chance.uniform(0.01, 0.3))
        writer.kill()
        assert end_of(writer) == -signal.SIGKILL, "it writes for ever"

        assert store.check() == []
        number = int(stored(store, "x")["value"][0].as_py())
        seen.add(number)
        source.documents = {"d": document(number, number % 7), "e": document(number)}
        for name, query in QUERIES.items():
            assert stored(store, name).equals(selected(source, query))

    assert len(seen) > 3
    fill(store, [source], views_of(QUERIES))
    before_last, last = sorted(tmp_path.glob("*.manifest"))[-2:]
    assert sorted(tmp_path.iterdir()) == [before_last, last, tmp_path / "files", tmp_path / "lock"]
    reweigh(store, {})
    assert {file.name for file in (tmp_path / "files").iterdir()} == {file.name for file in store.manifest().files()}


def hold(folder: Path, seconds: float) -> None:
    with Store(folder).writing():
        (folder / "held").touch()
        time.sleep(seconds)


@pytest.mark.parametrize("seconds", [0.3, 30.0])
def test_of_two_writers_one_waits_or_is_refused(tmp_path: Path, seconds: float) -> None:
    source, store = HeldSource({"d": document(1)}), Store(tmp_path)
    fill(store, [source], views_of(QUERIES))
    other = start(hold, tmp_path, seconds)
    while not (tmp_path / "held").exists():
        time.sleep(0.01)

    if seconds < 1:
        reweigh(store, {"a": 3.0})
        assert store.manifest().view_of["a"].frequency == 3.0
    else:
        with (
            pytest.raises(StoreBusyError, match=f"found that process {other.pid} on .* is writing"),
            store.writing(0.1),
        ):
            pass
        assert stored(store, "a").num_rows == 100  # readers do not wait
        other.kill()
    other.join()
    reweigh(store, {"a": 4.0})


def count_up(folder: Path, name: str) -> None:
    store = Store(folder)
    for _ in range(20):
        with store.writing(60.0):
            reweigh(store, {name: store.manifest().view_of[name].frequency + 1})


def test_two_processes_lose_nothing_of_each_other(tmp_path: Path) -> None:
    store = Store(tmp_path)
    fill(store, [HeldSource({"d": document(1)})], views_of(QUERIES))
    processes = [start(count_up, tmp_path, name) for name in ("a", "b", "a")]
    assert [end_of(process) for process in processes] == [0, 0, 0]

    assert {view.name: view.frequency for view in store.manifest().views} == {"a": 41.0, "b": 21.0, "x": 1.0, "t": 1.0}
