"""What is read without the parser has the plan that the parser makes; all else is left to it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from profiles import examples
from weft.errors import QueryWarning, WeftError
from weft.languages import recognize
from weft.languages.xpath import parse, parse_common
from weft.plans.plan import Selection

NAMES = ("a", "b.c", "d-", "e-f", "or", "AS", "PUBLISH", "text", "node", "contains", "é", "²", "²x", "_", "p:a", "1")
PATHS = (
    *("a", "*", "@a", "@*", "text()", "a/b", "a//@b", ".//a", "./a", ".", ".//@a", ".//text()", "@a/b", "text()/a"),
    *("..", "a/", "/a", "self::a", "a[b]", "not(a)", "a-", ".//", "@text()", "a | b", "1", "last()"),
)
OPERATORS = ("=", "!=", "<", "<=", ">", ">=", " = ", " != ", " >", "< ", "->", " eq ", "==", "=\n")
CONSTANTS = (
    '"x"',
    "'y'",
    '""',
    '"it\'s"',
    '"a""b"',
    "'[/a]'",
    '"->"',
    '"1"',
    "1",
    "-1.5",
    ".5",
    "5.",
    "- 1",
    "1e3",
    "b",
    '"',
)
FUNCTIONS = ("contains", "starts-with", "ends-with", "matches", "count")

names = st.sampled_from(NAMES)
constants = st.sampled_from(CONSTANTS)
paths = st.sampled_from(PATHS)
predicates = st.one_of(
    paths.map(lambda path: f"[{path}]"),
    st.builds("[{}{}{}]".format, paths, st.sampled_from(OPERATORS), constants),
    st.builds("[{}({}, {})]".format, st.sampled_from(FUNCTIONS), paths, constants),
    st.builds("[{}({},{}) ]".format, st.sampled_from(FUNCTIONS), paths, constants),
)
steps = st.builds(
    "{}{}{}".format,
    st.sampled_from(("/", "//", "/", "//", "/ ", "")),
    st.one_of(names, names, st.sampled_from(("*", "@a", "@*", "text()", ".", "..", "self::a", "a::b", "*:a"))),
    st.lists(predicates, max_size=2).map("".join),
)
queries = st.lists(steps, min_size=1, max_size=4).map("".join)
NAMESPACES: tuple[dict[str, str], ...] = ({}, {"": "urn:d"}, {"p": "urn:p", "": "urn:d"})


def by_parser(
    query: str, namespaces: dict[str, str], ignore_namespaces: bool, warned: list[QueryWarning]
) -> Selection | None:
    try:
        return parse(query, namespaces, ignore_namespaces, on_warning=warned.append)
    except WeftError:
        return None


@given(queries, st.sampled_from(NAMESPACES), st.booleans())
@examples(3_000)
def test_a_query_in_a_common_form_has_the_plan_that_the_parser_makes(
    query: str, namespaces: dict[str, str], ignore_namespaces: bool
) -> None:
    warned: list[QueryWarning] = []

    plan = parse_common(query, namespaces, ignore_namespaces, 50)

    if plan is not None:
        assert plan == by_parser(query, namespaces, ignore_namespaces, warned)
        assert warned == [], "whoever reads it so warns of nothing"
        assert "->" in query or recognize(query) == "xpath"
