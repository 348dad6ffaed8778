"""Generated pairs of queries: what containment says is so in every generated document, as lxml answers them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from oracle import Oracle
from profiles import examples
from strategies import (
    COMPARISONS,
    TAGS,
    Combined,
    Query,
    Selection,
    Vocabulary,
    absolute_paths,
    both,
    documents,
    plain,
    selections,
    written_document,
    written_selection,
)
from weft.documents.kind import Kind
from weft.languages.xpath import parse
from weft.plans import plan
from weft.plans.containment import contains, covers
from weft.plans.plan import Pattern, Rank, Step, conjunction
from weft.plans.walk import walk

#: Few names and few values, so that two queries often have to do with each other.
FEW = Vocabulary(plain("a", "a", "*", "b", "*[not(self::a)]"), plain("@x", "@*"), plain("self::a", "not(self::b)"))
FEW_TAGS = [tag for tag in TAGS if tag.name in ("a", "b")]


def lxml_nodes(selection: Selection, oracle: Oracle) -> set[int]:
    """A path as lxml answers it; what stands between paths as sets."""
    if isinstance(selection, Query):
        return set(oracle.nodes(selection.lxml))
    left, right = lxml_nodes(selection.left, oracle), lxml_nodes(selection.right, oracle)
    return {"intersect": left & right, "except": left - right}.get(selection.operator, left | right)


@cache
def always_there() -> list[Oracle]:
    """Documents that every pair is tried on: small ones, in which names and values meet in many ways."""
    rng = Random(12)
    values = ["1", "2", "foo", "3.5", " 2 ", "f", "1"]
    found = []
    for _ in range(150):
        tokens = [
            rng.choice([rng.choice(FEW_TAGS), rng.choice(FEW_TAGS), rng.choice(values), None])
            for _ in range(rng.randrange(1, 25))
        ]
        found.append(Oracle(written_document(rng.choice(FEW_TAGS), tokens)))
    return found


def assert_right(wide: Selection, narrow: Selection, batch: list[bytes]) -> bool:
    """What is said about two selections holds in these documents; tells whether anything was said."""
    wide_plan, narrow_plan = parse(written_selection(wide)), parse(written_selection(narrow))
    is_covered, is_contained = covers(wide_plan, narrow_plan), contains(wide_plan, narrow_plan)
    if is_covered or is_contained:
        for oracle in (*map(Oracle, batch), *always_there()[:40]):
            less, more = lxml_nodes(narrow, oracle), lxml_nodes(wide, oracle)
            assert not is_contained or less <= more, (wide, narrow)
            assert not is_covered or more or not less, (wide, narrow)
    assert is_covered or not is_contained, "what contains covers"
    return is_covered


some_documents = st.lists(documents(FEW_TAGS, size=25), max_size=2)
few_paths = absolute_paths(FEW)


@given(few_paths, few_paths, some_documents)
@examples(400)
def test_of_two_paths_what_is_said_holds(one: Query, other: Query, batch: list[bytes]) -> None:
    assert_right(one, other, batch)
    assert_right(other, one, batch)


@given(selections(FEW), selections(FEW), some_documents)
@examples(200)
def test_of_two_combined_selections_what_is_said_holds(one: Selection, other: Selection, batch: list[bytes]) -> None:
    assert_right(one, other, batch)
    assert_right(other, one, batch)


# -- pairs that differ in one test


@cache
def _values() -> st.SearchStrategy[Query]:
    """Tests on the values of one path, with constants that lie close to each other."""
    numbers = st.builds(
        both,
        st.sampled_from(("{} {} {}", "not({} {} {})")),
        st.sampled_from((".", "@x", "b", "text()", ".//b")),
        st.sampled_from(COMPARISONS),
        st.sampled_from(("1", "2", "'1'", "'2'", "'foo'", "3.5", "' 2 '", "'f'", "''")),
    )
    texts = st.builds(
        both,
        st.sampled_from(("{}({}, {})", "not({}({}, {}))")),
        st.sampled_from(("contains", "starts-with")),
        st.sampled_from((".", "@x", "b", "text()")),
        st.sampled_from(("'f'", "'fo'", "'foo'", "'o'", "'1'", "'2'")),
    )
    counts = st.builds(
        both,
        st.just("count({}) {} {}"),
        st.sampled_from(("b", "*", ".//b", "b[@x]", "@*")),
        st.sampled_from(COMPARISONS),
        st.sampled_from("0123"),
    )
    places = st.builds(
        both, st.just("position() {} {}"), st.sampled_from(COMPARISONS), st.sampled_from(("1", "2", "last()"))
    )
    paths = plain("b", "*", ".//b", "b/b", "b[@x]", "*[b]", "not(b)", "not(*)", "not(.//b)", "not(b[@x])", "not(*[b])")
    return st.one_of(numbers, numbers, texts, counts, places, paths)


@st.composite
def conditions(draw: DrawFn) -> Query:
    """One to three tests, and what may stand between them."""
    parts = [draw(_values()) for _ in range(draw(st.integers(1, 3)))]
    word = draw(st.sampled_from((" and ", " or ", "][")))
    return both(word.join(["{}"] * len(parts)), *parts)


FRAMES = ("//a[{}]", "//*[{}]", "/a/b[{}]", "//a[b[{}]]", "//a[not(b[{}])]", "//b[{}]/@x")


@pytest.mark.slow
@given(st.sampled_from(FRAMES), st.sampled_from(FRAMES), conditions(), conditions(), some_documents)
@examples(1_200)
def test_of_two_tests_at_one_place_what_is_said_holds(
    frame: str, other_frame: str, one: Query, other: Query, batch: list[bytes]
) -> None:
    assert_right(both(frame, one), both(frame, other), batch)
    assert_right(both(frame, one), both(other_frame, other), batch)


def test_much_is_said_about_tests_at_one_place() -> None:
    """The property above would hold if nothing were ever said."""
    found = []

    @given(conditions(), conditions())
    @examples(600, database=None)
    def count(one: Query, other: Query) -> None:
        plans = [parse(both("//a[{}]", condition).weft) for condition in (one, other)]
        found.append(covers(*plans) and plans[0] != plans[1])

    count()
    assert sum(found) > len(found) // 40


# -- all pairs

FOR_ELEMENTS = (
    *("b", "*", ".//b", "b/b", "b[@x]", "not(b)", "not(*)", "not(.//b)", "b[not(b)]", "@x", "not(@x)", "b or @x"),
    *(". = 1", ". = '1'", ". != 1", "not(. = 1)", ". > 1", "not(. > 1)", "b = 1", "b != 1", "not(b = 1)", "b > 1"),
    *("contains(., 'f')", "contains(b, 'f')", "contains(.//b, 'f')", "starts-with(b, 'fo')", "not(contains(b, 'f'))"),
    *("text() = 'foo'", "b[1] = 1", "b[2]", "count(b) > 1", "count(*) > 1", "count(b) = 1", "count(*) < 2"),
    *("1", "2", "last()", "position() > 1", "not(position() = 1)", "position() = 2 or b", "not(position() = 2 and b)"),
    *("b][1", "b][2", "@x][1", "not(b)][2", "2][b", "self::a", "not(self::a)", "self::b or b"),
)
FOR_LEAVES = ("self::x", "not(self::x)", "self::*", "not(self::*)", ". = 1", "not(. > 1)", "starts-with(., 'f')")
PLACES = ("//a[{}]", "//*[{}]", "/a/b[{}]", "//b[{}]", "//a[b[{}]]", "//*[not(b[{}])]", "//*[not(self::a)][{}]")
ALL = [
    *(place.format(condition) for place in PLACES for condition in FOR_ELEMENTS),
    *(f"//{leaf}[{condition}]" for leaf in ("@x", "@*", "a/@x") for condition in FOR_LEAVES),
    *("//a", "//*", "//b", "/a/b", "/a//b", "/*/b", "//@x", "//@*", "//*/*/b", "/a/*//b", "//text()", "//a/text()"),
]


@pytest.mark.slow
def test_of_all_pairs_of_small_queries_what_is_said_holds() -> None:
    plans = [parse(query) for query in ALL]
    found = [[frozenset(oracle.nodes(query)) for oracle in always_there()] for query in ALL]
    said = 0

    for wide, more in zip(plans, found, strict=True):
        for narrow, less in zip(plans, found, strict=True):
            if covers(wide, narrow):
                said += 1
                assert all(there or not asked for there, asked in zip(more, less, strict=True)), (wide, narrow)
                assert not contains(wide, narrow) or all(map(frozenset.issubset, less, more)), (wide, narrow)

    assert said > len(ALL) ** 2 // 20


# -- laws


@given(selections())
def test_a_selection_contains_itself(selection: Selection) -> None:
    assert contains(parse(written_selection(selection)), parse(written_selection(selection)))


@st.composite
def weakenings(draw: DrawFn, narrow: Pattern) -> Pattern:
    """The pattern with one thing less asked for: a predicate, a name, a child instead of a descendant."""
    patterns: list[Pattern] = []
    each: Pattern | None = narrow
    while each is not None:
        patterns.append(each)
        each = each.parent
    patterns.reverse()
    at = draw(st.integers(0, len(patterns) - 1))
    patterns[at] = draw(st.one_of(_without_test(patterns[at]), _deeper(patterns[at]), _any_name(patterns[at])))
    result: Pattern | None = None
    for pattern in patterns:
        result = replace(pattern, parent=result)
    assert result is not None
    return result


def _without_test(pattern: Pattern) -> st.SearchStrategy[Pattern]:
    """A test, or one of those that must all hold, dropped."""
    parts = pattern.test.tests if isinstance(pattern.test, plan.And) else ()
    fewer = [conjunction([part for part in parts if part is not dropped]) for dropped in parts]
    return st.sampled_from([replace(pattern, test=test) for test in (None, *fewer)])


def _deeper(pattern: Pattern) -> st.SearchStrategy[Pattern]:
    return _with_step(pattern, [replace(step, deep=True) for step in pattern.path])


def _any_name(pattern: Pattern) -> st.SearchStrategy[Pattern]:
    """Names to `*`, but not where a position counts those of the name."""
    counted = any(isinstance(part, Rank) for part in walk(pattern.test))
    last = len(pattern.path) - 1
    return _with_step(
        pattern,
        [
            replace(step, label="*") if step.kind is not Kind.TEXT and not (counted and at == last) else step
            for at, step in enumerate(pattern.path)
        ],
    )


def _with_step(pattern: Pattern, steps: list[Step]) -> st.SearchStrategy[Pattern]:
    """One of the steps changed, or all of them."""
    path = pattern.path
    changed = [tuple(steps), *((*path[:at], step, *path[at + 1 :]) for at, step in enumerate(steps))]
    return st.sampled_from([replace(pattern, path=each) for each in changed])


@given(st.data())
@examples(500)
def test_a_weaker_query_is_always_recognized(data: st.DataObject) -> None:
    narrow = parse(data.draw(absolute_paths()).weft)
    assert isinstance(narrow, Pattern)

    weaker = data.draw(weakenings(narrow))
    weakest = data.draw(weakenings(weaker))

    assert contains(weaker, narrow)
    assert contains(weakest, weaker)
    assert contains(weakest, narrow)
    assert covers(weakest, narrow)


@pytest.mark.slow
@given(st.data())
@examples(600)
def test_what_covers_what_covers_covers(data: st.DataObject) -> None:
    frame = data.draw(st.sampled_from(("//a[{}]", "/a/b[{}]", "//a[b[{}]]")))
    plans = [parse(both(frame, data.draw(conditions())).weft) for _ in range(3)]

    for one in plans:
        for two in plans:
            for three in plans:
                if contains(one, two) and contains(two, three):
                    assert contains(one, three)


@given(few_paths, few_paths, few_paths)
@examples(150)
def test_a_union_contains_its_parts_and_is_contained_where_they_are(one: Query, two: Query, other: Query) -> None:
    parts = parse(one.weft), parse(two.weft)
    union, third = plan.Combine("union", parts), parse(other.weft)

    assert all(contains(union, part) for part in parts)
    assert contains(third, union) == all(contains(third, part) for part in parts)


@given(few_paths, st.sampled_from(("intersect", "except")), few_paths, some_documents)
@examples(100)
def test_less_of_a_selection_is_contained_in_it(one: Query, operator: str, two: Query, batch: list[bytes]) -> None:
    assume(one != two)
    less = Combined(operator, one, two)

    assert assert_right(one, less, batch)
    assert operator == "except" or assert_right(two, less, batch)
