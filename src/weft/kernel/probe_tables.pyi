"""The tests on values of a shared plan as columns, and its constants."""

from typing import Any

class ProbeTables:
    """What label paths and values bring up; never changed."""

    def __init__(self, columns: dict[str, Any], texts: list[bytes], is_ordered: bool, seed: int) -> None: ...
