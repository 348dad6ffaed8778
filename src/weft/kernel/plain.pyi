"""Plain documents, scanned without Python."""

from typing import Any

class Plain:
    """A scan of plain documents into the lists of a Scan."""

    def __init__(
        self,
        events: list[Any],
        offsets: list[int],
        texts: list[str],
        attribute_events: list[int],
        attribute_names: list[str],
        attribute_values: list[str],
        namespace_events: list[int],
        namespaces: list[tuple[str | None, str | None]],
        most_depth: int,
        most_attributes: int,
        most_nodes: int,
        longest_namespace: int,
        /,
    ) -> None: ...
    def scan(self, data: bytes, /) -> bool:
        """Scan a document; False if it is not plain, and then some of its events may be in the lists."""
