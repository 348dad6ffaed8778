"""How a query is answered from views: whose rows, put together how, and what is still to be applied to them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from weft.documents.kind import Kind
from weft.plans.plan import Link, Path, Pattern, Selection, Test
from weft.plans.write import write_links, write_xpath


@dataclass(frozen=True, slots=True)
class StoredView:
    """A view whose rows are stored: its name, and what it selects."""

    name: str
    selection: Selection


@dataclass(frozen=True, slots=True)
class Compensation:
    """What is applied to rows: a condition on their own paths, one on their nodes, and a way to the answer below them.

    What is None, or empty, is not needed: with nothing at all the rows are the answer.
    """

    path: Path | None
    test: Test | None
    links: tuple[Link, ...]
    kind: Kind = Kind.ELEMENT  # of the rows that pass

    @property
    def is_identity(self) -> bool:
        """Whether the rows are the answer as they are."""
        return self.path is None and not self.needs_fragments

    @property
    def needs_fragments(self) -> bool:
        """Whether fragments have to be read."""
        return self.test is not None or bool(self.links)

    def show(self) -> str:
        """As XPath from a row's node.

        >>> from weft.plans.plan import Step
        >>> Compensation((Step("s1"), Step("A")), None, (Link((Step("a"),)),)).show()
        'a where the path is /s1/A'
        """
        here = (Link((), self.test),) if self.test is not None else ()
        written = write_links([*here, *self.links])
        return f"{written} where the path is {write_xpath(Pattern(None, self.path))[0]}" if self.path else written


@dataclass(frozen=True, slots=True)
class ViewRows:
    """The rows of one view."""

    view: str


@dataclass(frozen=True, slots=True)
class MergedRows:
    """Rows of several put together by their references."""

    operator: Literal["union", "intersect", "except"]
    parts: tuple[RowsPlan, ...]


@dataclass(frozen=True, slots=True)
class CompensatedRows:
    """What a compensation makes of rows."""

    rows: RowsPlan
    compensation: Compensation


RowsPlan = ViewRows | MergedRows | CompensatedRows


@dataclass(frozen=True, slots=True)
class Rewriting:
    """A query as it is answered from views."""

    plan: RowsPlan

    @property
    def views(self) -> tuple[str, ...]:
        """The views that are used, each once."""
        return tuple(dict.fromkeys(_views(self.plan)))

    def show(self) -> str:
        """For people, one line for each part."""
        return "\n".join(f"{'  ' * depth}{text}" for depth, text in _lines(self.plan, 0))


def _views(plan: RowsPlan) -> Iterator[str]:
    match plan:
        case ViewRows(view):
            yield view
        case MergedRows(_, parts):
            for part in parts:
                yield from _views(part)
        case CompensatedRows(rows, _):
            yield from _views(rows)


def _lines(plan: RowsPlan, depth: int) -> Iterator[tuple[int, str]]:
    match plan:
        case ViewRows(view):
            yield depth, f"view {view}"
        case MergedRows(operator, parts):
            yield depth, operator
            for part in parts:
                yield from _lines(part, depth + 1)
        case CompensatedRows(rows, compensation):
            yield depth, f"compensation {compensation.show()}"
            yield from _lines(rows, depth + 1)
