"""A plan in, its stages out: the same plan cut off after each step and each condition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from weft.plans.plan import And, Combine, Pattern, Selection, Test, conjunction
from weft.plans.show import show_path, show_test


@dataclass(frozen=True, slots=True)
class Stage:
    """A plan that does the query as far as `shown`."""

    plan: Selection
    shown: str

    def text(self, namespaces: Mapping[str, str]) -> str:
        """As the query might write it: with its own prefixes again."""
        text = self.shown
        for prefix, uri in namespaces.items():
            text = text.replace(f"{{{uri}}}", f"{prefix}:" if prefix else "")
        return text


def stages(plan: Selection, indent: str = "") -> list[Stage]:
    """All stages, the last of which is the whole plan; of a set operation its parts, then all together.

    >>> from weft.plans.plan import Step
    >>> [stage.shown for stage in stages(Pattern(None, (Step("a"), Step("b", deep=True))))]
    ['/a', '/a//b']
    """
    match plan:
        case Combine(operator, parts):
            inside = [stage for part in parts for stage in stages(part, indent + "  ")]
            return [*inside, Stage(plan, indent + operator)]
        case Pattern(parent, path, test):
            above = stages(parent, indent) if parent else []
            before = indent + _path_to(parent)
            cuts = [path[:end] for end in range(1, len(path) + 1)]
            steps = [Stage(Pattern(parent, cut), before + show_path(cut)) for cut in cuts]
            tests = test.tests if isinstance(test, And) else (test,) if test else ()
            return [*above, *steps, *_conditions(plan, tests, indent + "    ")]


def _conditions(pattern: Pattern, tests: tuple[Test, ...], indent: str) -> list[Stage]:
    return [
        Stage(Pattern(pattern.parent, pattern.path, conjunction(list(tests[:end]))), show_test(tests[end - 1], indent))
        for end in range(1, len(tests) + 1)
    ]


def _path_to(pattern: Pattern | None) -> str:
    return _path_to(pattern.parent) + show_path(pattern.path) if pattern else ""
