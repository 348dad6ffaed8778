"""Stretches of bytes in, the same as strings or one behind the other out."""

from collections.abc import Sequence

from weft.columns.integers import Flags, Ints, Longs

def element_ends(sources: Sequence[bytes], document: Ints, end: Longs, is_childless: Flags) -> Longs: ...

class Stretches:
    """Stretches of buffers by number, each with what is put into it at a place."""

    def __init__(
        self,
        buffers: list[bytes],
        columns: tuple[Ints, Longs, Longs],
        inserted: tuple[Ints, Longs],
        insertions: list[bytes],
    ) -> None: ...
    def sizes(self, numbers: Ints) -> Longs: ...
    def strings(self, numbers: Ints) -> list[str]: ...
    def joined(self, numbers: Ints) -> tuple[bytearray, Longs]: ...
