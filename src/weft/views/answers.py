"""What a query server answers: nodes in the order of sources and documents, how they were found, what is missing."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from weft.errors import DocumentError
from weft.views.sources.source import SourceError


@dataclass(frozen=True, slots=True)
class AnswerWay:
    """How the nodes of one source were found: from which views, or at the source; and what it took, in seconds.

    The estimate is what the source's rates make of the bytes that were asked of it, None where they are not known; or
    what the bytes of views take that were read here.
    """

    source: str
    told: str
    rows: int
    size: int
    estimated: float | None
    observed: float

    def show(self) -> str:
        """One line for people."""
        estimated = "unknown" if self.estimated is None else f"{self.estimated * 1000:.1f} ms"
        observed = f"{self.observed * 1000:.1f} ms"
        return (
            f"{self.source}: {self.told}; {self.rows} nodes, {self.size} bytes; {estimated} estimated, {observed} taken"
        )


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """The rows (see weft.views.nodes), the way of each source, and what is not in them.

    `missing` are sources that did not answer: what there is comes from the others, and from parts of the query that
    are stored. `damaged` are sources whose views could not be read, and why: they were asked instead.
    """

    rows: pa.Table
    ways: tuple[AnswerWay, ...]
    missing: tuple[SourceError, ...]
    rejected: tuple[DocumentError, ...]
    damaged: tuple[SourceError, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether every source that the query is for has answered, and all its documents could be read."""
        return not self.missing and not self.rejected

    def fragments(self) -> list[str]:
        """The nodes as XML, in order."""
        found: list[str] = self.rows["fragment"].to_pylist()
        return found

    def explain(self) -> str:
        """How the answer came about, a line for each source."""
        lines = [way.show() for way in self.ways]
        lines += [f"{error.source}: no answer: {error.reason}" for error in self.missing]
        return "\n".join(lines) or "no source is for this query: none has a root element that it asks for"
