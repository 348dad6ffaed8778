"""XSCL texts that differ in a constant alone in, their plans out: the text is read once, then constants are put in.

Subscriptions are often one text with another name in it for each subscriber. Only what is certain is dealt with: one
string that something is compared with by `=`; and a plan is made from another only if its constant stands in one place.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import fields, is_dataclass, replace
from typing import Any

from weft.plans.plan import Value
from weft.plans.xscl import Xscl

#: `= 'text'` with nothing in it that anybody would read as anything else, at the end of a condition.
_CONSTANT = re.compile(r"=\s*(?P<quote>['\"])(?P<text>[\w.:/@+-]+(?: [\w.:/@+-]+)*)(?P=quote)\s*\]")
_KEPT = 256  # texts that are remembered

#: The way to a place in a plan: names of fields and places in tuples.
_PlanWay = tuple[str | int, ...]


class TextTemplates:
    """Plans of texts that were read, by all of the text but its constant."""

    def __init__(self) -> None:
        self._known: OrderedDict[Hashable, tuple[Xscl, _PlanWay]] = OrderedDict()

    def plan(self, query: str, context: Hashable, read: Callable[[], tuple[Xscl, bool]]) -> Xscl:
        """The plan of a query; `read` reads the text, and says whether there is nothing to warn of."""
        found = None if "SELECT" in query or "(:" in query else list(_CONSTANT.finditer(query))
        if (
            found is None
            or len(found) != 1
            or "'" in query.replace(found[0][0], "")
            or '"' in query[: found[0].start()]
        ):
            return read()[0]
        start, end = found[0].span("text")
        key = query[:start], query[end:], context
        known = self._known.get(key)
        if known is not None:
            self._known.move_to_end(key)
            plan, way = known
            made: Xscl = _put(plan, way, found[0]["text"])
            return made
        plan, is_calm = read()
        ways = list(_ways(plan, found[0]["text"], ()))
        if is_calm and len(ways) == 1:
            self._known[key] = plan, ways[0]
            if len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return plan


def _ways(node: object, text: str, way: _PlanWay) -> list[_PlanWay]:
    """The ways to all values that are compared with this text."""
    if isinstance(node, Value):
        return [(*way, "constant")] if node.operator == "=" and node.constant == text else []
    if isinstance(node, tuple):
        return [found for at, each in enumerate(node) for found in _ways(each, text, (*way, at))]
    if is_dataclass(node):
        each = [(field.name, getattr(node, field.name)) for field in fields(node)]
        return [found for name, one in each for found in _ways(one, text, (*way, name))]
    return []


def _put(node: Any, way: _PlanWay, text: str) -> Any:
    """The same with another text at the end of the way."""
    if not way:
        return text
    first, rest = way[0], way[1:]
    if isinstance(first, int):
        return (*node[:first], _put(node[first], rest, text), *node[first + 1 :])
    return replace(node, **{first: _put(getattr(node, first), rest, text)})
