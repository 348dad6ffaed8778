"""The tests on values of a shared plan as columns, and its constants."""

from typing import Any

from weft.kernel.part_tables import PartTables

class ProbeTables:
    """What label paths and values bring up; never changed."""

    def __init__(self, columns: dict[str, Any], texts: list[bytes], is_ordered: bool, parts: PartTables) -> None: ...
