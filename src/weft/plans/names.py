"""What names and label tests mean: a name in, the label tests that it passes out."""

from __future__ import annotations

from weft.plans.plan import Label, Unlike

TEXT_NAME = "text()"


def name_forms(name: str) -> tuple[str, ...]:
    """The label tests that a name (of an attribute: behind `@`) passes, as they are written in plans."""
    at, plain = ("@", name[1:]) if name[0] == "@" else ("", name)
    if plain[0] == "{":
        uri, _, local = plain[1:].rpartition("}")
        forms: tuple[str, ...] = (name, f"{at}*:{local}", f"{at}{{{uri}}}*")
    else:
        forms = (name, f"{at}*:{plain}")
    return (*forms, "@*") if at else forms


def passes(label: Label, name: str) -> bool:
    """Whether a name passes a label test for elements; those of attributes and texts pass none."""
    if name[0] == "@" or name == TEXT_NAME:
        return False
    if isinstance(label, Unlike):
        return not any(passes(unlike, name) for unlike in label.labels)
    return label == "*" or label in name_forms(name)
