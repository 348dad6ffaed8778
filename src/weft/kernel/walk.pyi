"""The views of headers, followed along a document without Python."""

from collections.abc import Sequence

from weft.columns.integers import Ints

Column = Ints | Sequence[int]

def follow(
    automaton: tuple[Column, Column, Column, Column, Column, Column],
    width: int,
    table: tuple[Ints, Ints, Ints, Ints],
    bounds: tuple[int, int, int, int, int, int],
    states: Ints,
    nodes: Ints,
    at: int,
    /,
) -> int:
    """Follow an automaton along the nodes of a document, from `at` on; returns where it must be told more, or -1.

    `automaton`: for each state the states behind `width` classes of names (below 0: not known; 0 is dead, 1 the start);
    where the paths that end in a state begin, and the paths; the classes of element names, of attribute names, and the
    one of texts. `table`: parent, last, name and attribute_name. `bounds`: from which to before which node the
    document's elements, attributes and texts lie. `states` has an entry, zero at first, for each of the elements, and
    `nodes` one for each path: the node that it leads to, -1 (at first) for none, -2 for several.
    """
