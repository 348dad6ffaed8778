"""Hypothesis strategies: random small documents, and random queries, each in Weft's words and in lxml's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Any, NamedTuple

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

# -- documents

#: Numbers in all forms, texts that are almost numbers, spaces, nothing.
TEXTS = ("1", "2", "3.5", "foo", "bar", "1e0", "2E1", "-1", ".5", " 2 ", "1 2", "+1", " ", "\n", "é", "f")
#: Dates and times, with space around: behind a digit they would be others, of years that Python does not know.
DATED_TEXTS = (" 2026-01-01 ", " 2026-01-01T12:00:00+02:00 ", " 10:00:00.5 ", " 2026-02-30 ", "\n2026-01-02")
#: What splits texts, and what does not: CDATA sections and references do not.
PIECES = ("<!--1-->", "<?p 2?>", "<![CDATA[1]]>", "<![CDATA[<fo]]>", "&#50;", "&amp;")


class Open(NamedTuple):
    """A start tag: its name, and its attributes as they are written."""

    name: str
    attributes: tuple[str, ...] = ()


CLOSE = None
Token = Open | str | None


def written_document(root: Open, tokens: Sequence[Token]) -> bytes:
    """A document of a root and tokens; end tags that are missing are added, those that are too many left out."""
    out, names = [_start_tag(root)], [root.name]
    for token in tokens:
        if isinstance(token, Open):
            out.append(_start_tag(token))
            names.append(token.name)
        elif token is not CLOSE:
            out.append(token)
        elif len(names) > 1:
            out.append(f"</{names.pop()}>")
    return "".join([*out, *(f"</{name}>" for name in reversed(names))]).encode()


def _start_tag(token: Open) -> str:
    return f"<{' '.join([token.name, *token.attributes])}>"


#: Tags of recursive names, some with attributes. What is drawn is one of them, as few choices are quick to draw.
TAGS = tuple(
    Open(name, attributes)
    for name in (*"aaaabbbc", "or")
    for attributes in (
        *((), ('x="1"',), ('y="foo"', 'x="2"'), (), ('x=""',), ('y="1e0"',), ('x=" 2 "', 'y="1"')),
        *(('d="2026-01-01"',), ('x="2"', 'd="2026-01-01T10:00:00Z"'), ('d="10:00:00"', 'y="1"'), ('d="2026-13-01"',)),
    )
)


def documents(
    tags: Sequence[Open] = TAGS, roots: Sequence[Open] = (), pieces: Sequence[str] = PIECES, size: int = 40
) -> SearchStrategy[bytes]:
    """Documents of so many tokens at most: recursive names and mixed content, as deep as it comes."""
    tokens = st.sampled_from(tags) | st.sampled_from((*[CLOSE] * 50, *TEXTS, *DATED_TEXTS, "1", "2", "foo", *pieces))
    several = st.lists(tokens, max_size=5) | st.lists(tokens, min_size=size // 3, max_size=size)
    return st.builds(written_document, st.sampled_from(roots or tags), several)


#: Documents declare prefixes of their own, and an inner element may make `p` mean something else.
_DECLARED = ((), (), (), ('xmlns="urn:default"',), ('xmlns=""',), ('xmlns:p="urn:q"',), ('xmlns:q="urn:p"',))
_PREFIXED = ((), (), ('x="1"',), ('p:x="1"',), ('x="2"', 'q:x="1"'), ('xml:lang="en"', 'p:y="2"'))
NAMESPACED_TAGS = tuple(
    Open(name, (*attributes, *declared))
    for name, attributes, declared in product(("a", "p:a", "q:a", "b", "p:b"), _PREFIXED, _DECLARED)
)
NAMESPACED_ROOTS = tuple(
    Open(name, ('xmlns:p="urn:p"', 'xmlns:q="urn:q"', *default))
    for name, default in product(("a", "p:a", "q:b"), ((), ('xmlns="urn:default"',), ('xmlns="urn:p"',)))
)


def namespaced_documents() -> SearchStrategy[bytes]:
    """Documents whose names are in `urn:p`, `urn:q`, `urn:default` or none, under changing prefixes."""
    return documents(NAMESPACED_TAGS, NAMESPACED_ROOTS)


# -- queries


class Query(NamedTuple):
    """A query, or a part of one, in Weft's words and in lxml's."""

    weft: str
    lxml: str


def both(template: str, *parts: Query | str) -> Query:
    """A template filled with parts, in both wordings.

    >>> both("{}[{}]", Query("*:a", "*[local-name() = 'a']"), "1").weft
    '*:a[1]'
    """
    pairs = [part if isinstance(part, Query) else Query(part, part) for part in parts]
    return Query(template.format(*(pair.weft for pair in pairs)), template.format(*(pair.lxml for pair in pairs)))


def filled(form: Query, *parts: Query) -> Query:
    """A form filled with parts, each wording with its own."""
    return Query(form.weft.format(*(part.weft for part in parts)), form.lxml.format(*(part.lxml for part in parts)))


def plain(*texts: str) -> SearchStrategy[Query]:
    """One of these, the same in both wordings."""
    return st.sampled_from([Query(text, text) for text in texts])


@dataclass(frozen=True)
class Vocabulary:
    """The name tests that queries are made of."""

    elements: SearchStrategy[Query]
    attributes: SearchStrategy[Query]
    named: SearchStrategy[Query]  # conditions such as `self::a`
    turns: bool = False  # whether paths go up and several ways


PLAIN = Vocabulary(
    elements=plain(*"aaabbbccc", "*", "*", "*[not(self::a or self::b)]", "*[not(self::a)]", "child::a", "or"),
    attributes=plain("@x", "@x", "@y", "@*", "attribute::x", "@d"),
    named=plain("self::a", "self::b", "self::*", "not(self::a)"),
)
#: Paths that go up and several ways; libxml2 has no parentheses in a path, and its `node()` finds comments too.
TURNING = replace(PLAIN, turns=True)
TURNS = st.sampled_from(
    (
        *(Query(text, text) for text in ("..", "..", "parent::a", "parent::*", "ancestor::b", "ancestor-or-self::a")),
        *(
            Query(text, text)
            for text in ("descendant-or-self::b", "self::a", "parent::node()", "*[local-name() = 'a']")
        ),
        Query("(a | b)", "*[self::a or self::b]"),
        Query("node()", "node()[self::* or self::text()]"),
    )
)
UPWARD = plain(
    "..", "../@x", "../b", "parent::a", "ancestor::b", "ancestor::a/@x", "ancestor-or-self::b", "/a/b", "//c", "/*/@x"
)
NUMBERS = ("0", "1", "2", "3.5", "10", ".5", "-1", "1.0")
STRINGS = ('"1"', "'2'", '"foo"', '"fo"', '""', '" "', '"o"', '"é"', "'1 2'", '"1e0"')
#: Constants that are worked out before documents come.
FOLDED_NUMBERS = ("1 + 1", "2 * 3 - 4", "-(1)", "7 div 2", "7 mod 4", "- -1", "(1 + 1) * 2 - 1")
FOLDED = ("1 < 2", "'a' = 'b'", "2 * 3 = 6", "boolean('x')", "not('')", "-(3) > 2", "true() = false()")
DATES = (
    *("xs:date('2026-01-01')", "xs:date('2026-01-02Z')", "xs:dateTime('2026-01-01T10:00:00')"),
    *("xs:dateTime('2026-01-01T12:00:00.5+02:00')", "xs:time('10:00:00')", "xs:time('12:00:00.50+02:00')"),
)
PATTERNS = ("'^f'", "'o+$'", "'[0-9]'", r"'^\d+$'", "'f.o'", r"'\s'", "''", "'^$'", "'1|2'", "'(fo)?o$'", "'é'")
POSITIONS = plain("1", "2", "3", "last()")
COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")
BETWEEN = st.sampled_from(("/", "/", "/", "//", "//", "/./", "//./", "/descendant-or-self::node()/"))
DEEPEST = 3  # predicates in predicates in predicates


def one_in(draw: DrawFn, number: int) -> bool:
    """Whether something rare happens; shrinks to no."""
    return draw(st.integers(0, number - 1)) == number - 1


@cache
@st.composite
def absolute_paths(draw: DrawFn, vocabulary: Vocabulary = PLAIN) -> Query:
    """Paths from the document's root, some of them written without a slash at their start."""
    starts = (Query("//", "//"), Query("/", "/"), Query("//", "//"), Query("", "/"), Query(".//", "//"))
    return both("{}{}", draw(st.sampled_from(starts)), draw(_steps(vocabulary, 0, least=1)))


@cache
@st.composite
def relative_paths(draw: DrawFn, vocabulary: Vocabulary, depth: int) -> Query:
    """Paths in a predicate of some depth."""
    start = draw(st.sampled_from(("", "", "", ".//", "./", "here")))
    if start != "here":
        return both("{}{}", start, draw(_steps(vocabulary, depth)))
    if one_in(draw, 3):
        return Query(".", ".")
    here = "self::node(){}" if one_in(draw, 2) else "self::*{}"
    step = both(here, draw(_predicates(vocabulary, depth, rankable=False)))
    return both("{}/{}", step, draw(_steps(vocabulary, depth))) if one_in(draw, 2) else step


@cache
@st.composite
def _steps(draw: DrawFn, vocabulary: Vocabulary, depth: int, least: int = 0) -> Query:
    """Steps and what stands between them, the last perhaps to attributes or texts."""
    several = draw(st.integers(least, max(3 - depth, 1)))
    path = Query("", "")
    for number in range(several):
        step = draw(_element_step(vocabulary, depth))
        path = both("{}{}{}", path, draw(BETWEEN), step) if number else step
        if vocabulary.turns and one_in(draw, 4):
            turn = draw(TURNS)
            asked = "" if turn.weft == ".." else draw(_predicates(vocabulary, depth + 1, rankable=False))
            path = both("{}/{}{}", path, turn, asked)
    if several and not one_in(draw, 4):
        return path
    leaf = draw(_leaf_step(vocabulary, depth))
    return both("{}{}{}", path, draw(st.sampled_from(("/", "//"))), leaf) if several else leaf


@cache
@st.composite
def _element_step(draw: DrawFn, vocabulary: Vocabulary, depth: int) -> Query:
    name = draw(vocabulary.elements)
    if one_in(draw, 10) and "::" not in name.weft:
        return both("descendant::{}{}", name, draw(_predicates(vocabulary, depth, rankable=False)))
    return both("{}{}", name, draw(_predicates(vocabulary, depth, rankable=True)))


@cache
@st.composite
def _leaf_step(draw: DrawFn, vocabulary: Vocabulary, depth: int) -> Query:
    if one_in(draw, 2):
        return both("text(){}", draw(_predicates(vocabulary, depth, rankable=True, is_leaf=True)))
    name = draw(vocabulary.attributes)
    return both("{}{}", name, draw(_predicates(vocabulary, depth, rankable=False, is_leaf=True)))


@cache
@st.composite
def _predicates(draw: DrawFn, vocabulary: Vocabulary, depth: int, *, rankable: bool, is_leaf: bool = False) -> Query:
    likely = (
        (1, 1, 1, 0, 0, 2) if depth == 0 else (1, 0, 0, 0, 2) if depth < DEEPEST and not is_leaf else (0, 0, 0, 0, 1)
    )
    number = draw(st.sampled_from(likely)) if depth < DEEPEST else 0
    inside = [
        draw(POSITIONS if rankable and one_in(draw, 6) else _booleans(vocabulary, depth + 1, rankable, is_leaf))
        for _ in range(number)
    ]
    return both("[{}]" * number, *inside)


@cache
def _position_tests() -> SearchStrategy[Query]:
    """Conditions on the position, which may also be parts of others."""
    numbers = st.sampled_from(("1", "2", "3", "2.5", "0", "last()"))
    return st.one_of(
        st.builds(both, st.just("position() {} {}"), st.sampled_from(COMPARISONS), numbers),
        st.builds(both, st.just("{1} {0} position()"), st.sampled_from(COMPARISONS), numbers),
    )


@cache
@st.composite
def _booleans(draw: DrawFn, vocabulary: Vocabulary, depth: int, rankable: bool, is_leaf: bool, parts: int = 2) -> Query:
    """Conditions, up to two operators deep."""
    kind = draw(st.integers(0, 9)) if parts else 0
    inner = _booleans(vocabulary, depth, rankable, is_leaf, parts - 1)
    if kind < 6:
        return draw(_tests(vocabulary, depth, rankable, is_leaf))
    if kind == 6:
        return both("not({})", draw(inner))
    if kind == 7:
        return both(draw(st.sampled_from(("({})", "boolean({})", "not(not({}))"))), draw(inner))
    template = draw(st.sampled_from(("({}) and ({})", "({}) or ({})", "{} or {}", "not({}) and {}")))
    first = both("({})", draw(inner)) if template == "not({}) and {}" else draw(inner)
    second = draw(_tests(vocabulary, depth, rankable, is_leaf)) if template.endswith(" {}") else draw(inner)
    return both(template, first, second)


@cache
@st.composite
def _tests(draw: DrawFn, vocabulary: Vocabulary, depth: int, rankable: bool, is_leaf: bool) -> Query:
    """One condition without operators between conditions."""
    kind = draw(st.integers(0, 14))
    if kind == 0:
        return draw(st.one_of(vocabulary.named, plain("true()", "false()", *FOLDED)))
    if kind == 1 and rankable:
        return draw(_position_tests())
    subject = Query(".", ".") if is_leaf else draw(_subjects(vocabulary, depth))
    if vocabulary.turns and one_in(draw, 3):
        subject = draw(UPWARD)
        if "@" not in subject.weft and one_in(draw, 3):
            subject = both("{}/{}", subject, draw(_element_step(vocabulary, depth)))
    if kind <= 4:
        return both("({})", subject) if " | " in subject.weft else subject
    if kind <= 8:
        return _compared(draw, subject)
    if kind == 12:
        return _written_otherwise(draw, subject)
    if kind == 13:
        return _of_the_first(draw, Query(".", ".") if is_leaf else draw(relative_paths(vocabulary, depth)))
    if kind == 14 and not is_leaf:
        parts = (draw(relative_paths(vocabulary, depth)) for _ in range(3))
        chosen = Query("if ({}) then {} else {}", "({0}) and ({1}) or not({0}) and ({2})")
        return both("({})", filled(chosen, *parts))
    if kind == 9 and not is_leaf:
        return both("count({}) {} {}", draw(relative_paths(vocabulary, depth)), *_relation(draw, NUMBERS))
    return _function(draw, Query(".", ".") if is_leaf else draw(relative_paths(vocabulary, depth)))


@cache
@st.composite
def _subjects(draw: DrawFn, vocabulary: Vocabulary, depth: int) -> Query:
    first = draw(st.one_of(vocabulary.attributes, relative_paths(vocabulary, depth), relative_paths(vocabulary, depth)))
    return both("{} | {}", first, draw(relative_paths(vocabulary, depth))) if one_in(draw, 8) else first


def _relation(draw: DrawFn, constants: Sequence[str]) -> tuple[str, str]:
    return draw(st.sampled_from(COMPARISONS)), draw(st.sampled_from(constants))


def _compared(draw: DrawFn, subject: Query) -> Query:
    operator, constant = _relation(draw, draw(st.sampled_from((NUMBERS, STRINGS, NUMBERS, STRINGS, DATES))))
    if constant.startswith("xs:"):
        function, text, _ = constant.split("'")
        return Query(
            f"{subject.weft} {operator} {constant}",
            f"more:stands({subject.lxml}, '{operator}', '{function[3:-1]}', '{text}')",
        )
    if one_in(draw, 5):
        return both("{2} {1} {0}", subject, operator, constant)
    return both("({}) {} {}" if one_in(draw, 6) else "{} {} {}", subject, operator, constant)


def _written_otherwise(draw: DrawFn, subject: Query) -> Query:
    """Existence, lists, and conditions on a variable, as XPath 2 writes them."""
    operator, constant = _relation(draw, draw(st.sampled_from((NUMBERS, STRINGS))))
    other = draw(st.sampled_from(STRINGS if constant[0] in "'\"" else NUMBERS))
    forms = (
        Query("exists({0})", "boolean({0})"),
        Query("empty({0})", "not({0})"),
        Query("boolean({0}) = true()", "boolean({0}) = true()"),
        Query("({0}) != false()", "({0}) != false()"),
        Query("{0} {1} ({2}, {3})", "(({0}) {1} {2} or ({0}) {1} {3})"),
        Query("({2}, {3}) {1} {0}", "({2} {1} ({0}) or {3} {1} ({0}))"),
        Query("some $n in {0} satisfies $n {1} {2}", "boolean(({0})[. {1} {2}])"),
        Query("every $n in {0} satisfies $n {1} {2}", "not(({0})[not(. {1} {2})])"),
        Query("{0} = 1 to 3", "({0} = 1 or {0} = 2 or {0} = 3)"),
        Query("{0} eq {4}", "{0} = {4}"),
        Query("{0} ne {4}", "{0} != {4}"),
    )
    text = Query(*[draw(st.sampled_from(STRINGS))] * 2)
    parts = (subject, Query(operator, operator), Query(constant, constant), Query(other, other), text)
    return both("({})", filled(draw(st.sampled_from(forms)), *parts))


def _of_the_first(draw: DrawFn, subject: Query) -> Query:
    """What string() and number() make of the first node."""
    operator, constant = _relation(draw, draw(st.sampled_from((NUMBERS, STRINGS, (*FOLDED_NUMBERS,)))))
    forms = (
        "string({0}) {1} {2}",
        "number({0}) {1} {2}",
        "boolean(string({0}))",
        "not(number({0}))",
        "contains(string({0}), {2})",
    )
    number_forms = (Query("number({0}) lt 2", "number({0}) < 2"), Query("number({0}) ge 1", "number({0}) >= 1"))
    form = draw(st.sampled_from((*(Query(each, each) for each in forms), *number_forms)))
    text = constant if "contains" not in form.weft or constant[0] in "'\"" else "'1'"
    return filled(form, subject, Query(operator, operator), Query(text, text))


def _function(draw: DrawFn, subject: Query) -> Query:
    """libxml2 lacks two of the functions: the oracle has its own, which take a string."""
    name = draw(st.sampled_from(("contains", "starts-with", "ends-with", "matches")))
    constant = draw(st.sampled_from(PATTERNS if name == "matches" else STRINGS))
    if name in ("contains", "starts-with"):
        return both(f"{name}({{}}, {{}})", subject, constant)
    return Query(f"{name}({subject.weft}, {constant})", f"more:{name}(string({subject.lxml}), {constant})")


# -- selections


@dataclass(frozen=True)
class Combined:
    """Two selections put together; `intersect` and `except` are not in XPath 1, so lxml answers the parts."""

    operator: str
    left: Selection
    right: Selection


Selection = Query | Combined


def written_selection(selection: Selection) -> str:
    """The selection in Weft's words, with no more parentheses than needed."""
    if isinstance(selection, Query):
        return selection.weft
    is_union = selection.operator in ("|", "union")
    left, right = written_selection(selection.left), written_selection(selection.right)
    if isinstance(selection.left, Combined) and not is_union and selection.left.operator in ("|", "union"):
        left = f"({left})"
    if isinstance(selection.right, Combined) and not (is_union and selection.right.operator in ("intersect", "except")):
        right = f"({right})"
    return f"{left} {selection.operator} {right}"


def selections(vocabulary: Vocabulary = PLAIN) -> SearchStrategy[Any]:
    """Paths, and unions, intersections and differences of them."""
    paths = absolute_paths(vocabulary)
    operators = st.sampled_from(("|", "union", "intersect", "except"))
    combined = st.recursive(paths, lambda inner: st.builds(Combined, operators, inner, inner), max_leaves=4)
    return st.one_of(paths, paths, combined)
