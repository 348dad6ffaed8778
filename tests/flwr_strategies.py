"""Hypothesis strategies: small DTDs, most of them recursive, documents that keep to them, and FLWR queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from strategies import one_in
from weft.documents.dtd import Dtd

NAMES = "abc"
Content = tuple[str, ...]  # the elements that may stand in an element


@dataclass(frozen=True)
class World:
    """Which elements may stand in `a`, `b` and `c`, in this order; and documents that keep to it. The root is `a`."""

    contents: tuple[Content, Content, Content]
    documents: tuple[str, ...]

    @property
    def dtd(self) -> Dtd:
        """The DTD that says so."""
        return dtd_of(self.contents)


@lru_cache(maxsize=1_000)
def dtd_of(contents: tuple[Content, Content, Content]) -> Dtd:
    """Mixed content everywhere, and two attributes.

    >>> dtd_of((("b",), ("b",), ())).on_loop("b")
    True
    """
    elements = (
        f"<!ELEMENT {name} ({' | '.join(['#PCDATA', *content])}){'*' if content else ''}>"
        f"<!ATTLIST {name} x CDATA #IMPLIED y CDATA #IMPLIED d CDATA #IMPLIED>"
        for name, content in zip(NAMES, contents, strict=True)
    )
    return Dtd.parse("".join(elements), root="a")


# -- documents

CLOSE = None
TEXTS = ("1", "2", "t", "1", "&amp;")
#: `x` is a number or nothing, so that it can be compared as one.
ATTRIBUTES = (
    "",
    "",
    ' x="1"',
    ' x="2"',
    ' x="10" y="t"',
    ' y=""',
    ' y="1"',
    ' x="1" y="2"',
    ' d="2026-01-01"',
    ' d="10:00:00"',
)
Token = tuple[int, str] | str | None


def written_document(contents: tuple[Content, Content, Content], tokens: Sequence[Token]) -> str:
    """A document of tokens: a number chooses among the elements that may stand here, if there are any."""
    out, open_names = ["<a>"], ["a"]
    for token in tokens:
        allowed = contents[NAMES.index(open_names[-1])]
        if isinstance(token, tuple) and allowed:
            open_names.append(allowed[token[0] % len(allowed)])
            out.append(f"<{open_names[-1]}{token[1]}>")
        elif isinstance(token, str):
            out.append(token)
        elif token is CLOSE and len(open_names) > 1:
            out.append(f"</{open_names.pop()}>")
    return "".join([*out, *(f"</{name}>" for name in reversed(open_names))])


#: No loop at all, then one that leaves some elements out.
FEW_LOOPS: tuple[tuple[Content, Content, Content], ...] = (
    (("b", "c"), ("c",), ()),
    (("b",), ("c",), ()),
    (("b", "c"), ("b", "c"), ()),
    (("a", "b"), ("c",), ()),
    (("b",), ("b", "c"), ("c",)),
    (("b", "c"), ("c",), ("b",)),
)


def worlds(least: int = 1, most: int = 3, size: int = 30) -> SearchStrategy[World]:
    """Contents, and so many documents of so many tokens that keep to them."""
    tokens = st.tuples(st.integers(0, 2), st.sampled_from(ATTRIBUTES)) | st.sampled_from((*[CLOSE] * 4, *TEXTS))
    long = st.lists(tokens, min_size=size // 2, max_size=size)
    several = st.lists(tokens, max_size=5) | long | long
    content = st.sets(st.sampled_from(NAMES), max_size=3).map(lambda names: tuple(sorted(names)))
    contents = st.sampled_from(FEW_LOOPS) | st.tuples(content.filter(bool), content, content)

    def with_documents(chosen: tuple[Content, Content, Content]) -> SearchStrategy[World]:
        documents = st.lists(several.map(lambda some: written_document(chosen, some)), min_size=least, max_size=most)
        return documents.map(lambda some: World(chosen, tuple(some)))

    return contents.flatmap(with_documents)


# -- queries

ELEMENTS = st.sampled_from(("a", "b", "b", "c", "c", "*"))
AXES = st.sampled_from(("/", "/", "//"))
PREDICATES = st.sampled_from(
    (
        '[@d < xs:date("2026-01-02")]',
        "[b]",
        "[1]",
        "[last()]",
        '[@x = "1"]',
        "[not(c)]",
        "[.//c]",
        '[c = "1" or @y]',
        "[b][1]",
        "[@x < 2]",
        "[*//b]",
    )
)
COMPARISONS = st.sampled_from(("=", "!=", "<", "<=", ">", ">="))
VALUE_COMPARISONS = st.sampled_from(("eq", "ne", "lt", "le", "gt", "ge"))
#: What stands behind `@d`; Saxon is asked for those only that can be cast.
DATES = st.sampled_from(('xs:date("2026-01-01")', 'xs:date("2026-01-02Z")', 'xs:time("11:00:00+01:00")'))
CONSTANTS = st.sampled_from(('"1"', '"2"', '"t"', '"12"', '""'))


@st.composite
def paths(draw: DrawFn, most: int = 2, predicates: int = 6) -> str:
    """A path of elements from a variable; a predicate at one step in so many."""
    steps = [
        draw(AXES) + draw(ELEMENTS) + (draw(PREDICATES) if one_in(draw, predicates) else "")
        for _ in range(draw(st.integers(1, most)))
    ]
    return "".join(steps)


@st.composite
def queries(draw: DrawFn) -> str:
    """FLWR queries of one or two variables. Each binding has an item, so that no message is empty."""
    singles, several = ["$v"], []
    start = draw(st.sampled_from(("//", "//", "//", "/a/", "/a//", "/")))
    text = f"for $v in {start}{draw(ELEMENTS)}{draw(paths(1)) if one_in(draw, 3) else ''}"
    if one_in(draw, 5):
        text += draw(PREDICATES)
    if one_in(draw, 4):
        several.append("$l")
        text += f" let $l := $v{draw(paths())}"
    if one_in(draw, 3):
        text += f"{' for' if several else ','} $w in {draw(st.sampled_from(singles + several))}{draw(paths())}"
        singles.append("$w")
    if one_in(draw, 2):
        text += f" where {draw(conditions(tuple(singles), tuple(several)))}"
    if one_in(draw, 4):
        text += f" order by {draw(st.sampled_from(singles))}/@{draw(st.sampled_from('xy'))}"
        text += draw(st.sampled_from(("", " descending", f", {singles[-1]}/@x descending")))
    items = draw(st.lists(parts(tuple(singles), tuple(several)), min_size=1, max_size=3))
    copied = f"{{ {singles[-1]}/@{draw(st.sampled_from('xy'))} }}" if one_in(draw, 4) else ""
    return f"<r>{{ {text} return <i>{copied}{''.join(items)}</i> }}</r>"


@st.composite
def conditions(draw: DrawFn, singles: tuple[str, ...], several: tuple[str, ...], depth: int = 2) -> str:
    """A condition on some of the variables, up to two operators deep."""
    kind = draw(st.integers(0, 15)) if depth else draw(st.integers(0, 11))
    inner = conditions(singles, several, depth - 1)
    if kind > 11:
        template = ("{} and {}", "({} or {})", "not({})", "not({} and {})")[kind - 12]
        return template.format(*(draw(inner) for _ in range(template.count("{}"))))
    single, any_of = draw(st.sampled_from(singles)), draw(st.sampled_from(singles + several))
    match kind:
        case 0:
            return f"{any_of}{draw(paths())} {draw(COMPARISONS)} {draw(CONSTANTS)}"
        case 1:
            return f"{any_of}{draw(paths())}"
        case 2:
            return f"count({any_of}{draw(paths())}) {draw(COMPARISONS)} {draw(st.integers(0, 2))}"
        case 3:
            return f"{single}/@x {draw(COMPARISONS)} {draw(st.integers(1, 2))}"
        case 4:
            return f'contains({single}/@y, "1")'
        case 5:
            return f"{any_of}{draw(st.sampled_from(('/@d', '//@d', '/b/@d')))} {draw(COMPARISONS)} {draw(DATES)}"
        case 6:
            return f"{single} {draw(COMPARISONS)} {draw(CONSTANTS)}"
        case 7:
            return f"{single}/@y {draw(VALUE_COMPARISONS)} {draw(CONSTANTS)}"
        case 8:
            form = draw(
                st.sampled_from(("exists({})", "empty({})", "{} = ('1', 't')", "(if ({}) then {}/b else {}/@x)"))
            )
            return form.replace("{}", f"{any_of}{draw(paths())}")
        case 9:
            of_first = draw(st.sampled_from(("string({}) = '1'", "string({}) lt 't'", "contains(string({}), '1')")))
            return of_first.format(f"{single}/@{draw(st.sampled_from('xy'))}")
        case 10:
            return f"number({single}/@x) {draw(COMPARISONS)} {draw(st.sampled_from(('1 + 1', '-(1)', '3 * 0.5')))}"
        case _:
            word, operator = draw(st.sampled_from(("some", "every"))), draw(COMPARISONS)
            return f"({word} $s in {any_of}{draw(paths())} satisfies $s/@y {operator} {draw(CONSTANTS)})"


@st.composite
def parts(draw: DrawFn, singles: tuple[str, ...], several: tuple[str, ...], depth: int = 1) -> str:
    """A part of an item: copies, texts, counts, constants and elements."""
    path = draw(st.sampled_from(singles + several)) + draw(paths())
    match draw(st.integers(0, 7 if depth else 6)):
        case 0 | 1:
            return f"{{ {path} }}"
        case 2:
            return f"{{ {draw(st.sampled_from(singles + several))} }}"
        case 3:
            return f"{{ {path}/text() }}"
        case 4:
            return f"{{ count({path}) }}"
        case 5:
            return f'{{ {path}, "z", count({singles[0]}) }}'
        case 6:
            return draw(st.sampled_from((" and ", " &lt; ", "{{}}")))
        case _:
            inner = draw(parts(singles, several, 0))
            return f'<k y="{{ {path}/@y }}-{{ count({path}) }}">{inner}</k>'
