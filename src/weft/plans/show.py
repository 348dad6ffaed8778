"""A plan in, text for people out; explain and the golden files are made of it."""

from __future__ import annotations

from weft.documents.kind import Kind
from weft.plans.plan import (
    Always,
    And,
    Combine,
    Count,
    First,
    Has,
    Label,
    Link,
    Named,
    Not,
    On,
    Or,
    Path,
    Pattern,
    Rank,
    Selection,
    Test,
    Unlike,
    Value,
)


def show(selection: Selection, indent: str = "") -> str:
    """A plan, one line for each pattern and test.

    >>> from weft.plans.plan import Step
    >>> print(show(Pattern(None, (Step("a"), Step("b", deep=True)))))
    pattern /a//b
    """
    match selection:
        case Combine(operator, parts):
            return "\n".join([f"{indent}{operator}", *(show(part, indent + "  ") for part in parts)])
        case Pattern(parent, path, test):
            above = f"{show(parent, indent)}\n" if parent else ""
            below = f"\n{show_test(test, indent + '  ')}" if test else ""
            return f"{above}{indent}pattern {show_path(path)}{below}"


def show_test(test: Test, indent: str = "") -> str:
    """A test, one line for each part."""
    inner = indent + "  "
    match test:
        case And(tests) | Or(tests):
            word = "all of" if isinstance(test, And) else "one of"
            return f"{indent}{word}\n" + "\n".join(show_test(part, inner) for part in tests)
        case Not(part):
            return f"{indent}not\n{show_test(part, inner)}"
        case Value(operator, constant):
            return f"{indent}value {operator} {_constant(constant)}"
        case Has(path, part):
            below = f"\n{show_test(part, inner)}" if part else ""
            return f"{indent}has {show_path(path).removeprefix('/')}{below}"
        case First(links, value):
            return f"{indent}first of {_links(links)}\n{show_test(value, inner)}"
        case Count(links, operator, number):
            return f"{indent}count of {_links(links)} {operator} {number:g}"
        case Rank(before, operator, number):
            place = "last" if number is None else f"{number:g}"
            below = f" among those with\n{show_test(before, inner)}" if before else ""
            return f"{indent}position {operator} {place}{below}"
        case Named(label):
            return f"{indent}named {_label(label)}"
        case Always(value):
            return f"{indent}{'always' if value else 'never'}"
        case On(variable, part):
            return f"{indent}variable {variable}\n{show_test(part, inner)}"


def show_path(path: Path) -> str:
    """A path as XPath writes it."""
    marks = {Kind.ELEMENT: "", Kind.ATTRIBUTE: "@", Kind.TEXT: ""}
    return "".join(f"{'//' if step.deep else '/'}{marks[step.kind]}{_label(step.label)}" for step in path)


def _label(label: Label) -> str:
    return f"*[not({' or '.join(label.labels)})]" if isinstance(label, Unlike) else label


def _links(links: tuple[Link, ...]) -> str:
    parts = [
        show_path(link.path) + (f"[{' '.join(show_test(link.test).split())}]" if link.test else "") for link in links
    ]
    return "".join(parts).removeprefix("/")


def _constant(constant: str | float) -> str:
    return f'"{constant}"' if isinstance(constant, str) else f"{constant:g}"
