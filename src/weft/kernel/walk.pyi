"""Label paths and states, looked up without Python."""

from weft.columns.integers import Ints

def walk(children: dict[int, int], parents: Ints, names: Ints, labels: Ints, row: int, /) -> int:
    """Look up the label path of each row from `row` on, until one is new; returns that row, or the number of rows.

    `labels` has an entry more than there are rows, the last one for the parent of roots; a name below 0 has no path.
    """

def follow(steps: Ints, width: int, parents: Ints, names: Ints, states: Ints, row: int, /) -> int:
    """Find the state of each row from `row` on, until a step to it is not known; returns that row, or their number.

    `steps` has for each state `width` states, one a name, below 0 where not known; no step leads out of state 0.
    `states` has an entry more than there are rows, the last one for the parent of roots.
    """
