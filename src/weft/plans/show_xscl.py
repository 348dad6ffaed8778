"""An XSCL plan in, text for people out."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from weft.plans.flwr import Slot
from weft.plans.show import show_link
from weft.plans.walk import walk
from weft.plans.xscl import Join, Term, Window, Xscl

_UNITS = tuple(
    (length * 1_000_000, name)
    for length, name in (
        (604_800_000, "week"),
        (86_400_000, "day"),
        (3_600_000, "hour"),
        (60_000, "minute"),
        (1_000, "second"),
        (1, "millisecond"),
    )
)
_SECOND = _UNITS[-2]


def show_xscl(plan: Xscl) -> str:
    """An XSCL plan, one line for each variable and predicate."""
    return "\n".join(_lines(plan))


def _lines(plan: Xscl) -> Iterator[str]:
    for number, block in enumerate(plan.blocks):
        if number:
            join = plan.joins[number - 1]
            yield f"{join.operator} within {show_window(join.window)}{_ends(number, join)}"
            yield from (f"  {line}" for line in _predicates(plan, join))
        yield f"block {number + 1} over {block.stream or 'every stream'}"
        for place, variable in enumerate(block.variables):
            above = "" if variable.source is None else name_of(plan, Term(number, variable.source))
            is_output = plan.select is None and place == block.output and number < len(plan.present)
            mark = " (output)" if is_output else ""
            path = "".join(map(show_link, variable.links))
            yield f"  {name_of(plan, Term(number, place))} from {above or 'document'} {path}{mark}"
    if plan.select is not None:
        variables = [Term(at, place) for at, block in enumerate(plan.blocks) for place in range(len(block.variables))]
        slots = dict.fromkeys(part for part in walk(plan.select) if isinstance(part, Slot))
        shown = (name_of(plan, variables[slot.variable]) + "".join(map(show_link, slot.links)) for slot in slots)
        yield f"select <{plan.select.name}> with {', '.join(shown) or 'constants alone'}"
    if plan.publish:
        yield f"publish {plan.publish}"


def _predicates(plan: Xscl, join: Join) -> Iterator[str]:
    for one in join.predicates:
        yield f"{_value(plan, one.left)} {one.operator} {_value(plan, one.right)}"


def _ends(number: int, join: Join) -> str:
    """Between which documents a window lies, where these are not those of its neighbours."""
    if join.span is None:
        return ""
    sides = (join.span[0] + 1, number), (number + 1, join.span[1] + 1)
    blocks = (f"block {one}" if one == other else f"the latest of blocks {one} to {other}" for one, other in sides)
    return f", between {' and '.join(blocks)}"


def _value(plan: Xscl, term: Term) -> str:
    """A variable, and the functions that its value goes through."""
    text = name_of(plan, term)
    for each in term.derived:
        text = f"{each.name}({', '.join([text, *(f'{one:g}' for one in each.arguments)])})"
    return text


def name_of(plan: Xscl, term: Term) -> str:
    """What a variable is called; one without a name by its place."""
    name = plan.blocks[term.block].variables[term.variable].name
    return f"${name}" if name else f"#{term.block + 1}.{term.variable + 1}"


def show_window(window: Window) -> str:
    """A window in words."""
    if (length := window.nanoseconds) is not None:
        unit, name = next((each for each in _UNITS if length and length % each[0] == 0), _SECOND)
        return f"{Decimal(length) / unit:f} {name}{'' if length == unit else 's'}"
    return "any time" if window.documents is None else f"{window.documents} documents"
