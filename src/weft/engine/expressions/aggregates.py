"""Functions that make one value of many, and those on numbers and truth values."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from functools import reduce

from weft.engine.expressions.atomics import (
    Numeric,
    as_number,
    at_most_one,
    atoms,
    cast,
    is_number,
    number_or_nan,
    truth,
    type_of,
)
from weft.engine.expressions.calculating import calculate
from weft.engine.expressions.comparing import single_stands
from weft.engine.expressions.items import Dated, DynamicError, Items, SingleValue, Untyped
from weft.engine.expressions.scope import Run

_MOST_PLACES = 1_000


def _count(_: Run, items: Items) -> Items:
    return [len(items)]


def _sum(run: Run, items: Items, zero: Items | None = None) -> Items:
    numbers = [as_number(single, "sum()") for single in atoms(items, run)]
    if not numbers:
        return [0] if zero is None else zero
    return [reduce(lambda one, other: calculate("+", one, other), numbers)]


def _avg(run: Run, items: Items) -> Items:
    numbers = [as_number(single, "avg()") for single in atoms(items, run)]
    if not numbers:
        return []
    total = reduce(lambda one, other: calculate("+", one, other), numbers)
    return [calculate("div", total, len(numbers))]


def _extreme(name: str, operator: str) -> Callable[[Run, Items], Items]:
    def extreme(run: Run, items: Items) -> Items:
        singles = [cast(each, "double") if isinstance(each, Untyped) else each for each in atoms(items, run)]
        if not singles:
            return []
        if all(map(is_number, singles)) and any(isinstance(each, float) for each in singles):
            singles = [cast(each, "double") for each in singles]
            if any(math.isnan(each) for each in singles):  # type: ignore[arg-type]
                return [math.nan]
        found: SingleValue = singles[0]
        for each in singles:
            if isinstance(each, Dated) or is_number(each) or isinstance(each, str | bool):
                found = each if single_stands(operator, each, found) else found
        return [found]

    extreme.__name__ = name
    return extreme


# -- numbers


def _one_number(run: Run, items: Items, name: str) -> Numeric | None:
    single = at_most_one(items, run, f"{name}()")
    return None if single is None else as_number(single, f"{name}()")


def _rounded(name: str, rounding: str, of_double: Callable[[float], float]) -> Callable[[Run, Items], Items]:
    def rounded(run: Run, items: Items) -> Items:
        number = _one_number(run, items, name)
        match number:
            case None:
                return []
            case float():
                if not math.isfinite(number):
                    return [number]
                return [math.copysign(of_double(number), number)]
            case Decimal():
                whole: Decimal = number.to_integral_value(rounding)
                return [whole]
            case _:
                return [number]

    return rounded


def _round(run: Run, items: Items, places: Items | None = None) -> Items:
    """Halves go up; with places so many digits are kept behind the point."""
    number = _one_number(run, items, "round")
    kept = 0 if places is None else at_most_one(places, run, "round()")
    if number is None:
        return []
    if not isinstance(kept, int) or abs(kept) > _MOST_PLACES:
        raise DynamicError("round(): expected a whole number of places")
    if isinstance(number, float):
        if not math.isfinite(number) or number == 0:
            return [number]
        found = _half_up(Decimal(repr(number)), kept)
        return [math.copysign(float(found), number)]
    if isinstance(number, int):
        return [int(_half_up(Decimal(number), kept))] if kept < 0 else [number]
    return [_half_up(number, kept)]


def _half_up(number: Decimal, places: int) -> Decimal:
    scaled = number.scaleb(places) + Decimal("0.5")
    return scaled.to_integral_value(ROUND_FLOOR).scaleb(-places)


def _abs(run: Run, items: Items) -> Items:
    number = _one_number(run, items, "abs")
    if number is None:
        return []
    if isinstance(number, float):
        return [math.fabs(number)]
    return [-number if number < 0 else number]


def _number(run: Run, items: Items) -> Items:
    return [number_or_nan(items, run)]


# -- truth values


def _part_of_date(name: str, index: int) -> Callable[[Run, Items], Items]:
    def part(run: Run, items: Items) -> Items:
        given = at_most_one(items, run, f"{name}()")
        if given is None:
            return []
        single = cast(given, "date") if isinstance(given, Untyped) else given
        if not isinstance(single, Dated) or single.instant.type != "date":
            raise DynamicError(f"{name}(): expected a date, found a value of xs:{type_of(single)}")
        text = single.text
        sign, digits = (-1, text[1:]) if text.startswith("-") else (1, text)
        parts = digits.split("-")
        found: Items = [int(parts[index][:2])] if index else [sign * int(parts[0])]
        return found

    return part


AGGREGATES: dict[str, Callable[..., Items]] = {
    "count": _count,
    "sum": _sum,
    "avg": _avg,
    "min": _extreme("min", "<"),
    "max": _extreme("max", ">"),
    "floor": _rounded("floor", ROUND_FLOOR, math.floor),
    "ceiling": _rounded("ceiling", ROUND_CEILING, math.ceil),
    "round": _round,
    "abs": _abs,
    "number": _number,
    "exists": lambda _, items: [bool(items)],
    "empty": lambda _, items: [not items],
    "not": lambda _, items: [not truth(items)],
    "boolean": lambda _, items: [truth(items)],
    "true": lambda _: [True],
    "false": lambda _: [False],
    "year-from-date": _part_of_date("year-from-date", 0),
    "month-from-date": _part_of_date("month-from-date", 1),
    "day-from-date": _part_of_date("day-from-date", 2),
}
