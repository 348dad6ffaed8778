"""What one label test says about another: whether the names that pass it pass the other too, or none of them does."""

from __future__ import annotations

from weft.plans.names import passes
from weft.plans.plan import Label, Unlike


def is_name(label: Label) -> bool:
    """Whether one name alone passes."""
    return isinstance(label, str) and not label.startswith("*") and not label.endswith("}*")


def label_implies(narrow: Label, wide: Label) -> bool:
    """Whether every name that passes the narrow label test passes the wide one.

    >>> label_implies("{urn:p}a", "*:a"), label_implies("a", Unlike(("b",))), label_implies("*", "a")
    (True, True, False)
    """
    if wide in ("*", narrow):
        return True
    if isinstance(wide, Unlike):
        return all(labels_apart(narrow, each) for each in wide.labels)
    return isinstance(narrow, str) and is_name(narrow) and passes(wide, narrow)


def labels_apart(one: Label, other: Label) -> bool:
    """Whether no name passes both label tests."""
    if isinstance(one, Unlike):
        return any(label_implies(other, each) for each in one.labels)
    if isinstance(other, Unlike):
        return labels_apart(other, one)
    if is_name(one):
        return one != other and not passes(other, one)
    if is_name(other):
        return not passes(one, other)
    return one != other and _form(one) == _form(other)


def _form(label: str) -> str:
    """What a label test with a wildcard leaves open: `*`, the namespace or the local name."""
    return label if label == "*" else label[:2] if label.startswith("*:") else label[-2:]
