"""Nested nodes that are taken from what they lie in are, byte for byte, what the source gives."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from profiles import examples
from weft.documents.document import Document
from weft.languages.xpath import parse
from weft.views.nodes import select
from weft.views.parts import classify
from weft.views.store.extraction import extract

QUERIES = ("/*/*", "//*[@x]", "//@*", "//text()", "//*[not(*)]", "//*")
DECLARED = (
    "",
    ' xmlns:p="u"',
    ' xmlns:p="v&amp;w"',
    ' xmlns="d"',
    ' xmlns=""',
    ' xmlns:q="u"',
    ' xmlns:q="v" xmlns:p="z"',
)
TEXTS = ("t\r\n", "&lt;&#13;", "<![CDATA[<p:a>]]>", "<!-- xmlns -->", "<?p xmlns?>", "é𝄞", " ")
ATTRIBUTES = ("", ' x="1"', " p:x = '&quot;é&#10;'", ' x=">" q:x="\t"', ' xml:lang="en"')


@st.composite
def trees(draw: st.DrawFn, depth: int = 3) -> str:
    name = draw(st.sampled_from(("a", "p:a", "q:b", "é")))
    tag = name + draw(st.sampled_from(DECLARED)) + draw(st.sampled_from(ATTRIBUTES))
    inside = draw(st.lists(trees(depth - 1) | st.sampled_from(TEXTS), max_size=3)) if depth else []
    return f"<{tag}>{''.join(inside)}</{name}>" if inside or name == "a" else f"<{tag} />"


@given(
    st.lists(trees(), max_size=4).map(lambda parts: f'<s xmlns:p="r" xmlns:q="r2" xmlns="e">{"".join(parts)}</s>'),
    st.lists(st.sampled_from(QUERIES), unique=True, min_size=1),
)
@examples(200)
def test_extracted_nodes_are_what_the_source_gives(data: str, queries: list[str]) -> None:
    rows = select("s", [Document(data, id="d")], [parse(query) for query in queries]).rows
    classes = classify("s", dict(zip(queries, rows, strict=True)))

    for places in classes.homes().values():
        part = classes.rows(places)
        for query, expected in zip(queries, rows, strict=True):
            has_view = [query in views for views in part["views"].to_pylist()]
            found = extract(part, np.array(has_view, bool)).to_pylist()
            offsets = {row["offset"] for row in part.to_pylist()}
            assert found == [row for row in expected.to_pylist() if row["offset"] in offsets]
