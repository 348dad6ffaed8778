"""Which sources a query is for: the root element names a source, unless it was given another name."""

from __future__ import annotations

from weft.plans.names import passes
from weft.plans.plan import Combine, Pattern, Selection


def is_for(selection: Selection, root: str | None) -> bool:
    """Whether a query can select something at a source with this root element, or with any.

    >>> from weft.languages.xpath import parse
    >>> is_for(parse("/s1/a"), "s2"), is_for(parse("//a"), "s2")
    (False, True)
    """
    if root is None:
        return True
    match selection:
        case Combine("union", parts):
            return any(is_for(part, root) for part in parts)
        case Combine("intersect", parts):
            return all(is_for(part, root) for part in parts)
        case Combine(_, (first, *_)):
            return is_for(first, root)
        case Pattern(parent, path):
            if parent is not None:
                return is_for(parent, root)
            return not path or path[0].deep or passes(path[0].label, root)
    return True
