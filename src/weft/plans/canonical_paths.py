"""A plan in, the same plan with canonical paths out: a `//` that can lead one way only is written out.

`figure//image` becomes `figure/image` where the DTD has one path from figure to image; so queries that mean the same
share the same path.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, cast

from weft.documents.dtd import Dtd
from weft.documents.kind import Kind
from weft.plans.flwr import Flwr, Slot, Variable
from weft.plans.plan import Link, Path, Pattern, Step, Test

Rewritten = TypeVar("Rewritten")


def canonical_path(path: Path, above: str | None, dtd: Dtd) -> Path:
    """The path with its superfluous `//`s written out; `above` is the element it starts from, "" the document."""
    steps: list[Step] = []
    for step in path:
        way = _only_way(above, step, dtd)
        steps += [Step(name) for name in way] if way else [step]
        above = step.label if isinstance(step.label, str) and step.label in dtd else None
    return tuple(steps) if len(steps) != len(path) or any(a != b for a, b in zip(steps, path, strict=True)) else path


def _only_way(above: str | None, step: Step, dtd: Dtd) -> tuple[str, ...] | None:
    name = step.label
    if not step.deep or above is None or step.kind is not Kind.ELEMENT or name not in dtd:
        return None
    assert isinstance(name, str)
    if above:
        return dtd.single_path(above, name)
    if name == dtd.root:
        return None if dtd.on_loop(name) else (name,)
    way = dtd.single_path(dtd.root, name)
    return (dtd.root, *way) if way and not dtd.on_loop(dtd.root) else None


def canonical_paths(plan: Rewritten, dtd: Dtd | None) -> Rewritten:
    """A pattern or FLWR plan with canonical paths; the same object if nothing changes."""
    if dtd is None:
        return plan
    if isinstance(plan, Flwr):
        return cast(Rewritten, _flwr(plan, dtd))
    if isinstance(plan, Pattern):
        return cast(Rewritten, _pattern(plan, dtd)[0])
    return plan


def _flwr(plan: Flwr, dtd: Dtd) -> Flwr:
    ends: list[str | None] = []
    variables: list[Variable] = []
    for variable in plan.variables:
        above = "" if variable.source is None else ends[variable.source]
        links, end = _links(variable.links, above, dtd)
        ends.append(end)
        variables.append(replace(variable, links=links, where=_test(variable.where, end, dtd)))
    changed = replace(plan, variables=tuple(variables))
    changed = _slots(changed, ends, dtd)
    return plan if changed == plan else changed


def _slots(plan: Any, ends: list[str | None], dtd: Dtd) -> Any:
    """Slots lie anywhere in the construction and the order; all else stays."""
    if isinstance(plan, Slot):
        return replace(plan, links=_links(plan.links, ends[plan.variable], dtd)[0])
    if isinstance(plan, tuple):
        return tuple(_slots(part, ends, dtd) for part in plan)
    if is_dataclass(plan) and not isinstance(plan, type | Variable):
        return replace(plan, **{field.name: _slots(getattr(plan, field.name), ends, dtd) for field in fields(plan)})
    return plan


def _pattern(pattern: Pattern, dtd: Dtd) -> tuple[Pattern, str | None]:
    parent, above = _pattern(pattern.parent, dtd) if pattern.parent else (None, "")
    (link,), end = _links((Link(pattern.path, pattern.test),), above, dtd)
    changed = Pattern(parent, link.path, link.test)
    return (pattern if changed == pattern else changed), end


def _links(links: tuple[Link, ...], above: str | None, dtd: Dtd) -> tuple[tuple[Link, ...], str | None]:
    changed = []
    for link in links:
        path = canonical_path(link.path, above, dtd)
        label = path[-1].label
        above = label if isinstance(label, str) and label in dtd else None
        changed.append(Link(path, _test(link.test, above, dtd)))
    return tuple(changed), above


def _test(test: Test | None, above: str | None, dtd: Dtd) -> Test | None:
    """The paths in a test, whatever it is made of."""
    return cast("Test | None", _inside(test, above, dtd))


def _inside(part: Any, above: str | None, dtd: Dtd) -> Any:
    if isinstance(part, tuple) and part and isinstance(part[0], Link):
        return _links(part, above, dtd)[0]
    if isinstance(part, tuple) and part and isinstance(part[0], Step):
        return canonical_path(part, above, dtd)
    if isinstance(part, tuple):
        return tuple(_inside(entry, above, dtd) for entry in part)
    if is_dataclass(part) and not isinstance(part, type):
        below = _end_of(part, above, dtd)
        values = {field.name: getattr(part, field.name) for field in fields(part)}
        return replace(
            part, **{name: _inside(value, above if name != "test" else below, dtd) for name, value in values.items()}
        )
    return part


def _end_of(part: Any, above: str | None, dtd: Dtd) -> str | None:
    """The element that a test's own path ends at, for the test below it."""
    path: Path = getattr(part, "path", ())
    if not path:
        return above
    label = path[-1].label
    return label if isinstance(label, str) and label in dtd else None
