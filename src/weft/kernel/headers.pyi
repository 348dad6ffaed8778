"""Headers and what stands at their offsets, without Python."""

from typing import TypeVar

from weft.columns.integers import Ints, Longs

Found = TypeVar("Found")

def unfold(data: bytes, /) -> tuple[str, int, int, int, tuple[int, ...], int, int]:
    """The fields of a header: tag, length, checksum of the document, root, entries, flags, and its own checksum.

    Raises ValueError where it is none of this version, ends too soon or late, or has an offset that is outside.
    """

def plain_values(
    source: bytes, entries: tuple[int, ...], kinds: bytes, wanted: tuple[int, ...], /
) -> tuple[str | int | None, ...]:
    """For each wanted entry the value at its offset if that is plain text, None if it must be parsed, or the reason."""

def known_values(
    header: bytes,
    source: bytes,
    tag: bytes,
    kinds: bytes,
    wanted: tuple[int, ...],
    constants: tuple[dict[str, Found], ...],
    own: int,
    checksum: int,
    /,
) -> tuple[list[str | None], list[Found]] | None:
    """For each wanted entry of a header its value, or None where it is absent, if all of them are there and plain text;
    and what the constants, a dict an entry, have for these values, where they have something.

    None where one is not, or where the header is not this tag's, or not the source's. `own` and `checksum` are what the
    header's bytes, without the last four, and the source come to; their low 32 bits count.
    """

def fold(tag: str, length: int, checksum: int, root: int, entries: tuple[int, ...] | Longs, flags: int, /) -> bytes:
    """The bytes of a header with these fields, without its own checksum."""

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
