"""A path and a DTD's element graph in, what the paper's claims 1 to 5 say of its stream of path-tuples out.

A stream has one field for each step of the path and is ordered by the last. The claims are sufficient, not necessary.
"""

from __future__ import annotations

from weft.documents.dtd import Dtd
from weft.documents.kind import Kind
from weft.plans.plan import Path, Step


def no_duplicates(path: Path, dtd: Dtd | None = None) -> int | None:
    """The claim by which no node is twice in the last field; nothing where duplicates can arise."""
    if _claim_1(path):
        return 1
    return 2 if dtd is not None and _claim_2(path, dtd) else None


def no_duplicate_pairs(path: Path, field: int, dtd: Dtd | None = None) -> int | None:
    """Claim 3, for the fields `field` (a number of steps) and last: neither part of the path gives duplicates."""
    both = no_duplicates(path[:field], dtd) and no_duplicates(path[field:], dtd)
    return 3 if both else None


def is_ordered(path: Path, field: int, dtd: Dtd | None = None) -> int | None:
    """The claim by which the stream is in the order of a field (a number of steps) too."""
    if _claim_4(path, field):
        return 4
    return 5 if dtd is not None and _claim_5(path, field, dtd) else None


def _claim_1(path: Path) -> bool:
    """At most one `//`."""
    return sum(step.deep for step in path) <= 1


def _claim_2(path: Path, dtd: Dtd) -> bool:
    """None of the elements behind the `//`s but the last lies on a loop."""
    deep = [step for step in path if step.deep]
    return not any(_may_loop(step, dtd) for step in deep[:-1])


def _claim_4(path: Path, field: int) -> bool:
    """No `//` up to the field."""
    return not any(step.deep for step in path[:field])


def _claim_5(path: Path, field: int, dtd: Dtd) -> bool:
    """No element behind a `//` up to the field lies on one loop with the field's element."""
    last = path[field - 1]
    return not any(_may_share_loop(step, last, dtd) for step in path[:field] if step.deep)


def _name(step: Step, dtd: Dtd) -> str | None:
    """The one element of the DTD that a step is for, if it is known."""
    if step.kind is Kind.ELEMENT and isinstance(step.label, str) and step.label in dtd:
        return step.label
    return None


def _may_loop(step: Step, dtd: Dtd) -> bool:
    """A step for several elements may match one in another, which is as bad as a loop."""
    name = _name(step, dtd)
    return name is None or dtd.on_loop(name)


def _may_share_loop(step: Step, other: Step, dtd: Dtd) -> bool:
    name, other_name = _name(step, dtd), _name(other, dtd)
    if name is not None and other_name is not None:
        return dtd.same_loop(name, other_name)
    return True
