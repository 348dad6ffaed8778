"""A document's bytes in, its regions out: runs of the root's children whose hashes tell where two versions differ.

Where one region ends and the next begins depends on the children nearby alone. So what is put in, taken out or changed
in one place changes the regions around it, and all others are found again, wherever they stand now.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest, xxh3_128_hexdigest

from weft.documents.source import HEAD, encoding_of
from weft.errors import DocumentError

_USUAL = 16 << 10  # bytes after which a region is expected to end
_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # odd, so that nothing of a hash is lost
_MOST = 4  # times the usual bytes: a region has no more, unless a child alone has
_PROLOG = re.compile(rb"(?:\xef\xbb\xbf)?(?:<\?xml\s[^>]*\?>)?\s*")
_OTHER = re.compile(rb"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>", re.DOTALL)
_OTHER_LEFT = re.compile(rb"<[!?]")
_is_other = np.isin(np.arange(256), list(b"!?"))
_TAG = re.compile(rb"""<(?:[^<>"']++|"[^"<]*+"|'[^'<]*+')*+>""")
_Offsets64 = NDArray[np.int64]
_OPEN, _CLOSE, _SLASH = b"<>/"


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


def bounds_of(data: bytes, usual: int) -> tuple[_Offsets64, _Offsets64, int] | None:
    """Where regions of about the usual size begin, where the last one ends; their hashes; and how many tags there are.

    None for a document that has no regions.
    """
    if (found := _find_tags(data)) is None:
        return None
    start, end = found
    content = np.frombuffer(data, np.uint8)
    change = np.ones(start.size, np.int32)
    change[content[end - 2] == _SLASH] = 0
    change[content[start + 1] == _SLASH] = -1
    depth = np.cumsum(change, dtype=np.int32)
    if start.size < 2 or change[0] != 1 or depth[-1] != 0 or not depth[:-1].all() or depth.min() < 0:
        return None
    children = start[(depth - change == 1) & (change >= 0)]
    root_end = int(start[-1])
    places, hashes = _cut(memoryview(data), children, root_end, usual)
    return np.append(places, root_end), hashes, start.size


def _region(data: bytes, start: int, end: int) -> Region:
    return Region(start, end - start, xxh3_128_hexdigest(memoryview(data)[start:end]))


def _find_tags(data: bytes) -> tuple[_Offsets64, _Offsets64] | None:
    """Where tags begin and end. In a well-formed document `<` stands nowhere but in markup."""
    try:
        if encoding_of("", data[:HEAD]) is not None:
            return None
    except DocumentError:
        return None
    prolog = _PROLOG.match(data)
    begin = prolog.end() if prolog else 0
    content = np.frombuffer(data, np.uint8)
    marks = np.flatnonzero((content | 2) == _CLOSE)  # `<` and `>` are one bit apart
    marks = marks[np.searchsorted(marks, begin) :]
    is_start = content[marks] == _OPEN
    start = marks[is_start]
    if start.size == 0 or start[-1] + 1 >= len(data):
        return None
    if _is_other[content[start + 1]].any():
        blank = data[:begin] + _OTHER.sub(lambda found: b" " * len(found[0]), data[begin:])
        return None if _OTHER_LEFT.search(blank, begin) else _find_tags(blank)
    if 2 * start.size == marks.size and is_start[::2].all():
        return start, marks[1::2] + 1
    spans = [found.span() for found in _TAG.finditer(data, begin)]  # `>` stands in a text or in an attribute's value
    if len(spans) != start.size:
        return None
    pairs = np.array(spans, np.int64)
    return pairs[:, 0], pairs[:, 1]


def _cut(content: memoryview, children: _Offsets64, end: int, usual: int) -> tuple[_Offsets64, _Offsets64]:
    """The children that regions begin with, and the hashes of the regions.

    A region may end after any child, and the more likely the larger that is: as its hash decides.
    """
    if children.size == 0:
        return children, children
    sizes = np.diff(children, append=end)
    places = [*children.tolist(), end]
    hashes = np.array([xxh3_64_intdigest(content[first:last]) for first, last in pairwise(places)], np.uint64)
    may_end = hashes < np.minimum(sizes / usual, 1.0) * float(1 << 64)
    is_first = np.append(True, may_end[:-1])
    # Where none may end for long, as among children that are all the same, they are cut by their place.
    begin = np.maximum.accumulate(np.where(is_first, children, 0))
    block = (children - begin) // (_MOST * usual)
    is_first[1:] |= block[1:] != block[:-1]
    firsts = np.flatnonzero(is_first)
    # A region's hash is a polynomial of those of its children: their order counts.
    power = np.arange(children.size) - np.repeat(firsts, np.diff(firsts, append=children.size))
    weights = np.cumprod(np.full(int(power.max()) + 1, _FACTOR))
    return children[firsts], np.add.reduceat(hashes * weights[power], firsts).view(np.int64)
