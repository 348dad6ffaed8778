"""However often a source is refreshed, its parts have few files and few old rows, and the rows that they should."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import pytest

from held_source import HeldSource, fill, selected, stored, views_of
from weft.views.store import compaction
from weft.views.store.compaction import compact, join_changes
from weft.views.store.refresh import refresh
from weft.views.store.store import Store

QUERIES = {"a": "/s/a", "b": "/s/a/b", "x": "//a[@x = '1']", "c": "/s/c"}


def document(numbers: list[int]) -> bytes:
    """Large enough to have regions; a number for each record."""
    items = "".join(f'<a x="{n % 3}"><b>{n}</b>{f"text{n} " * 20}</a>' + "<c/>" * (n % 5 == 0) for n in numbers)
    return f"<s>{items}</s>".encode()


def check(store: Store, source: HeldSource) -> None:
    for view, query in QUERIES.items():
        assert stored(Store(store.folder), view).equals(selected(source, query)), view
    assert store.check() == []


def changes_of(store: Store) -> set[str]:
    parts = store.manifest().parts
    return {file.name for part in parts for file in part.files or () if file.group is not None}


@pytest.mark.slow
def test_many_small_refreshes_leave_few_files(tmp_path: Path) -> None:
    numbers = list(range(400))
    source, store = HeldSource({"d": document(numbers)}), Store(tmp_path)
    fill(store, [source], views_of(QUERIES))
    most = 0
    with patch("os.fsync"):
        for at in range(40):
            numbers[at * 7 % 400] += 1000
            source.documents = {"d": document(numbers)}
            refresh(store, source, float(at))
            most = max(most, len(changes_of(store)))

    assert 2 <= most <= compaction._MOST_CHANGES
    check(store, source)


@pytest.mark.parametrize("join", [join_changes, compact])
def test_putting_files_together_changes_no_row(tmp_path: Path, join: object) -> None:
    numbers = list(range(400))
    source, store = HeldSource({"d": document(numbers)}), Store(tmp_path)
    fill(store, [source], views_of(QUERIES))
    for at in range(5):
        numbers.insert(at * 50, 5000 + at)
        del numbers[at * 30 + 7]
        source.documents = {"d": document(numbers)}
        refresh(store, source, float(at))
    assert len(changes_of(store)) == 5
    rows = {part.id: part.rows for part in store.manifest().parts}

    assert callable(join)
    join(store, "s", 9.0)

    assert len(changes_of(store)) <= 1
    assert {part.id: part.rows for part in store.manifest().parts} == rows
    check(store, source)


def test_old_rows_are_let_go(tmp_path: Path) -> None:
    numbers = list(range(400))
    source, store = HeldSource({"d": document(numbers)}), Store(tmp_path)
    fill(store, [source], views_of(QUERIES))
    written = []
    for at in range(6):
        numbers[at * 40 : at * 40 + 40] = [each + 1000 for each in numbers[at * 40 : at * 40 + 40]]
        source.documents = {"d": document(numbers)}
        refresh(store, source, float(at))
        parts = store.manifest().parts
        written.append(sum(file.part_rows for part in parts for file in part.files or ()) / sum(p.rows for p in parts))

    assert max(written) <= 1 / (1 - compaction._MOST_DEAD) + 0.01
    check(store, source)
