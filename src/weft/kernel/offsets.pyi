"""What stands at offsets of a document, and at which offset a node begins, without Python."""

from weft.columns.integers import Ints, Longs

def plain_values(
    source: bytes, entries: tuple[int, ...], kinds: bytes, wanted: tuple[int, ...], /
) -> tuple[str | int | None, ...]:
    """For each wanted entry the value at its offset if that is plain text, None if it must be parsed, or the reason."""

def find_attribute(source: bytes, start: int, name: bytes, /) -> int:
    """The offset of an attribute, by its name as written, in the start tag at an offset; -1 where there is none."""

def find_text(source: bytes, start: int, /) -> int:
    """The offset of a text that begins right behind the start tag at an offset; -1 where something else stands."""

def place_nodes(
    sources: list[bytes], nodes: Ints, table: tuple[Longs, Ints, Ints, Ints], tags: list[str], offsets: Longs, /
) -> int:
    """Put the offsets of nodes into `offsets`, -4 where one is not found; returns how many are not.

    `sources` are documents, each of which has as many of the nodes as the others. `table` has the columns start,
    parent, attribute_tag and text_first, `tags` the names as written. A node below 0 is a reason, and stays.
    """
