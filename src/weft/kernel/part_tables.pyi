"""Constants that values have at their start, at their end or inside."""

class PartTables:
    """The constants of tests on parts of texts; never changed."""

    def __init__(self, operators: list[int], constants: list[bytes]) -> None: ...
