"""A document in; its version, and its regions with their digests out: what two versions of it are compared by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from xml.parsers import expat

import numpy as np
from xxhash import xxh3_128_hexdigest

from weft.columns.integers import Longs
from weft.documents.document import Document, Limits
from weft.documents.names import SEPARATOR, split_name
from weft.errors import DocumentError
from weft.plans.plan import Selection
from weft.views.nodes import version_of
from weft.views.sources.regions import bounds_of
from weft.views.store.locality import is_local
from weft.views.store.places import DocumentEntry, RegionPlaces, rejection

USUAL = 512  # bytes of a region: small, since each that has a change is read as a whole
_WHOLE = 4 << 10  # bytes of a document that is not worth being cut


@dataclass(frozen=True, slots=True)
class Cut:
    """A document with the places and digests of its regions; the head is before the first, the tail behind the last."""

    entry: DocumentEntry
    data: bytes
    bounds: Longs  # where regions begin, and where the last one ends
    digest: Longs

    def rejected(self, error: DocumentError | None) -> Cut:
        """The same, without regions if it was rejected."""
        if error is None:
            return self
        entry = replace(self.entry, head=None, tail=None, rejected=rejection(error))
        return Cut(entry, b"", np.zeros(1, np.int64), np.zeros(0, np.int64))

    def excerpt(self, regions: Sequence[int]) -> bytes:
        """The document with these regions only."""
        bounds = self.bounds.tolist()
        pieces = [self.data[: bounds[0]], *(self.data[bounds[at] : bounds[at + 1]] for at in regions)]
        return b"".join([*pieces, self.data[bounds[-1] :]])


def cut(document: Document, token: str | None, selections: tuple[Selection, ...], limits: Limits) -> Cut:
    """Cut a document into regions, if it can be searched region by region for all of the selections."""
    data = document.data.encode("utf-8", "surrogatepass") if isinstance(document.data, str) else document.data
    version = version_of(data)
    found = bounds_of(data, USUAL) if _WHOLE <= len(data) <= limits.max_bytes else None
    if found is not None:
        bounds, digest, nodes = found
        head, tail = data[: int(bounds[0])], data[int(bounds[-1]) :]
        root = root_of(head)
        if root is not None and _are_local(selections, root) and nodes <= limits.max_nodes:
            around = xxh3_128_hexdigest(head), xxh3_128_hexdigest(tail)
            return Cut(DocumentEntry(document.id, version, token, *around), data, bounds, digest)
    return Cut(DocumentEntry(document.id, version, token), data, np.array([0, len(data)]), np.zeros(1, np.int64))


def places_of_cuts(cuts: Sequence[Cut]) -> RegionPlaces:
    """The places of documents that are all new."""
    sizes = [len(each.digest) for each in cuts]
    none = np.zeros(0, np.int64)
    offset = np.concatenate([none, *(each.bounds[:-1] for each in cuts)])
    digest = np.concatenate([none, *(each.digest for each in cuts)])
    document = np.repeat(np.arange(len(cuts)), sizes)
    return RegionPlaces(tuple(each.entry for each in cuts), document, digest, np.arange(offset.size), offset, offset)


def root_of(head: bytes) -> str | None:
    """The expanded name of the root, given what stands before its first child; None where that cannot be read."""
    names: list[str] = []
    parser = expat.ParserCreate("utf-8", SEPARATOR)
    parser.StartElementHandler = lambda name, _: names.append(name)
    try:
        parser.Parse(head, False)
    except expat.ExpatError:
        return None
    if len(names) != 1:
        return None
    uri, local, _ = split_name(names[0])
    return f"{{{uri}}}{local}" if uri else local


@lru_cache(maxsize=256)
def _are_local(selections: tuple[Selection, ...], root: str) -> bool:
    return all(is_local(selection, root) for selection in selections)
