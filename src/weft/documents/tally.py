"""What a document has so far in; the reason to reject it out as soon as it is more than the limits allow."""

from __future__ import annotations

from weft.documents.document import Limits
from weft.documents.tags import too_many_attributes


class Tally:
    """Depth, attributes and nodes of one document while it is read."""

    __slots__ = ("_depth", "_limits", "_nodes")

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._depth = self._nodes = 0

    def start(self, attributes: int) -> str | None:
        """An element begins, with so many attributes and namespace declarations."""
        limits = self._limits
        self._depth += 1
        self._nodes += 1 + attributes
        if self._depth > limits.max_depth:
            return f"nested deeper than {limits.max_depth}"
        if attributes > limits.max_attributes:
            return too_many_attributes(attributes, limits)
        return self._too_many_nodes() if self._nodes > limits.max_nodes else None

    def end(self) -> None:
        """An element ends."""
        self._depth -= 1

    def text(self) -> str | None:
        """A text begins."""
        self._nodes += 1
        return self._too_many_nodes() if self._nodes > self._limits.max_nodes else None

    def _too_many_nodes(self) -> str:
        return f"more than {self._limits.max_nodes} nodes"
