"""Chance in, documents and queries out that are good: few names and values, so that something is found."""

from __future__ import annotations

from random import Random

_NAMES = (*"aabbbcc", "*", "or", "section", "title")
_ATTRIBUTES = ("@x", "@x", "@y", "@id", "@*")
_NUMBERS, _STRINGS = ("0", "1", "2", "3.5", "-1", ".5"), ("'1'", "'foo'", '"bar"', "'Two'", "' '")
_DATES = ("xs:date('2026-01-01')", 'xs:dateTime("2026-01-01T10:00:00.5Z")', "xs:time('10:00:00+14:00')")
_COMPARISONS = ("=", "=", "!=", "<", "<=", ">", ">=")


def xpath(chance: Random) -> str:
    """A path from the root, or several."""
    paths = [chance.choice(("/", "//", "//")) + _steps(chance, 3) for _ in range(chance.choice((1, 1, 1, 1, 2)))]
    return " | ".join(paths)


def flwr(chance: Random) -> str:
    """A query of one or two variables, whose bindings have an item each."""
    text = f"for $v in //{chance.choice('aabbc*')}"
    variables = ["$v"]
    if chance.random() < 0.3:
        text += f" let $l := $v/{_steps(chance, 2)}"
        variables.append("$l")
    if chance.random() < 0.3:
        text += f" for $w in $v//{chance.choice('abc*')}"
        variables.append("$w")
    if chance.random() < 0.5:
        compared = f"{chance.choice(_COMPARISONS)} {chance.choice(_STRINGS)}"
        text += f" where {chance.choice(variables)}/{_steps(chance, 1)} {compared}"
    if chance.random() < 0.3:
        text += f" order by $v/{chance.choice(('@x', '@y'))}{chance.choice(('', ' descending'))}"
    parts = [f"{{ {chance.choice(variables)}/{_steps(chance, 2)} }}" for _ in range(chance.choice((0, 1, 2)))]
    return f"<r>{{ {text} return <i>{{ count($v) }}{''.join(parts)}</i> }}</r>"


def _steps(chance: Random, most: int) -> str:
    steps = [chance.choice(_NAMES) + _predicate(chance, most) for _ in range(chance.randint(1, most))]
    if chance.random() < 0.2:
        steps.append(chance.choice((*_ATTRIBUTES, "text()")))
    return chance.choice(("/", "/", "//")).join(steps)


def _predicate(chance: Random, depth: int) -> str:
    if depth < 2 or chance.random() < 0.6:
        return ""
    return f"[{_condition(chance, depth - 1)}]"


def _condition(chance: Random, depth: int) -> str:
    subject = chance.choice((*_ATTRIBUTES, ".", "text()", _steps(chance, depth), f".//{_steps(chance, depth)}"))
    match chance.randrange(8):
        case 0:
            return chance.choice(("1", "2", "last()", "position() > 1", "position() = last()"))
        case 1:
            return f"not({subject})"
        case 2:
            return f"count({subject}) {chance.choice(_COMPARISONS)} {chance.choice('012')}"
        case 3:
            return f"{chance.choice(('contains', 'starts-with'))}({_steps(chance, 1)}, {chance.choice(_STRINGS)})"
        case 4 if depth > 1:
            return f"{_condition(chance, 1)} {chance.choice(('and', 'or'))} {_condition(chance, 1)}"
        case 5:
            return subject
        case _:
            return f"{subject} {chance.choice(_COMPARISONS)} {chance.choice((*_NUMBERS, *_STRINGS, *_DATES))}"


# -- documents

_TEXTS = (
    *("1", "2", "foo", " ", "\n", "é", "&amp;", "&#60;", "]]", "'", '"', ">"),
    "<![CDATA[</a>]]>",
    "<!-- <a> -->",
    "<?p <a>?>",
)
_DECLARED = ("", "", "", ' xmlns="urn:d"', ' xmlns=""', ' xmlns:p="urn:o"', " xmlns:q='urn:q'")
_GIVEN = ("", "", "", ' x="1"', " y='foo'", ' x="&lt;a>" y=">"', " p:x='1' x='2'", ' xml:lang="en"', ' x = "\t\n"')


def document(chance: Random, names: str = "a a b p:a p:b c") -> bytes:
    """A document that is well-formed, with namespaces and all kinds of content."""
    inside = "".join(_element(chance, names.split(), 3) for _ in range(chance.randint(0, 3)))
    before = chance.choice(("", "", "<?xml version='1.0'?>\n", "<!-- x -->", "\ufeff"))
    return f'{before}<r xmlns:p="urn:p"{chance.choice(_GIVEN)}>{inside}</r>{chance.choice(("", " ", "<?p?>"))}'.encode()


def _element(chance: Random, names: list[str], depth: int) -> str:
    tag = chance.choice(names)
    start = tag + chance.choice(_DECLARED) + chance.choice(_GIVEN) + chance.choice(("", "", " "))
    parts = [
        _element(chance, names, depth - 1) if depth and chance.random() < 0.5 else chance.choice(_TEXTS)
        for _ in range(chance.randint(0, 3))
    ]
    return f"<{start}>{''.join(parts)}</{tag}>" if parts else f"<{start}/>"
