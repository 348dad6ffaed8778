"""An XSCL plan in, text for people out."""

from __future__ import annotations

from collections.abc import Iterator

from weft.plans.show import show_link
from weft.plans.xscl import Join, Term, Window, Xscl


def show_xscl(plan: Xscl) -> str:
    """An XSCL plan, one line for each variable and predicate."""
    return "\n".join(_lines(plan))


def _lines(plan: Xscl) -> Iterator[str]:
    for number, block in enumerate(plan.blocks):
        if number:
            join = plan.joins[number - 1]
            yield f"{join.operator} within {show_window(join.window)}"
            yield from (f"  {line}" for line in _predicates(plan, join))
        yield f"block {number + 1} over {block.stream or 'every stream'}"
        for place, variable in enumerate(block.variables):
            above = "" if variable.source is None else name_of(plan, Term(number, variable.source))
            mark = " (output)" if place == block.output else ""
            path = "".join(map(show_link, variable.links))
            yield f"  {name_of(plan, Term(number, place))} from {above or 'document'} {path}{mark}"
    if plan.publish:
        yield f"publish {plan.publish}"


def _predicates(plan: Xscl, join: Join) -> Iterator[str]:
    for one in join.predicates:
        yield f"{name_of(plan, one.left)} {one.operator} {name_of(plan, one.right)}"


def name_of(plan: Xscl, term: Term) -> str:
    """What a variable is called; one without a name by its place."""
    name = plan.blocks[term.block].variables[term.variable].name
    return f"${name}" if name else f"#{term.block + 1}.{term.variable + 1}"


def show_window(window: Window) -> str:
    """A window in words."""
    if window.seconds is not None:
        return f"{window.seconds:g} seconds"
    return "any time" if window.documents is None else f"{window.documents} documents"
