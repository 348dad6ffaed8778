"""A plan in, text for people out; explain and the golden files are made of it."""

from __future__ import annotations

from weft.documents.kind import Kind
from weft.plans.flwr import Copy, Element, Enclosed, Flwr, Number, Slot
from weft.plans.instants import Instant, written_instant
from weft.plans.plan import (
    Always,
    Among,
    And,
    Combine,
    Constant,
    Count,
    Derived,
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
from weft.plans.write_formula import write_formula

#: How deep a line of a plan stands, and its text.
Line = tuple[int, str]


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


def show_flwr(plan: Flwr) -> str:
    """A FLWR plan, one line for each variable, test and part of the message."""
    lines = []
    for variable in plan.variables:
        is_first = variable.source is None
        source = plan.stream or "document" if is_first else f"${plan.variables[variable.source or 0].name}"
        lines.append(f"for ${variable.name} from {source} {''.join(map(show_link, variable.links))}")
        lines += [show_test(variable.where, "  ")] if variable.where else []
    lines += ["where", show_test(plan.where, "  ")] if plan.where else []
    for order in plan.order:
        lines.append(f"order by {_slot(plan, order.slot)}{' descending' if order.descending else ''}")
    lines.append("return")
    lines += _items(plan, plan.returned, "  ")
    return "\n".join(lines)


def _items(plan: Flwr, enclosed: Enclosed, indent: str) -> list[str]:
    lines: list[str] = []
    for item in enclosed.items:
        match item:
            case str():
                lines.append(f"{indent}text {item!r}")
            case Copy(slot):
                lines.append(f"{indent}copy {_slot(plan, slot)}")
            case Number(slot):
                lines.append(f"{indent}count {_slot(plan, slot)}")
            case Element(name, attributes, parts):
                lines.append(f"{indent}<{' '.join([name, *(attribute.name for attribute in attributes)])}>")
                for part in parts:
                    inner = part if isinstance(part, Enclosed) else Enclosed((part,))
                    lines += _items(plan, inner, indent + "  ")
    return lines


def _slot(plan: Flwr, slot: Slot) -> str:
    return f"${plan.variables[slot.variable].name}{''.join(map(show_link, slot.links))}"


def show_link(link: Link) -> str:
    """One stretch of a path with its test."""
    return show_path(link.path) + (f"[{' '.join(show_test(link.test).split())}]" if link.test else "")


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
            return f"{indent}has {_relative(path)}{below}"
        case First(links, value, fails):
            shown = show_test(Not(value) if fails else value, inner)
            return f"{indent}first of {_links(links)}\n{shown}"
        case Count(links, operator, number):
            return f"{indent}count of {_links(links)} {operator} {number:g}"
        case Rank(before, operator, number):
            place = "last" if number is None else f"{number:g}"
            below = f" among those with\n{show_test(before, inner)}" if before else ""
            return f"{indent}position {operator} {place}{below}"
        case Named(label):
            return f"{indent}named {_label(label)}"
        case Derived(formula, goal):
            passes = f" {goal.operator} {_constant(goal.constant)}" if goal else " is true"
            return f"{indent}formula {write_formula(formula)}{passes}"
        case Among(formula):
            return f"{indent}one of {write_formula(formula)}"
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


def _relative(path: Path) -> str:
    shown = show_path(path)
    return f".{shown}" if shown.startswith("//") else shown.removeprefix("/")


def _links(links: tuple[Link, ...]) -> str:
    return "".join(map(show_link, links)).removeprefix("/")


def _constant(constant: Constant) -> str:
    if isinstance(constant, Instant):
        return written_instant(constant)
    return f'"{constant}"' if isinstance(constant, str) else f"{constant:g}"
