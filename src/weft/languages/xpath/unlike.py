"""A step and its predicates in, the same step with names that it leaves out in its label test out."""

from __future__ import annotations

from weft.documents.kind import Kind
from weft.plans.plan import And, Named, Not, Step, Test, Unlike


def fold_unlike(step: Step, tests: list[Test]) -> Step:
    """`*[not(self::a or self::b)]` is a label test of its own; the test that it replaces is taken out."""
    if step.label != "*" or step.kind is not Kind.ELEMENT or not tests:
        return step
    parts = tests[0].tests if isinstance(tests[0], And) else (tests[0],)
    labels = [part.test.label for part in parts if isinstance(part, Not) and isinstance(part.test, Named)]
    names = tuple(sorted(label for label in labels if isinstance(label, str)))
    if len(names) != len(parts) or "*" in names:
        return step
    del tests[0]
    return Step(Unlike(names), step.deep)
