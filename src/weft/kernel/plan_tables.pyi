"""A shared plan as columns, for the compiled evaluation."""

from collections.abc import Iterator
from typing import Any

class PlanTables:
    """The nodes and edges of a shared plan; never changed."""

    def __init__(self, columns: dict[str, Any]) -> None: ...
    def mask(self, number: int) -> Iterator[None]: ...
