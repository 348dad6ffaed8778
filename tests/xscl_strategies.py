"""Hypothesis strategies: streams of small documents, and the texts of XSCL queries over the same vocabulary.

There are few names and few values, and what comes first among choices is what makes joins find something: Hypothesis
likes small examples, and nothing is found in small documents of any shape by queries of any shape. `parse` takes every
text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from strategies import CLOSE, Open, one_in, written_document
from weft.documents.document import Document

# -- documents

#: Texts that are equal, numbers that are equal but not as texts, dates and times that are, words, nothing.
VALUES = (*("1", "2", "1", "x") * 3, "10", "2.0", " 2 ", "2024-01-02", "2024-01-02T00:00:00Z", "2024-01-10", "y", "")
NAMES = (*"bbbbcccca", "d", "e")
ATTRIBUTES = (('k="1"',), (), ('k="2"',), (), ('l="1"',), ('l="x"', 'k="10"'), ('k="2024-01-02"',), ('l="2"', 'k="1"'))
TAGS = tuple(Open(name, attributes) for name in NAMES for attributes in ATTRIBUTES)
LEAVES = tuple(f"<{name}>{value}</{name}>" for value in VALUES for name in NAMES)
TOKENS = (*LEAVES, *TAGS, *[CLOSE] * 90, *("1", "2", "x", "<!--1-->") * 10)
MOST_ELEMENTS = 12


@st.composite
def trees(draw: DrawFn) -> bytes:
    """A document's source: `b` and `c` in `a`, unless they are missing, and anything else behind.

    A token brings one element at most, so the number of elements is bounded.
    """
    root = Open("b" if one_in(draw, 6) else "a", draw(st.sampled_from(ATTRIBUTES)))
    fields = [f"<{name}>{draw(st.sampled_from(VALUES))}</{name}>" for name in "bc" if not one_in(draw, 8)]
    others = draw(st.lists(st.sampled_from(TOKENS), max_size=MOST_ELEMENTS - 3))
    return written_document(root, [*fields, *others])


@st.composite
def document_lists(draw: DrawFn, least: int = 2, most: int = 7, late: bool = False) -> list[Document]:
    """Documents in the order of their arrival; only with `late` some arrive behind others with later timestamps.

    Some have the same source, so that elements with something in them find their equals too.
    """
    sources = draw(st.lists(trees(), min_size=2, max_size=4))
    documents, time = [], 0
    for number in range(draw(st.integers(least, most))):
        time = draw(st.integers(0, 6)) if late else time + draw(st.sampled_from((1, 0, 1, 2)))
        stream = draw(st.sampled_from(("S", "S", "S", "T", "")))
        documents.append(Document(draw(st.sampled_from(sources)), f"d{number}", stream, float(time)))
    return documents


# -- blocks


class Named(NamedTuple):
    """A variable that a block names, and the paths that predicates may go from it; an empty one is the node itself."""

    name: str
    paths: tuple[str, ...]

    def with_prefix(self, prefix: str) -> Named:
        """The variable as a block names it."""
        return Named(self.name.format(prefix=prefix), self.paths)

    @property
    def is_leaf(self) -> bool:
        """Whether it holds attributes or texts."""
        return self.paths == LEAF_PATHS


#: From an element that may have something below, from one that may not, and from what has nothing below.
TOP_PATHS = (
    *("/b", "/c", "//b", "//c", "/@k", "//@k", "//text()", "") * 3,
    *("/text()", "/@l", "//@*", "/*", "/b/c", "/*[1]", "/b[@k]", "//*/@k"),
)
BOTTOM_PATHS = (*[""] * 8, "/text()", "/@k", "//text()", "//b", "/*")
LEAF_PATHS = ("",)
TOPS = (*("//a", "/a", "/*", "//*") * 2, "//b", "//*[not(self::a)]")
BOTTOMS = ("//b", "//c", "//*", "/a/b", "//a//c", "//*[not(self::a)]", "//e", "//b", "//c", "//b", "//c")
ELEMENTS = (*"bcbcbcbcbcad", "*", "*", "*[not(self::a)]")
LEAF_STEPS = ("@k", "text()", "@k", "@l", "@*")
#: Conditions that may stand behind a variable too, and those that count positions and so may not.
CONDITIONS = (
    "[b = '1']",
    "[@k > 2]",
    "[b]",
    "[.//c = 'x']",
    "[@k]",
    "[not(c)]",
    "[b != '2']",
    "[@l <= 10 or b]",
    "[c < 10 and not(@l)]",
    "[count(*) > 1]",
    "[contains(b, '1')]",
    "[. != '1']",
    "[self::a or c]",
    "[b[c]/@k]",
    "[starts-with(@k, '2')]",
    "[b <= xs:date('2024-01-05')]",
    "[@k != xs:date('2024-01-10')]",
    "[.//c >= xs:dateTime('2024-01-02T02:00:00+02:00')]",
)
POSITIONS = ("[1]", "[last()]", "[position() < 3]", "[b][1]")


@st.composite
def blocks(draw: DrawFn) -> tuple[str, list[Named]]:
    """The text of a block, with `{prefix}` before the names of its variables; and these: at least one, at most six."""
    stream = draw(st.sampled_from(("S", "", "S", "", "T")))
    named: list[Named] = []
    if stream and one_in(draw, 12):
        return stream + _name(draw, named, TOP_PATHS), named
    below, goes_on = draw(st.sampled_from((0, 1, 1, 2))), one_in(draw, 3)
    is_top = below > 0 or goes_on
    text = stream + draw(st.sampled_from(TOPS if is_top else BOTTOMS)) + _condition(draw, (*CONDITIONS, *POSITIONS))
    if not (is_top and one_in(draw, 5)):
        text += _name(draw, named, TOP_PATHS if is_top else BOTTOM_PATHS) + _condition(draw, CONDITIONS)
    for _ in range(below):
        text += f"[{_below(draw, named)}]"
    if goes_on:
        is_leaf = one_in(draw, 4)
        step = draw(st.sampled_from(LEAF_STEPS if is_leaf else ELEMENTS))
        text += draw(st.sampled_from(("//", "/"))) + step
        text += _name(draw, named, LEAF_PATHS if is_leaf else BOTTOM_PATHS)
    return text, named


def _name(draw: DrawFn, named: list[Named], paths: tuple[str, ...]) -> str:
    named.append(Named(f"{{prefix}}{len(named)}", paths))
    return f" AS {named[-1].name}" if one_in(draw, 6) else f"->{named[-1].name}"


def _below(draw: DrawFn, named: list[Named]) -> str:
    """What stands in a predicate that binds a variable; some have another predicate like that in turn."""
    if one_in(draw, 4):
        deep = "" if one_in(draw, 4) else ".//"
        step: str = draw(st.sampled_from(LEAF_STEPS))
        return deep + step + _name(draw, named, LEAF_PATHS)
    start: str = draw(st.sampled_from(("", ".//", "./", ".//")))
    text: str = start + draw(st.sampled_from(ELEMENTS)) + _condition(draw, (*CONDITIONS, *POSITIONS))
    if one_in(draw, 6):
        name = _name(draw, named, BOTTOM_PATHS) if one_in(draw, 2) else ""
        inner = draw(st.sampled_from(("@k", "text()", "c", ".//b")))
        return f"{text}{name}[{inner}{_name(draw, named, LEAF_PATHS if inner in LEAF_STEPS else BOTTOM_PATHS)}]"
    return text + _name(draw, named, BOTTOM_PATHS) + _condition(draw, CONDITIONS)


def _condition(draw: DrawFn, conditions: Sequence[str]) -> str:
    return draw(st.sampled_from(conditions)) if one_in(draw, 12) else ""


# -- joins

COMPARISONS = ("!=", "=", "<", "<=", ">", ">=")
WINDOWS = ("infinite", "2 seconds", "1 document", "0.1 minutes", "3 seconds", "2 documents", "1 second", "0 seconds")


@st.composite
def joins(draw: DrawFn, before: Sequence[Named], behind: Sequence[Named], is_last: bool, is_twin: bool) -> str:
    """An operator with its predicates and its window; twins are mostly equal in the same place."""
    operators = ("FOLLOWED BY", "JOIN", *(("NOT FOLLOWED BY",) if is_last else ()))
    operator = draw(st.sampled_from(operators))
    several = draw(st.sampled_from((1, 2, 1, 1, 2, 3)))
    equality = draw(st.integers(0, several - 1))
    predicates = []
    for number in range(several):
        comparison = "=" if number == equality else draw(st.sampled_from(COMPARISONS))
        terms = [_term(draw, before), _term(draw, behind)]
        if is_twin and number == equality and not one_in(draw, 4):
            twins = draw(st.sampled_from(list(zip(before[-len(behind) :], behind, strict=True))))
            path = draw(st.sampled_from(twins[0].paths))
            terms = [f"{twin.name}{path}" for twin in twins]
        if one_in(draw, 4):
            terms.reverse()
        predicates.append(f" {comparison} ".join(terms))
    return f"{operator}{{{' AND '.join(predicates)}, {draw(st.sampled_from(WINDOWS))}}}"


#: What a value may go through, with the term in the place of `{}`.
FUNCTIONS = (
    "normalize-space({})",
    "number({})",
    "lower-case({})",
    "substring({}, 1, 1)",
    "string({})",
    "upper-case(normalize-space({}))",
    "substring({}, 2)",
    "number(substring({}, 1, 4))",
    "normalize-space(substring({}, -1, 3.5))",
    "string(number({}))",
)
#: What may stand in brackets behind a variable that holds elements.
TESTS = ("[b]", "[@k]", "[not(c)]", "[b = '1']", "[. != '1']", "[@k > 1 or c]")


def _term(draw: DrawFn, variables: Sequence[Named]) -> str:
    variable = draw(st.sampled_from(variables))
    test = "" if variable.is_leaf or not one_in(draw, 10) else draw(st.sampled_from(TESTS))
    text = f"{'$' if one_in(draw, 6) else ''}{variable.name}{test}{draw(st.sampled_from(variable.paths))}"
    return draw(st.sampled_from(FUNCTIONS)).format(text) if one_in(draw, 6) else text


# -- queries


@st.composite
def queries(draw: DrawFn, least: int = 2, most: int = 3) -> str:
    """The text of a query of one to three blocks, without PUBLISH. A block may be the one before with other names."""
    size = draw(st.integers(least, most)) if one_in(draw, 2) else least
    block, named = draw(blocks())
    text, known = block.format(prefix="x"), [variable.with_prefix("x") for variable in named]
    shown = known
    for number, prefix in enumerate("yz"[: size - 1]):
        is_twin = one_in(draw, 2)
        if not is_twin:
            block, named = draw(blocks())
        behind = [variable.with_prefix(prefix) for variable in named]
        join = draw(joins(known, behind, number == size - 2, is_twin))
        text += f" {join} {block.format(prefix=prefix)}"
        known = [*known, *behind]
        shown = shown if join.startswith("NOT") else known
    return draw(selects(shown)) + text


@st.composite
def nested_queries(draw: DrawFn) -> str:
    """The text of a query of three blocks, two of them in parentheses; windows there are of time."""
    texts, names = [], []
    block, named = draw(blocks())
    for prefix in "xyz":
        if not one_in(draw, 2):
            block, named = draw(blocks())
        texts.append(block.format(prefix=prefix))
        names.append([variable.with_prefix(prefix) for variable in named])
    is_left = draw(st.booleans())
    inner = draw(joins(names[1 - is_left], names[2 - is_left], False, False))
    sides = (names[0] + names[1], names[2]) if is_left else (names[0], names[1] + names[2])
    outer = draw(joins(sides[0], sides[1], is_left, False))
    if is_left:
        text = f"({texts[0]} {inner} {texts[1]}) {outer} {texts[2]}"
    else:
        text = f"{texts[0]} {outer} ({texts[1]} {inner} {texts[2]})"
    known = sides[0] if "NOT" in outer else [*sides[0], *sides[1]]
    for counted in ("1 document}", "2 documents}"):
        text = text.replace(counted, "2 seconds}")
    return draw(selects(known)) + text


@st.composite
def selects(draw: DrawFn, variables: Sequence[Named]) -> str:
    """Nothing, `SELECT *`, or a small element with variables in it."""
    form = draw(st.sampled_from(("", "element", "", "*", "element")))
    if form != "element":
        return "SELECT * FROM " if form else ""
    first, second = draw(st.sampled_from(variables)), draw(st.sampled_from(variables))
    attribute = f' v="{{ ${first.name} }}"' if one_in(draw, 3) or first.is_leaf else ""
    # Attributes must come first in an element and be there once, so what may be one stands in an element of its own.
    content = "" if first.is_leaf else f"{{ ${first.name}{'//b' if one_in(draw, 4) else ''} }}"
    if second != first:
        content += f"<s>{{ ${second.name} }}</s>" if one_in(draw, 2) else f"{{ count(${second.name}) }}"
    return f"SELECT <r{attribute}>{content}</r> FROM "
