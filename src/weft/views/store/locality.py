"""A selection in; whether what it selects in a child of the root depends on this child and the root's tag alone."""

from __future__ import annotations

from weft.documents.kind import Kind
from weft.plans.names import passes
from weft.plans.plan import (
    Always,
    And,
    Combine,
    Count,
    First,
    Has,
    Link,
    Named,
    Not,
    Or,
    Path,
    Pattern,
    Rank,
    Selection,
    Step,
    Test,
    Value,
)

# How deep a node lies at least: 0 is the document, 1 the root, 2 a child of the root. An attribute or a text counts as
# a child of the element that it is in.
_ROOT, _CHILD = 1, 2


def is_local(selection: Selection, root: str) -> bool:
    """Whether a document with such a root (an expanded name) can be searched child by child of the root.

    All that is selected lies in children of the root, and no test looks at more than a child and the root's start tag.
    False where that is not certain.

    >>> from weft.languages.xpath import parse
    >>> [is_local(parse(query), "s") for query in ("/s/a[b]", "//a", "/s/a[1]", "/s[a]/b", "//s")]
    [True, True, False, False, False]
    """
    match selection:
        case Combine(parts=parts):
            return all(is_local(part, root) for part in parts)
        case Pattern():
            depth = _pattern_depth(selection, root)
            # What the root has right inside, attributes and texts, belongs to no child of it.
            is_element = selection.path[-1].kind is Kind.ELEMENT if selection.path else True
            return depth is not None and depth >= (_CHILD if is_element else _CHILD + 1)


def _pattern_depth(pattern: Pattern, root: str) -> int | None:
    """How deep its nodes lie at least; None where a test on the way looks at too much."""
    above = 0 if pattern.parent is None else _pattern_depth(pattern.parent, root)
    if above is None:
        return None
    depth = _depth(pattern.path, above, root)
    return depth if pattern.test is None or _is_test_local(pattern.test, depth) else None


def _depth(path: Path, depth: int, root: str | None = None) -> int:
    """How deep nodes at the end of a path lie at least, from nodes that do so."""
    for step in path:
        if step.kind is not Kind.ELEMENT:
            depth = max(depth, _ROOT) + 1  # also of the node itself, or of the root where there is none
        elif depth == 0 and step.deep and root is not None and not passes(step.label, root):
            depth = _CHILD
        else:
            depth += 1
    return depth


def _is_test_local(test: Test, depth: int) -> bool:
    """Whether a test on nodes this deep looks at no more than the child of the root that they are in."""
    match test:
        case Named() | Always():
            return True
        case And(tests) | Or(tests):
            return all(_is_test_local(part, depth) for part in tests)
        case Not(inner):
            return _is_test_local(inner, depth)
        case Rank(before=before):
            return depth > _CHILD and (before is None or _is_test_local(before, depth))
        case Has(path=(Step(kind=Kind.ATTRIBUTE, deep=False),), test=inner):
            # The root's own attributes are in its tag.
            return inner is None or isinstance(inner, Value) or (depth >= _CHILD and _is_test_local(inner, depth + 1))
        case Has(path=path, test=inner):
            return depth >= _CHILD and (inner is None or _is_test_local(inner, _depth(path, depth)))
        case Value():
            return depth >= _CHILD
        case First(links=links) | Count(links=links):
            return depth >= _CHILD and _are_links_local(links, depth)
        case _:
            return False


def _are_links_local(links: tuple[Link, ...], depth: int) -> bool:
    for link in links:
        depth = _depth(link.path, depth)
        if link.test is not None and not _is_test_local(link.test, depth):
            return False
    return True
