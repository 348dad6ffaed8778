"""How much room a scan keeps for its next batch, and how blocks of columns grow and are given away.

A batch that found its room kept takes half the time of one that begins with a little and doubles it. So there is room
for what batches usually have. That is some megabytes for each thread that scans: only so many threads keep them.
"""

from typing import Any, TypeAlias
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]

_SMALL = 1 << 15  # entries of a kind that every scan may keep room for
_SMALL_BYTES = 1 << 20  # and bytes of characters
_KEPT = 1 << 16  # entries of a batch whose room may be kept
_KEPT_BYTES = 1 << 20  # and bytes of characters, of documents some times as long
_MOST_LARGE = 8  # scans that keep more than a little: with the most of everything 20 MB each
_ONE_PIECE = 1 << 19  # bytes of copies that are small, each for itself
_large: WeakSet[object] = WeakSet()


def is_kept(entries: int, characters: int) -> bool:
    """Whether the room is to be kept that a batch of so many entries and bytes of characters was given."""
    return entries <= _KEPT and characters <= _KEPT_BYTES


def may_keep(scan: object, entries: int, characters: int) -> bool:
    """Whether a scan keeps room for so many entries and bytes of characters."""
    if _large:
        _large.discard(scan)
    if entries <= _SMALL and characters <= _SMALL_BYTES:
        return True
    if entries > 2 * _KEPT or characters > 4 * _KEPT_BYTES or len(_large) >= _MOST_LARGE:
        return False
    _large.add(scan)
    return True


def wider_block(block: Array, room: int) -> Array:
    """The block with room for so many entries in each of its rows."""
    new = np.zeros((block.shape[0], room), block.dtype)
    new[:, : min(room, block.shape[1])] = block[:, :room]
    return new


def copied_together(parts: list[Array]) -> list[Array]:
    """Copies of arrays; many bytes all in one piece of memory.

    An allocator keeps such a piece for the next batch when it is freed, and several large ones it gives back to the
    system: to get them again costs more than what they are copied from.
    """
    size = sum(part.nbytes for part in parts)
    if size < _ONE_PIECE:
        return [part.copy() for part in parts]
    memory = np.empty(size, np.uint8)
    copies = list(parts)
    begin = 0
    for place in sorted(range(len(parts)), key=lambda place: -parts[place].itemsize):  # so that each is aligned
        part = parts[place]
        end = begin + part.nbytes
        copies[place] = memory[begin:end].view(part.dtype).reshape(part.shape)
        copies[place][...] = part
        begin = end
    return copies


def named(parts: list[Array]) -> dict[str, Array]:
    """The columns by the names that a node table has for them."""
    element_ints, attribute_ints, text_ints, element_longs, attribute_longs, text_longs, *others = parts
    declared_ints, characters, values = others
    of_elements = "document", "name", "tag", "parent", "last", "depth", "text_first", "text_last", "event"
    return {
        **dict(zip(of_elements, element_ints[:9], strict=True)),
        "parent": np.concatenate((element_ints[3], attribute_ints[2], text_ints[0])),
        "start": element_longs[0],
        "end": element_longs[1],
        "attribute_name": attribute_ints[0],
        "attribute_tag": attribute_ints[1],
        "attribute_characters": values,
        "attribute_value_start": attribute_longs[0],
        "text_event": text_ints[1],
        "characters": characters,
        "text_start": text_longs[0],
        "declared_row": declared_ints[0],
        "declared": declared_ints[1],
    }
