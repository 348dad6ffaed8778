"""Plans: the one walk over their nodes, what is counted on it, and what people see of them."""

import pytest

from weft.documents.kind import Kind
from weft.languages import xpath, xquery
from weft.plans.plan import (
    Always,
    And,
    Combine,
    Count,
    First,
    Has,
    Link,
    Named,
    Not,
    On,
    Or,
    Path,
    Pattern,
    Rank,
    Step,
    Test,
    Unlike,
    Value,
)
from weft.plans.show import show, show_flwr, show_link, show_path, show_test
from weft.plans.walk import count_steps, paths_in, walk

A, B, C = (Step(name) for name in "abc")
DEEP = Step("d", deep=True)


def test_a_walk_goes_from_the_top_down_and_through_every_field() -> None:
    value = Value("=", "x")
    parent = Pattern(None, (A,), Has((B,), value))
    plan = Pattern(parent, (C,))

    nodes = [part for part in walk(plan) if isinstance(part, Pattern | Has | Value | Step)]

    assert nodes == [plan, parent, A, Has((B,), value), B, value, C]


def test_the_paths_of_a_plan_are_found_wherever_they_stand() -> None:
    plan = xquery.parse_flwr(
        "<r>{ for $a in /x//a[b/c] let $l := $a/d where $l > 1 order by $a/@k return <i>{ $a/e/text() }</i> }</r>"
    )

    found = {show_path(path) for path in paths_in(plan)}

    assert found == {"/x//a", "/b/c", "/d", "/@k", "/e/text()"}


def test_steps_are_counted_once_for_each_place_but_a_shared_part_once() -> None:
    shared = Has((A, B), Has((C,)))

    assert count_steps(Pattern(None, (A, B), And((shared, Not(shared))))) == (2 + 3, 2 + 2 * 3)
    assert count_steps(And((Has((A, B)), Has((A, B, C))))) == (5, 5)
    assert count_steps(Always(True)) == (0, 0)


def test_counting_the_steps_of_a_part_that_is_shared_again_and_again_takes_no_time() -> None:
    test: Test = Has((A,))
    for _ in range(200):  # as a tree it would have 2^200 leaves
        test = Or((test, Not(test)))

    assert count_steps(test) == (1, 2**200)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((A, DEEP), "/a//d"),
        ((Step("*"), Step("{u}b"), Step("*:c", deep=True)), "/*/{u}b//*:c"),
        ((A, Step("k", kind=Kind.ATTRIBUTE)), "/a/@k"),
        ((Step("text()", deep=True, kind=Kind.TEXT),), "//text()"),
        ((Step(Unlike(("a", "b"))),), "/*[not(a or b)]"),
        ((), ""),
    ],
)
def test_a_path_is_shown_as_xpath_writes_it(path: Path, text: str) -> None:
    assert show_path(path) == text


@pytest.mark.parametrize(
    ("test", "lines"),
    [
        (Value("=", "x"), ['value = "x"']),
        (Value("<", 0.5), ["value < 0.5"]),
        (Has((A, B)), ["has a/b"]),
        (Has((DEEP,), Value("!=", 2.0)), ["has .//d", "  value != 2"]),
        (Not(Has((A,))), ["not", "  has a"]),
        (
            And((Has((A,)), Or((Named("b"), Always(False))))),
            ["all of", "  has a", "  one of", "    named b", "    never"],
        ),
        (First((Link((A,)),), Value("contains", "x")), ["first of a", '  value contains "x"']),
        (First((Link((A,)),), Value("=", "x"), True), ["first of a", "  not", '    value = "x"']),
        (Count((Link((A,), Has((B,))), Link((C,))), ">", 2.0), ["count of a[has b]/c > 2"]),
        (Rank(None, "=", None), ["position = last"]),
        (Rank(Has((A,)), "<=", 3.0), ["position <= 3 among those with", "  has a"]),
        (On(1, Always(True)), ["variable 1", "  always"]),
    ],
)
def test_a_test_is_shown_line_by_line(test: Test, lines: list[str]) -> None:
    assert show_test(test).splitlines() == lines
    assert show_test(test, "    ").splitlines() == [f"    {line}" for line in lines]


def test_a_link_shows_its_test_in_brackets_on_one_line() -> None:
    assert show_link(Link((A,), And((Has((B,), Value("=", "x")), Not(Has((C,))))))) == (
        '/a[all of has b value = "x" not has c]'
    )


def test_a_combination_shows_its_parts_below_it() -> None:
    plan = Combine("except", (Pattern(Pattern(None, (A,), Has((B,))), (C,)), Pattern(None, (DEEP,))))

    assert show(plan).splitlines() == [
        "except",
        "  pattern /a",
        "    has b",
        "  pattern /c",
        "  pattern //d",
    ]


def test_what_is_shown_of_a_query_does_not_depend_on_how_it_is_written() -> None:
    one = xpath.parse("//a[ b='x' ][not( c )]/child::d")
    other = xpath.parse('/descendant::a[b = "x"][not(c)]/d')

    assert show(one) == show(other)


def test_a_flwr_plan_shows_variables_conditions_order_and_what_is_returned() -> None:
    plan = xquery.parse_flwr(
        """<r>{ for $a in stream("s")/a, $b in $a/b where $a/c = 1 or $b/c = 2
        order by $b/@k descending return <i n="{ count($a/b) }">{ "x", $b/text() }<j/></i> }</r>"""
    )

    assert show_flwr(plan).splitlines() == [
        "for $a from s /a",
        "for $b from $a /b",
        "where",
        "  one of",
        "    variable 0",
        "      has c",
        "        value = 1",
        "    variable 1",
        "      has c",
        "        value = 2",
        "order by $b/@k descending",
        "return",
        "  <i n>",
        "    text 'x'",
        "    copy $b/text()",
        "    <j>",
    ]
