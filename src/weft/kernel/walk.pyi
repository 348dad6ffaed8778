"""The views of headers, followed along documents without Python."""

from collections.abc import Sequence

from weft.columns.integers import Ints, Longs

Column = Ints | Sequence[int]

def follow(
    automaton: tuple[Column, Column, Column, Column, Column, Column],
    width: int,
    table: tuple[Ints, Ints, Ints, Ints],
    bounds: Ints,
    states: Ints,
    nodes: Ints,
    document: int,
    at: int,
    /,
) -> tuple[int, int] | None:
    """Follow an automaton along the nodes of documents, from a document and a node in it on (0: its first one).

    Returns the document and the node where it must be told more, or None.

    `automaton`: for each state the states behind `width` classes of names (below 0: not known; 0 is dead, 1 the start);
    where the paths that end in a state begin, and the paths; the classes of element names, of attribute names, and the
    one of texts. `table`: parent, last, name and attribute_name. `bounds`: six for each document, from which to before
    which node its elements, attributes and texts lie. `states` has an entry, zero at first, for each element of the
    table, and `nodes` for each document one for each path: the node that it leads to, -1 (at first) for none, -2 for
    several.
    """

def follow_paths(
    automaton: tuple[Column, Column, Column, Column, Column, Column],
    width: int,
    paths: tuple[Ints, Ints],
    found: tuple[Ints, Ints, Longs],
    documents: list[int],
    states: Column,
    entries: Longs,
    row: int,
    at: int,
    /,
) -> tuple[int, int] | None:
    """Follow an automaton along the paths of names of documents, from a row of these on and `at` in it (0: its first).

    Returns the row and where in `found` it must be told more, or None.

    `automaton` and `width`: as of `follow`. `paths`: parent and code of each path of names. `found`: the paths that
    documents have, where each one's begin, and the offset of the one node of each, or -2. `documents`: which of them
    are asked for. `states` has an entry for each path of names, -1 at first; `entries` are filled, for each of these
    documents one for each path of the automaton: the offset of the node that it leads to, -1 for none, -2 for several.
    """
