"""Items in, single values out; and single values written, cast, and read as truth values, as XQuery does it."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from itertools import chain

from weft.engine.expressions.items import (
    BuiltNode,
    Dated,
    DynamicError,
    Item,
    Items,
    SingleValue,
    TreeNode,
    Untyped,
    is_node,
)
from weft.engine.expressions.scope import Run, tree_node
from weft.plans.instants import instant
from weft.plans.numbers import double

_DECIMAL = re.compile(r"[ \t\r\n]*[+-]?(?:\d+(?:\.\d*)?|\.\d+)[ \t\r\n]*", re.ASCII)
_INTEGER = re.compile(r"[ \t\r\n]*[+-]?\d+[ \t\r\n]*", re.ASCII)
_NOT_A_NUMBER = ("NaN", "INF", "-INF", "+INF")
_TRUTHS = {"true": True, "1": True, "false": False, "0": False}
_MOST_DIGITS = 300  # of a number: more are not exact to anybody's use, and cost as much as one likes
Numeric = int | Decimal | float


def atoms(items: Items, run: Run) -> list[SingleValue]:
    """The single values of items."""
    if len(items) == 1:
        return [atom(items[0], run)]
    run.spend(len(items))
    return [atom(item, run) for item in items]


def atom(item: Item, run: Run) -> SingleValue:
    """The single value of an item: nodes have what they contain."""
    if isinstance(item, TreeNode):
        return Untyped(item.value)
    if isinstance(item, BuiltNode):
        if item.kind in ("element", "document"):
            return Untyped(tree_node(item, run).value)
        return item.text if item.kind in ("comment", "instruction") else Untyped(item.text)
    return item


def at_most_one(items: Items, run: Run, what: str) -> SingleValue | None:
    """The single value of a sequence; nothing where it is empty."""
    if not items:
        return None
    if len(items) > 1:
        raise DynamicError(f"{what}: expected one item at most, found {len(items)}")
    return atom(items[0], run)


def is_number(single: object) -> bool:
    """Whether a value is a number."""
    return isinstance(single, int | Decimal | float) and not isinstance(single, bool)


def type_of(single: Item) -> str:
    """The name of a value's type."""
    match single:
        case Untyped():
            return "untypedAtomic"
        case str():
            return "string"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case Decimal():
            return "decimal"
        case float():
            return "double"
        case Dated(found, _):
            return found.type
        case _:
            return "node"


def truth(items: Items) -> bool:
    """The effective boolean value of a sequence."""
    if not items:
        return False
    first = items[0]
    if is_node(first):
        return True
    if len(items) > 1:
        raise DynamicError(f"a truth value: expected one item, found {len(items)}")
    if isinstance(first, Dated):
        raise DynamicError(f"a truth value: found a value of xs:{first.instant.type}")
    return not math.isnan(first) and bool(first) if isinstance(first, float) else bool(first)


# -- texts


def text_of(single: SingleValue) -> str:
    """A value as it is written."""
    match single:
        case str():
            return str(single)
        case bool():
            return "true" if single else "false"
        case int():
            return str(single)
        case Decimal():
            return _written_decimal(single)
        case float():
            return _written_double(single)
        case Dated(_, text):
            return text


def string_of(items: Items, run: Run, what: str) -> str:
    """A sequence of at most one item as a text."""
    single = at_most_one(items, run, what)
    return "" if single is None else text_of(single)


def text_argument(items: Items, run: Run, what: str) -> str:
    """What a function takes as a text: nothing but texts, and what has no type."""
    single = at_most_one(items, run, what)
    if single is None:
        return ""
    if not isinstance(single, str):
        raise DynamicError(f"{what}: expected a string, found a value of xs:{type_of(single)}")
    return str(single)


def joined_text(items: Items, run: Run) -> str:
    """Values with a space between them."""
    return " ".join(text_of(single) for single in atoms(items, run))


def _written_decimal(number: Decimal) -> str:
    text = format(number, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def _written_double(number: float) -> str:
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "INF" if number > 0 else "-INF"
    if number == 0:
        return "-0" if math.copysign(1, number) < 0 else "0"
    if 1e-6 <= abs(number) < 1e6:
        return _written_decimal(Decimal(repr(number)))
    sign, digits, exponent = Decimal(repr(number)).normalize().as_tuple()
    assert isinstance(exponent, int)
    rest = "".join(map(str, digits[1:])) or "0"
    return f"{'-' if sign else ''}{digits[0]}.{rest}E{exponent + len(digits) - 1}"


# -- casts


def cast(single: SingleValue, wanted: str) -> SingleValue:
    """A value of another type; raises DynamicError where it has none there."""
    found = _cast(single, wanted)
    if found is None:
        raise DynamicError(f"expected a value that is an xs:{wanted}, found {text_of(single)[:60]!r}")
    return found


def castable(single: SingleValue, wanted: str) -> bool:
    """Whether a value can be cast."""
    try:
        return _cast(single, wanted) is not None
    except DynamicError:
        return False


def _cast(single: SingleValue, wanted: str) -> SingleValue | None:
    if type_of(single) == wanted or wanted == "anyAtomicType":
        return single
    match wanted:
        case "string":
            return text_of(single)
        case "untypedAtomic":
            return Untyped(text_of(single))
        case "boolean":
            return _cast_to_boolean(single)
        case "integer" | "decimal" | "double":
            return _cast_to_number(single, wanted)
        case "date" | "dateTime" | "time":
            return _cast_to_date(single, wanted)
        case _:
            return None


def _cast_to_boolean(single: SingleValue) -> bool | None:
    if isinstance(single, str):
        return _TRUTHS.get(single.strip(" \t\r\n"))
    if isinstance(single, float):
        return not math.isnan(single) and bool(single)
    return bool(single) if isinstance(single, int | Decimal) else None


def _cast_to_number(single: SingleValue, wanted: str) -> Numeric | None:
    if isinstance(single, str):
        return _read_number(single, wanted)
    if isinstance(single, Dated):
        return None
    if wanted == "double":
        return float(single)
    if isinstance(single, float) and not math.isfinite(single):
        return None
    if wanted == "integer":
        return int(single)
    return Decimal(single)


def _read_number(text: str, wanted: str) -> Numeric | None:
    if len(text) > _MOST_DIGITS and wanted != "double":
        raise DynamicError(f"a number of {len(text)} characters")
    if wanted == "double":
        number = double(text)
        return number if not math.isnan(number) or text.strip(" \t\r\n") == "NaN" else None
    if wanted == "integer":
        return int(text) if _INTEGER.fullmatch(text) else None
    return Decimal(text.strip(" \t\r\n")) if _DECIMAL.fullmatch(text) else None


def _cast_to_date(single: SingleValue, wanted: str) -> Dated | None:
    if isinstance(single, Dated):
        if single.instant.type != "dateTime":
            return None
        raise DynamicError(f"a cast from xs:dateTime to xs:{wanted}: it is not supported here")
    if not isinstance(single, str):
        return None
    found = instant(single)
    return Dated(found, single.strip(" \t\r\n")) if found is not None and found.type == wanted else None


def number_or_nan(items: Items, run: Run) -> float:
    """What number() gives: NaN for what is none."""
    single = at_most_one(items, run, "number()")
    if single is None or isinstance(single, Dated):
        return math.nan
    found = _cast_to_number(single, "double")
    return math.nan if found is None else float(found)


def as_number(single: SingleValue, what: str) -> Numeric:
    """A number for arithmetic: what has no type is read as a double."""
    if isinstance(single, Untyped):
        return cast(single, "double")  # type: ignore[return-value]
    if not is_number(single):
        raise DynamicError(f"{what}: expected a number, found a value of xs:{type_of(single)}")
    return single  # type: ignore[return-value]


def key_of(single: SingleValue) -> tuple[str, object]:
    """Equal for values that distinct-values() and `group by` take for one."""
    match single:
        case str():
            return "text", str(single)
        case bool():
            return "truth", single
        case float() if math.isnan(single):
            return "NaN", None
        case int() | Decimal() | float():
            return "number", single
        case Dated(found, _):
            return found.type, (found.seconds, found.fraction)


def flat(parts: list[Items]) -> Items:
    """Sequences one behind the other."""
    return list(chain.from_iterable(parts))
