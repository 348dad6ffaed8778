"""Documents cut into regions."""

from typing import SupportsIndex

def cut(data: bytes, begin: SupportsIndex, usual: SupportsIndex, /) -> tuple[bytes, bytes, int, int] | None:
    """Where regions of about the usual size begin and their hashes, as bytes of 64-bit integers; where the root's end
    tag begins; and how many nodes there are at most. None for a document that has no regions.

    `begin` is behind the XML declaration.
    """
