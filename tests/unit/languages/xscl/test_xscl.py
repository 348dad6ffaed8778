"""XSCL text becomes blocks and joins; what is wrong is told with its place."""

import pytest

from weft.errors import QueryError, UnsupportedError
from weft.languages.xscl import parse
from weft.plans.flwr import Copy, Element, Enclosed
from weft.plans.plan import Has, Link, Step, Value
from weft.plans.show_xscl import show_window
from weft.plans.xscl import Predicate, Term, Window

BOOK = "S//book->x1[.//author->x2][.//title->x3]"
BLOG = "S//blog->x4[.//author->x5][.//title->x6]"


def test_a_query_of_the_paper_has_two_blocks_and_two_equalities() -> None:
    plan = parse(f"{BOOK} FOLLOWED BY{{x2=x5 AND x3=x6, 5 minutes}} {BLOG}")

    assert [[variable.name for variable in block.variables] for block in plan.blocks] == [
        ["x1", "x2", "x3"],
        ["x4", "x5", "x6"],
    ]
    assert [variable.source for variable in plan.blocks[0].variables] == [None, 0, 0]
    assert plan.joins[0].operator == "FOLLOWED BY"
    assert plan.joins[0].predicates == (
        Predicate(Term(0, 1), "=", Term(1, 1)),
        Predicate(Term(0, 2), "=", Term(1, 2)),
    )


def test_primes_belong_to_the_names_of_variables() -> None:
    plan = parse("S//blog->x4[.//author->x5] FOLLOWED BY{x5=x5', 1 day} S//blog->x4'[.//author->x5']")

    assert [variable.name for variable in plan.blocks[1].variables] == ["x4'", "x5'"]


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("5 minutes", Window(300 * 10**9)),
        ("1 day", Window(86_400 * 10**9)),
        ("0.5 seconds", Window(5 * 10**8)),
        ("0.1 seconds", Window(10**8)),
        ("1.5 hours", Window(5_400 * 10**9)),
        ("0.7 weeks", Window(423_360 * 10**9)),
        ("100 milliseconds", Window(10**8)),
        (f"0.{'3' * 30} seconds", Window(333_333_333)),
        ("0 seconds", Window(0)),
        ("100 documents", Window(documents=100)),
        ("1 document", Window(documents=1)),
        ("infinite", Window()),
    ],
)
def test_a_window_is_a_time_a_number_of_documents_or_infinite(text: str, window: Window) -> None:
    assert parse(f"S/a->x JOIN{{x = y, {text}}} S/a->y").joins[0].window == window


def test_a_variable_ends_a_stretch_and_conditions_stay_with_their_step() -> None:
    block = parse("S/a[b = 'c']->x/d->y").blocks[0]

    assert block.variables[0].links == (Link((Step("a"),), Has((Step("b"),), Value("=", "c"))),)
    assert block.variables[1].source == 0
    assert block.variables[1].links == (Link((Step("d"),)),)
    assert block.output == 1


def test_a_step_with_variables_below_it_needs_no_name() -> None:
    block = parse("S//book[author->x][year->y]").blocks[0]

    assert [(variable.name, variable.source) for variable in block.variables] == [("", None), ("x", 0), ("y", 0)]
    assert block.output == 0


def test_variables_may_lie_deeper_in_predicates_and_have_conditions() -> None:
    block = parse("S//book->b[author->a[name->n][born > 1950]/mail->m]").blocks[0]

    assert [(variable.name, variable.source) for variable in block.variables] == [
        ("b", None),
        ("a", 0),
        ("n", 1),
        ("m", 1),
    ]
    assert block.variables[1].links[-1].test == Has((Step("born"),), Value(">", 1950.0))


def test_as_binds_like_the_arrow() -> None:
    assert parse("S//a AS x JOIN{x = y, 1 day} S//b AS y") == parse("S//a->x JOIN{x = y, 1 day} S//b->y")


def test_a_path_from_a_variable_becomes_a_variable_of_its_own() -> None:
    plan = parse("S/a->x JOIN{x/b = y//c AND x/b = y/@d, 1 day} T/e->y")

    assert [variable.name for variable in plan.blocks[0].variables] == ["x", "", ""]
    assert [variable.source for variable in plan.blocks[1].variables] == [None, 0, 0]
    assert plan.joins[0].predicates[0] == Predicate(Term(0, 1), "=", Term(1, 1))


def test_a_predicate_is_turned_so_that_the_later_block_stands_right() -> None:
    plan = parse("S/a->x JOIN{y = x AND y < x, 1 day} S/b->y")

    assert [predicate.operator for predicate in plan.joins[0].predicates] == ["=", ">"]


def test_joins_can_be_chained_and_end_with_an_absence() -> None:
    plan = parse("A/a->x FOLLOWED BY{x=y, 1 hour} B/b->y NOT FOLLOWED BY{y=z AND x=z, 1 day} C/c->z")

    assert [join.operator for join in plan.joins] == ["FOLLOWED BY", "NOT FOLLOWED BY"]
    assert [block.stream for block in plan.blocks] == ["A", "B", "C"]
    assert plan.joins[1].predicates[1] == Predicate(Term(0, 0), "=", Term(2, 0))


def test_select_builds_an_element_of_the_variables_of_all_blocks() -> None:
    plan = parse("SELECT <pair>{ $x/title }{ $y' }</pair> FROM S/a->x JOIN{x = y', 1 day} S/b->y' PUBLISH pairs")

    assert isinstance(plan.select, Element)
    braces = [part for part in plan.select.parts if isinstance(part, Enclosed)]
    slots = [item.slot.variable for part in braces for item in part.items if isinstance(item, Copy)]
    assert slots == [0, 1]
    assert plan.publish == "pairs"


@pytest.mark.parametrize("text", ["blog", "SELECT * FROM blog"])
def test_a_stream_alone_is_the_root_elements_of_its_documents(text: str) -> None:
    plan = parse(text)

    assert plan.blocks[0].stream == "blog"
    assert plan.blocks[0].variables[0].links == (Link((Step("*"),)),)
    assert plan.joins == ()


@pytest.mark.parametrize(
    ("text", "at", "reason"),
    [
        ("S/a->x FOLLOWED BY{x=y} S/b->y", 22, "expected a comma and a window, found '}'"),
        ("S/a->x FOLLOWED BY SELECT", 19, "expected '{', found 'SELECT'"),
        ("S/a->x JOIN{x=y, soon} S/b->y", 17, "expected a window"),
        ("S/a->x JOIN{x=y, 8000 weeks} S/b->y", 17, "expected less than 146 years; a window without end is infinite"),
        (f"S/a->x JOIN{{x=y, {'9' * 5000} days}} S/b->y", 17, "expected less than 146 years"),
        (f"S/a->x JOIN{{x=y, {'9' * 5000} documents}} S/b->y", 17, "expected a whole number of documents"),
        (f"S/a->x JOIN{{x=y, 1.{'0' * 50}1 documents}} S/b->y", 17, "expected a whole number of documents"),
        ("S/a->x JOIN{x=y, 3 moons} S/b->y", 17, "behind the number"),
        ("S/a->x JOIN{x=y, 0 documents} S/b->y", 17, "at least 1"),
        ("S/a->x JOIN{x=z, 1 day} S/b->y", 14, "expected a variable of the blocks, found z"),
        ("S/a->x JOIN{x=x, 1 day} S/b->y", 12, "one of a block before"),
        ("S/a->x JOIN{x<y, 1 day} S/b->y", 11, "at least one ="),
        ("S/a->x JOIN{x=y, 1 day}", 23, "expected a stream or a path"),
        ("S/a->x JOIN{x=y, 1 day} S/b->x", 24, "found x again"),
        ("S/a->", 5, "expected a variable's name"),
        ("SELECT x FROM S", 7, "expected * or an element"),
        ("SELECT <a>{$q}</a> FROM S/a->x", 11, "found $q"),
        ("SELECT <a>{$y}</a> FROM S/a->x NOT FOLLOWED BY{x=y, 1 day} S/b->y", 11, "found $y"),
        ("S/a->x PUBLISH 5", 15, "expected the name of a stream"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(text: str, at: int, reason: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse(text)

    assert reason in caught.value.reason
    assert caught.value.at == at


@pytest.mark.parametrize(
    "text",
    [
        "S/a[b->x = 'c']",
        "S/a[not(b->x)]",
        "S/a->x[/b->y]",
        "S/a->x NOT FOLLOWED BY{x=y, 1 day} S/b->y FOLLOWED BY{y=z, 1 day} S/c->z",
    ],
)
def test_what_there_is_not_is_refused(text: str) -> None:
    with pytest.raises(UnsupportedError):
        parse(text)


@pytest.mark.parametrize(
    ("window", "shown"),
    [
        ("5 minutes", "5 minutes"),
        ("1.5 hours", "90 minutes"),
        ("14 days", "2 weeks"),
        ("0.1 seconds", "100 milliseconds"),
        ("0.25 milliseconds", "0.00025 seconds"),
        ("0 seconds", "0 seconds"),
        ("1 second", "1 second"),
        ("infinite", "any time"),
    ],
)
def test_a_window_is_shown_in_its_largest_whole_unit(window: str, shown: str) -> None:
    assert show_window(parse(f"S/a->x JOIN{{x = y, {window}}} S/a->y").joins[0].window) == shown
