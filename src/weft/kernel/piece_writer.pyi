"""Recipes, groups and nodes in, messages of constants and copies out, one behind the other."""

from weft.columns.integers import Ints, Longs
from weft.kernel.stretches import Stretches

class PieceWriter:
    """Writes the messages of one batch."""

    def __init__(
        self,
        pieces: tuple[Longs, Ints],
        constants: list[bytes],
        lists: tuple[Longs, Longs, Longs],
        nodes: Ints,
        stretches: Stretches,
    ) -> None: ...
    def sizes(self, recipes: Ints, begins: Longs, groups: Longs) -> Longs: ...
    def joined(self, recipes: Ints, begins: Longs, groups: Longs, size: int) -> bytearray: ...
    def strings(self, recipes: Ints, begins: Longs, groups: Longs, most: int) -> list[str]: ...
