"""A document's bytes in, its regions out: runs of the root's children whose hashes tell where two versions differ.

Where one region ends and the next begins depends on the children nearby alone. So what is put in, taken out or changed
in one place changes the regions around it, and all others are found again, wherever they stand now.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from xxhash import xxh3_128_hexdigest

from weft.columns.integers import Longs
from weft.documents.source import HEAD, encoding_of
from weft.errors import DocumentError
from weft.kernel import cut

_USUAL = 16 << 10  # bytes that a region has, more or less
_PROLOG = re.compile(rb"(?:\xef\xbb\xbf)?(?:<\?xml\s[^>]*\?>)?\s*")


@dataclass(frozen=True, slots=True)
class Region:
    """A range of a document's bytes, and their hash."""

    offset: int
    length: int
    digest: str


@dataclass(frozen=True, slots=True)
class Regions:
    """A document as ranges that follow each other without a gap.

    The head is all before the root's first child, the tail begins with the root's end tag. Each region of the body
    begins with the start tag of a child of the root, and holds whole children with what stands behind them. So if head,
    region and tail make a well-formed document for each region of the body, then the whole document is well-formed.
    """

    head: Region
    body: tuple[Region, ...]
    tail: Region


def regions_of(data: bytes) -> Regions | None:
    """The regions of a document; None for one that has none: with a DOCTYPE, not in UTF-8, with an empty root, broken.

    >>> [region.length for region in regions_of(b"<a>text<b/><c/></a>").body]
    [8]
    """
    if (found := bounds_of(data, _USUAL)) is None:
        return None
    bounds: list[int] = found[0].tolist()  # the first of them ends the head
    head, tail = _region(data, 0, bounds[0]), _region(data, bounds[-1], len(data))
    return Regions(head, tuple(_region(data, first, last) for first, last in pairwise(bounds)), tail)


def bounds_of(data: bytes, usual: int) -> tuple[Longs, Longs, int] | None:
    """Where regions of about the usual size begin, where the last one ends; their hashes; and how many nodes at most.

    None for a document that has no regions.
    """
    try:
        if encoding_of("", data[:HEAD]) is not None:
            return None
    except DocumentError:
        return None
    prolog = _PROLOG.match(data)
    if (found := cut(data, prolog.end() if prolog else 0, usual)) is None:
        return None
    places, hashes, root_end, nodes = found
    return np.append(np.frombuffer(places, np.int64), root_end), np.frombuffer(hashes, np.int64), nodes


def _region(data: bytes, start: int, end: int) -> Region:
    return Region(start, end - start, xxh3_128_hexdigest(memoryview(data)[start:end]))
