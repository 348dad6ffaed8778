"""Classes of nodes by the queries that they answer: compared with what nested loops over the definition find."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import examples
from weft.documents.document import Document
from weft.languages.xpath import parse
from weft.views.nodes import select
from weft.views.parts import PART_SCHEMA, MixedVersionsError, classify, part_id

QUERIES = ("//a", "//b", "/s/a", "//a[b]", "//b/@x", "//a/text()", "//c", "/s/*", "/s")


def rows_of(queries: list[str], *documents: str) -> dict[str, pa.Table]:
    given = [Document(data, id=f"d{at}") for at, data in enumerate(documents)]
    return dict(zip(queries, select("s", given, [parse(query) for query in queries]).rows, strict=True))


@st.composite
def trees(draw: st.DrawFn, depth: int = 3) -> str:
    name = draw(st.sampled_from("abc"))
    attribute = draw(st.sampled_from(("", ' x="1"')))
    inside = draw(st.lists(trees(depth - 1) | st.just("t"), max_size=3)) if depth else []
    return f"<{name}{attribute}>{''.join(inside)}</{name}>"


@given(
    st.lists(st.lists(trees(), max_size=4), max_size=3),
    st.lists(st.sampled_from(QUERIES), unique=True),
    st.permutations(("d0", "d1", "d2")),
)
@examples(150)
def test_classes_are_what_nested_loops_find(contents: list[list[str]], queries: list[str], order: list[str]) -> None:
    rows = rows_of(queries, *(f"<s>{''.join(content)}</s>" for content in contents))
    views: dict[tuple[str, int], set[str]] = {}
    lengths: dict[tuple[str, int], int] = {}
    for query, table in rows.items():
        for row in table.to_pylist():
            views.setdefault((row["document"], row["offset"]), set()).add(query)
            lengths[row["document"], row["offset"]] = row["length"]

    def topmost(document: str, offset: int) -> int:
        return min(
            at
            for (other, at), length in lengths.items()
            if other == document and (at == offset or at <= offset < at + length)
        )

    classes = classify("s", rows, order)
    found: dict[tuple[str, int], tuple[set[str], int | None, frozenset[str]]] = {}
    for signature, places in classes.homes().items():
        part = classes.rows(places)
        assert part.schema == PART_SCHEMA
        keys = [(order.index(row["document"]), row["offset"]) for row in part.to_pylist()]
        assert keys == sorted(keys)
        for row in part.to_pylist():
            assert (row["fragment"] is None) == (row["inside"] is not None)
            found[row["document"], row["offset"]] = set(row["views"]), row["inside"], signature

    assert found == {
        (document, offset): (
            names,
            None if (top := topmost(document, offset)) == offset else top,
            frozenset(views[document, top]),
        )
        for (document, offset), names in views.items()
    }
    for query in queries:
        homes = {found[key][2] for key, names in views.items() if query in names}
        assert classes.required(query) == homes


def test_answers_about_two_versions_of_a_document_are_refused() -> None:
    rows = {"q": rows_of(["//a"], "<s><a/></s>")["//a"], "r": rows_of(["//b"], "<s><b/><b/></s>")["//b"]}

    with pytest.raises(MixedVersionsError, match="s: expected answers from one version of d0, found several"):
        classify("s", rows)


def test_ids_tell_signatures_apart() -> None:
    ids = {part_id("s", names) for names in (["a", "b"], ["ab"], ["a"], ["b"], [])} | {part_id("sa", ["b"])}

    assert len(ids) == 6
    assert part_id("s", ["a", "b"]) == part_id("s", {"b", "a"})
