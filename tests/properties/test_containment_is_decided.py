"""On names, `/`, `//`, `*`, `[p]`, `[not(p)]` and what combines them containment is decided: every no has a document.

What is said to hold is tried on small documents; what is said not to hold on the document that is
given. lxml answers both.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from random import Random

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from oracle import Oracle
from profiles import examples
from strategies import Combined, Query, Selection, written_selection
from weft.languages.xpath import parse
from weft.plans.containment import apart, contains, decide
from weft.plans.plan import Combine

_LABELS = ("a", "b", "*", "*", "*[not(self::a)]", "*[not(self::a or self::b)]")


@st.composite
def paths(draw: DrawFn, with_not: bool, steps: int = 3, depth: int = 2) -> str:
    """Relative paths of the paper's language."""
    written = []
    for at in range(draw(st.integers(1, steps))):
        step = draw(st.sampled_from(_LABELS))
        for _ in range(draw(st.sampled_from((0, 0, 1, 1, 2))) if depth else 0):
            inner = draw(st.sampled_from(("", "", ".//"))) + draw(paths(with_not, 2, depth - 1))
            step += f"[not({inner})]" if with_not and draw(st.booleans()) else f"[{inner}]"
        written.append(step if not at else draw(st.sampled_from(("/", "/", "//"))) + step)
    return "".join(written)


@st.composite
def queries(draw: DrawFn, with_not: bool, depth: int = 2) -> Query:
    """Queries of the paper's language without union and difference."""
    text = draw(st.sampled_from(("/", "//"))) + draw(paths(with_not, depth=depth))
    return Query(text, text)


def combined(with_not: bool) -> st.SearchStrategy[Selection]:
    """Unions, intersections and differences."""
    operators = st.sampled_from(("|", "intersect", "except"))
    few = queries(with_not, depth=1)
    return st.recursive(few, lambda inner: st.builds(Combined, operators, inner, inner), max_leaves=3)


@cache
def small_documents() -> list[Oracle]:
    """Some of the documents of up to four elements, each named a, b or c."""
    written = [
        _written(parents, names)
        for size in range(1, 5)
        for parents in product(*(range(at) for at in range(1, size)))
        for names in product("abc", repeat=size)
    ]
    return [Oracle(each) for each in Random(5).sample(written, 40)]


def _written(parents: tuple[int, ...], names: tuple[str, ...]) -> str:
    children: list[list[int]] = [[] for _ in names]
    for child, parent in enumerate(parents, start=1):
        children[parent].append(child)

    def write(at: int) -> str:
        return f"<{names[at]}>{''.join(map(write, children[at]))}</{names[at]}>"

    return write(0)


def lxml_nodes(selection: Selection, oracle: Oracle) -> set[int]:
    """What lxml selects."""
    if isinstance(selection, Query):
        return set(oracle.nodes(selection.lxml))
    left, right = lxml_nodes(selection.left, oracle), lxml_nodes(selection.right, oracle)
    return {"intersect": left & right, "except": left - right}.get(selection.operator, left | right)


def check(wide: Selection, narrow: Selection, by_result: bool = True) -> bool | None:
    """What is decided is right; what comes back is what was."""
    verdict = decide(parse(written_selection(wide)), parse(written_selection(narrow)), by_result)
    if verdict.holds:
        for oracle in small_documents():
            less = lxml_nodes(narrow, oracle)
            assert not less or (less <= lxml_nodes(wide, oracle) if by_result else lxml_nodes(wide, oracle))
    elif verdict.holds is False:
        assert verdict.document is not None
        oracle = Oracle(verdict.document)
        less, more = lxml_nodes(narrow, oracle), lxml_nodes(wide, oracle)
        assert (less - more) if by_result else (less and not more)
    return verdict.holds


def counted(narrow: st.SearchStrategy[Selection], wide: st.SearchStrategy[Selection], number: int) -> dict[str, int]:
    """How often containment held, did not, and was not known."""
    found = {"True": 0, "False": 0, "None": 0}

    @given(wide, narrow)
    @examples(number, database=None)
    def count(wide: Selection, narrow: Selection) -> None:
        found[str(check(wide, narrow))] += 1
        check(wide, narrow, by_result=False)

    count()
    return found


def test_positive_patterns_are_always_decided() -> None:
    found = counted(queries(with_not=False), queries(with_not=False), 250)

    assert found["None"] == 0
    assert found["True"] > sum(found.values()) // 25
    assert found["False"] > sum(found.values()) // 25


def test_patterns_with_not_are_mostly_decided() -> None:
    """Small ones always are (see tests/unit/plans/containment/test_canonical_models.py)."""
    found = counted(queries(with_not=True), queries(with_not=True), 120)

    assert found["None"] <= sum(found.values()) // 8
    assert found["True"] > sum(found.values()) // 40


def test_combinations_are_mostly_decided() -> None:
    found = counted(combined(with_not=False), combined(with_not=False), 120)

    assert found["None"] <= sum(found.values()) // 4
    assert found["True"] > sum(found.values()) // 40


@given(queries(with_not=False), queries(with_not=False))
@examples(100)
def test_what_is_apart_has_no_node_in_common_and_else_there_is_a_document_with_one(one: Query, other: Query) -> None:
    plans = parse(one.weft), parse(other.weft)
    nothing = parse("/*[false()]")

    assert apart(*plans) == contains(nothing, Combine("intersect", plans)) == apart(*plans[::-1])
    if apart(*plans):
        assert not any(lxml_nodes(one, each) & lxml_nodes(other, each) for each in small_documents())
    else:
        found = decide(nothing, Combine("intersect", plans))
        assert found.document is None or lxml_nodes(one, Oracle(found.document)) & lxml_nodes(
            other, Oracle(found.document)
        )
