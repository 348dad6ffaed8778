"""Generated documents, views and queries: what a rewriting makes of the views' rows is the source's own answer."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from profiles import examples
from strategies import (
    TAGS,
    Vocabulary,
    absolute_paths,
    documents,
    namespaced_documents,
    plain,
    selections,
    written_selection,
)
from weft.documents.document import Document
from weft.languages.xpath import parse
from weft.plans.plan import Selection
from weft.views.answering import StoredView, apply, find_rewriting
from weft.views.nodes import select

FEW = Vocabulary(plain("a", "a", "*", "b", "*[not(self::a)]"), plain("@x", "@*"), plain("self::a", "not(self::b)"))
FEW_TAGS = [tag for tag in TAGS if tag.name in ("a", "b")]
NAMESPACES = {"p": "urn:p", "q": "urn:q"}
_STEPS = ("a", "b", "*", "*[not(self::a)]", "*[not(self::b)]", "a[b]", "b[not(a)]", "*[@x = 1]", "a[2]", "*[b][.//a]")
_ENDS = ("", "", "/@x", "//@x", "/text()", "//b", "[b]", "[.//a]", "[2]", "[. = 1]", "[not(b)]", "/a[b = 1]/b")


@st.composite
def related(draw: DrawFn, steps: tuple[str, ...] = _STEPS) -> tuple[list[str], str]:
    """Views and a query that have steps in common."""
    shared = [draw(st.sampled_from(("/", "//"))) + draw(st.sampled_from(steps)) for _ in range(3)]
    views = []
    for _ in range(draw(st.integers(1, 4))):
        chosen = list(shared[: draw(st.integers(1, 3))])
        if draw(st.booleans()):
            at = draw(st.integers(0, len(chosen) - 1))
            chosen[at] = draw(st.sampled_from(("/", "//"))) + draw(st.sampled_from(steps))
        views.append("".join(chosen))
    query = "".join(shared[: draw(st.integers(1, 3))]) + draw(st.sampled_from(_ENDS))
    if draw(st.integers(0, 4)) == 0:
        query += draw(st.sampled_from((" | ", " except ", " intersect "))) + draw(st.sampled_from(views))
    return views, query


def check(sources: list[bytes], views: list[Selection], query: Selection) -> str | None:
    """What the views answer is right; what comes back is how they did."""
    stored = [StoredView(str(at), view) for at, view in enumerate(views)]
    rewriting = find_rewriting(query, stored)
    if rewriting is None:
        return None
    given_ = [Document(source, id=str(at)) for at, source in enumerate(sources)]
    rows = dict(zip((view.name for view in stored), select("s", given_, views).rows, strict=True))
    answer = apply(rewriting, {name: rows[name] for name in rewriting.views})
    expected = select("s", given_, [query]).rows[0]
    in_order = answer.sort_by([("document", "ascending"), ("offset", "ascending")])
    assert in_order.to_pylist() == expected.to_pylist(), rewriting.show()
    return rewriting.show()


batches = st.lists(documents(FEW_TAGS, size=25), min_size=1, max_size=3)


def test_related_queries_are_answered_as_at_the_source() -> None:
    found: list[str | None] = []

    @given(batches, related())
    @examples(300, database=None)
    def run(sources: list[bytes], asked: tuple[list[str], str]) -> None:
        found.append(check(sources, [parse(view) for view in asked[0]], parse(asked[1])))

    run()
    told = [each for each in found if each is not None]
    assert len(told) > len(found) // 4
    assert sum("compensation" in each for each in told) > len(told) // 8


@given(batches, st.lists(selections(FEW), min_size=1, max_size=4), absolute_paths(FEW))
@examples(100)
def test_any_queries_are_answered_as_at_the_source(sources: list[bytes], views: list[object], query: object) -> None:
    plans = [parse(written_selection(view)) for view in views]  # type: ignore[arg-type]

    check(sources, plans, parse(written_selection(query)))  # type: ignore[arg-type]


_PREFIXED = ("a", "p:a", "q:*", "*", "*:a", "*[not(self::p:a)]")


@given(st.lists(namespaced_documents(), min_size=1, max_size=2), related(_PREFIXED))
@examples(150)
def test_offsets_and_fragments_are_right_with_namespaces(sources: list[bytes], asked: tuple[list[str], str]) -> None:
    views = [parse(view, NAMESPACES) for view in asked[0]]

    check(sources, views, parse(asked[1], NAMESPACES))
