"""Refreshing parts gives what materializing anew gives, whatever has changed, and reads only what has."""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from held_source import HeldSource, fill, selected, stored, views_of
from profiles import examples
from weft.errors import ConfigurationError
from weft.views.parts import classify
from weft.views.store import cutting
from weft.views.store.dropping import drop_view
from weft.views.store.refresh import refresh
from weft.views.store.store import Store

LOCAL = {"a": "/s/a", "b": "//b", "ab": "//a[b]", "x": "//b/@x", "t": "/s/a/text()", "n": "//p:n", "first": "//a/b[1]"}
NOT_LOCAL = {"second": "/s/b[2]", "root": "/s[b]/a", "all": "//*"}
NAMESPACES = {"p": "urn:p"}
BETWEEN = ("", "\r\n", "text", "<!-- <b> -->", "<?pi <a> ?>", "<![CDATA[<a>]]>", " &amp; ")
ROOTS = ('<s xmlns:p="urn:p">', '<s xmlns:p="urn:p" v="1">', '<s xmlns:p="urn:q" xmlns:q="urn:p">')


@st.composite
def children(draw: st.DrawFn, depth: int = 2) -> str:
    name = draw(st.sampled_from(("a", "b", "p:n")))
    attribute = draw(st.sampled_from(("", ' x="1"', ' x="&lt;>"', ' xmlns:p="urn:p"', ' xmlns="urn:d"')))
    inside = draw(st.lists(children(depth - 1) | st.sampled_from(BETWEEN), max_size=3)) if depth else []
    return f"<{name}{attribute}>{''.join(inside)}</{name}>"


def document(root: str, parts: list[str]) -> bytes:
    return (root + "".join(parts) + "</s>\n").encode()


parts = st.lists(st.tuples(children(), st.sampled_from(BETWEEN)).map("".join), max_size=12)


@st.composite
def edited(draw: st.DrawFn, before: list[str]) -> list[str]:
    """Children put in, taken out, changed, moved; now and then broken."""
    after = list(before)
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, max(len(after) - 1, 0)))
        match draw(st.sampled_from(("insert", "delete", "change", "move", "twice", "break"))):
            case "insert":
                after.insert(at, draw(children()))
            case "delete":
                del after[at : at + 1]
            case "change":
                after[at : at + 1] = [draw(children())]
            case "move":
                after[at:] = [*after[at + 1 :], *after[at : at + 1]]
            case "twice":
                after += after[at : at + 2]
            case "break":
                broken = (
                    "<a>",
                    "</b>",
                    "<a></b>",
                    "<a x=",
                    "<!--",
                    '<a x="/>" ',
                    "<b/></s><s>",
                    "&no;",
                    "<?p",
                    "]]>",
                    "<b x='<a/>'/>",
                )
                after.insert(at, draw(st.sampled_from(broken)))
    return after


@st.composite
def versions(draw: st.DrawFn) -> list[dict[str, bytes]]:
    """A source as it is at several times."""
    roots, contents = draw(st.tuples(*[st.sampled_from(ROOTS)] * 3)), [draw(parts) for _ in range(3)]
    found = []
    for _ in range(3):
        ids = draw(st.permutations(range(3)))[: draw(st.integers(1, 3))]
        found.append({f"d{at}": document(roots[at], contents[at]) for at in ids})
        contents = [draw(edited(each)) for each in contents]
        if draw(st.integers(0, 5)) == 0:
            roots = draw(st.tuples(*[st.sampled_from(ROOTS)] * 3))
    return found


def check(store: Store, source: HeldSource, queries: dict[str, str]) -> None:
    """The store has what the source has, in the parts in which it would be materialized."""
    manifest = store.manifest()
    rows = {name: selected(source, text, NAMESPACES) for name, text in queries.items()}
    for name, expected in rows.items():
        assert manifest.is_stored(name, "s")
        assert stored(store, name).to_pylist() == expected.to_pylist(), name
    classes = classify("s", rows, source.documents)
    expected_parts = {tuple(sorted(home)): len(at) for home, at in classes.homes().items()}
    assert {part.signature: part.rows for part in manifest.parts} == expected_parts
    assert store.check() == []


@pytest.mark.slow
@pytest.mark.parametrize("queries", [LOCAL, LOCAL | NOT_LOCAL], ids=["local", "not local"])
@given(versions())
@examples(30)
def test_refreshing_is_materializing_anew(queries: dict[str, str], times: list[dict[str, bytes]]) -> None:
    with TemporaryDirectory() as folder, patch.multiple(cutting, USUAL=30, _WHOLE=0), patch("os.fsync"):
        source, store = HeldSource(times[0]), Store(Path(folder))
        fill(store, [source], views_of(queries, NAMESPACES))
        check(store, source, queries)
        for now, source.documents in enumerate(times[1:]):
            found = refresh(store, source, float(now))

            check(store, source, queries)
            assert [str(error) for error in found.rejected] == source.rejected()


def test_only_what_has_changed_is_read(tmp_path: Path) -> None:
    items = [f"<a><b>{number}</b>{'text ' * 100}</a>" for number in range(1_000)]
    source, store = HeldSource({"d": document("<s>", items)}), Store(tmp_path)
    fill(store, [source], views_of(LOCAL, NAMESPACES))
    items[500] = "<a><b>new</b></a>"
    del items[200]
    items.insert(800, "<b/>")
    source.documents["d"] = document("<s>", items)

    found = refresh(store, source, 2.0)

    assert 500 < found.bytes_read < 10_000
    check(store, source, LOCAL)


def test_a_source_that_has_not_changed_is_not_read(tmp_path: Path) -> None:
    source, store = HeldSource({"d": b"<s><a/></s>"}), Store(tmp_path)
    before = fill(store, [source], views_of(LOCAL, NAMESPACES))

    found = refresh(store, source, 2.0)

    assert found.bytes_read == 0
    assert store.manifest() == before


def test_only_changed_documents_of_many_are_read(tmp_path: Path) -> None:
    source, store = HeldSource({f"d{at}": b"<s><a>%d</a></s>" % at for at in range(50)}), Store(tmp_path)
    fill(store, [source], views_of(LOCAL, NAMESPACES))
    source.documents["d7"] = b"<s><a>new</a></s>"
    del source.documents["d9"]

    found = refresh(store, source, 2.0)

    assert (found.changed, found.vanished, found.bytes_read) == (("d7",), ("d9",), 17)
    check(store, source, LOCAL)


def test_what_is_no_longer_current_is_cleared_away_when_it_is_much(tmp_path: Path) -> None:
    items = [f"<a>{number}{'text ' * 50}</a>" for number in range(200)]
    source, store = HeldSource({"d": document("<s>", items)}), Store(tmp_path)
    size = fill(store, [source], views_of({"a": "/s/a"})).size
    with patch("os.fsync"):
        for now in range(0, 200, 5):
            items[now : now + 5] = [f"<a>new {at}{'text ' * 50}</a>" for at in range(now, now + 5)]
            source.documents["d"] = document("<s>", items)
            refresh(store, source, float(now))

    check(store, source, {"a": "/s/a"})
    part = store.manifest().parts[0]
    assert sum(file.rows for file in part.files or ()) <= 200 / 0.75
    assert store.manifest().size < 20 * size


def test_a_root_that_has_changed_changes_what_all_its_children_are(tmp_path: Path) -> None:
    items = [f"<p:n>{number}</p:n>" for number in range(1_000)]
    source, store = HeldSource({"d": document(ROOTS[0], items)}), Store(tmp_path)
    fill(store, [source], views_of({"n": "//p:n"}, NAMESPACES))
    source.documents["d"] = document(ROOTS[2], items)

    refresh(store, source, 2.0)

    assert stored(store, "n").num_rows == 0
    check(store, source, {"n": "//p:n"})


def test_a_part_that_comes_up_is_stored_for_a_view_that_was(tmp_path: Path) -> None:
    source, store = HeldSource({"d": b"<s><a/><b/></s>"}), Store(tmp_path)
    fill(store, [source], views_of({"a": "/s/a", "x": "/s/*[@x]"}))
    source.documents["d"] = b'<s><a x="1"/><b/></s>'

    refresh(store, source, 2.0)

    assert {part.signature for part in store.manifest().parts} == {("a", "x")}
    check(store, source, {"a": "/s/a", "x": "/s/*[@x]"})


def test_a_view_that_is_not_stored_stays_so_and_requires_what_comes_up(tmp_path: Path) -> None:
    source, store = HeldSource({"d": b"<s><a/><b/></s>"}), Store(tmp_path)
    fill(store, [source], views_of({"a": "/s/a", "b": "/s/b"}))
    drop_view(store, "b", 2.0)
    source.documents["d"] = b"<s><a/><b/><a><b/></a><b>new</b></s>"

    refresh(store, source, 3.0)

    manifest = store.manifest()
    assert not manifest.is_stored("b", "s")
    assert stored(store, "a").equals(selected(source, "/s/a"))


def test_a_source_that_is_not_stored_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="expected a source whose parts are stored, found s"):
        refresh(Store(tmp_path), HeldSource({}), 1.0)


def test_a_rejected_document_loses_its_rows_and_is_told_with_its_place(tmp_path: Path) -> None:
    items = ["<a/>\n"] * 2_000
    source, store = HeldSource({"d": document("<s>\n", items)}), Store(tmp_path)
    fill(store, [source], views_of({"a": "/s/a"}))
    items[700] = "<a></b>\n"
    source.documents["d"] = document("<s>\n", items)

    found = refresh(store, source, 2.0)

    assert re.match(r"d:702:6: mismatched tag", str(found.rejected[0]))
    assert stored(store, "a").num_rows == 0
    assert [str(error) for error in refresh(store, source, 3.0).rejected] == [str(found.rejected[0])]
    source.documents["d"] = document("<s>\n", ["<a/>\n"])
    assert refresh(store, source, 4.0).rejected == ()
    assert stored(store, "a").num_rows == 1
