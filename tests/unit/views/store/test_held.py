"""What is held in memory stays within its bytes, and what was used least recently goes first."""

from __future__ import annotations

from pathlib import Path

from held_source import HeldSource, fill, selected, stored, views_of
from weft.views.store.held import FileMemory
from weft.views.store.refresh import refresh
from weft.views.store.store import Store


def test_what_was_used_least_recently_goes_first() -> None:
    held, made = FileMemory(most=10), []

    def get(key: str, size: int = 4) -> str:
        def make() -> str:
            made.append(key)
            return key.upper()

        return held.get(key, make, lambda _: size)

    assert [get("a"), get("b"), get("a"), get("c"), get("a"), get("b")] == ["A", "B", "A", "C", "A", "B"]
    assert made == ["a", "b", "c", "b"]


def test_what_is_larger_than_all_there_is_is_not_held() -> None:
    held = FileMemory(most=10)
    held.put("small", 1, 10)
    held.put("large", 2, 11)

    assert held.get("small", lambda: 0, lambda _: 1) == 1
    assert held.get("large", lambda: 3, lambda _: 11) == 3


def test_an_entry_is_held_once() -> None:
    held = FileMemory(most=10)
    for _ in range(5):
        held.put("a", 1, 6)

    held.put("b", 2, 4)

    assert held.get("a", lambda: 0, lambda _: 1) == 1


def test_rows_that_are_held_are_those_of_the_version_that_is_read(tmp_path: Path) -> None:
    source, store = HeldSource({"d": b"<s><a>1</a></s>"}), Store(tmp_path)
    fill(store, [source], views_of({"a": "/s/a"}))
    before = stored(store, "a")
    with store.reading() as old:
        source.documents = {"d": b"<s><a>2</a><a>3</a></s>"}
        refresh(store, source, 2.0)

        assert stored(store, "a").equals(selected(source, "/s/a"))
        assert old.rows(old.manifest.view_of["a"].requires, "a").equals(before)


def test_a_store_that_holds_nothing_answers_the_same(tmp_path: Path) -> None:
    source, store = HeldSource({"d": b"<s><a>1</a></s>"}), Store(tmp_path, held_bytes=0)
    fill(store, [source], views_of({"a": "/s/a"}))

    assert [stored(store, "a").equals(selected(source, "/s/a")) for _ in range(2)] == [True, True]
