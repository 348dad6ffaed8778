"""All paths in one automaton, as columns: what a run over label paths steps along."""

from weft.columns.integers import Ints

class StateTable:
    """The states and edges; never changed."""

    def __init__(self, star: Ints, loop: Ints, symbol_start: Ints, sources: Ints, targets: Ints) -> None: ...
    def index(self, number: int) -> bool: ...
