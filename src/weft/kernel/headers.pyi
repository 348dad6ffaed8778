"""Headers, without Python."""

from typing import TypeVar

from weft.columns.integers import Longs

Found = TypeVar("Found")

def unfold(data: bytes, /) -> tuple[str, int, int, int, tuple[int, ...], int, int]:
    """The fields of a header: tag, length, checksum of the document, root, entries, flags, and its own checksum.

    Raises ValueError where it is none of this version, ends too soon or late, or has an offset that is outside.
    """

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

def fold(tag: str, length: int, checksum: int, root: int, entries: tuple[int, ...], flags: int, /) -> bytes:
    """The bytes of a header with these fields, without its own checksum."""

def fold_all(
    tag: str, documents: list[bytes], checksums: list[int], roots: list[int], entries: Longs, flags: list[int], /
) -> list[bytes]:
    """The bytes of the headers of documents, as `fold` makes each.

    Of checksums the low 32 bits count, and `entries` is a column with as many entries for each document.
    """
