"""Arrays that compiled stages keep: sizes in, arrays out."""

import mmap
import pathlib
import resource

import cython
import numpy as np

SMALL = 1 << 16  # entries, up to which an array that is full is copied in far less than a millisecond
SPACE = 1 << 25  # entries that one that is larger has addresses for at once, so that it is hardly ever copied again
_OVERCOMMIT = pathlib.Path("/proc/sys/vm/overcommit_memory")
_IS_COUNTED = _OVERCOMMIT.exists() and _OVERCOMMIT.read_text().strip() == "2"  # addresses count as memory everywhere
_UNSHARED = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)


def held(array):
    """An array to be kept; where nothing is compiled as Python's memoryview, whose items are Python's integers."""
    array = np.ascontiguousarray(array)
    return array if cython.compiled else memoryview(array)


def zeros(size, kind):
    """An array of so many zeros, to be kept."""
    return held(np.zeros(max(size, 1), kind))


def wider(array, size=0):
    """A copy with at least twice the room, and for more than `size` entries; itself if it has room for these.

    Whoever waits for it should not wait long. So a large array gets far more room than it needs: what nothing was
    written to takes addresses and no memory. Where addresses are counted too it gets twice the room and no more.
    Columns that are as long as each other stay so, whatever their types.
    """
    old = np.asarray(array)
    if 0 < size < old.size:
        return array
    room = max(2 * old.size, size + 1)
    new = _spacious(room, old.dtype) if room > SMALL else np.zeros(room, old.dtype)
    new[: old.size] = old
    return held(new)


def copied(array, used):
    """An array as long as another, with so many of its first entries; those behind them are zero."""
    old = np.asarray(array)
    new = _spacious(old.size, old.dtype)[: old.size] if old.size > SMALL else np.zeros(old.size, old.dtype)
    new[:used] = old[:used]
    return held(new)


def _spacious(room, kind):
    """Zeros, at least so many, with addresses for far more where these are free."""
    if _IS_COUNTED or resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY:
        return np.zeros(room, kind)
    return _mapped(max(room, SPACE), kind)


def _mapped(number, kind):
    """Zeros in pages of the usual size: numpy asks for huge ones, of which the first touch may take milliseconds."""
    try:
        return np.frombuffer(mmap.mmap(-1, number * kind.itemsize, _UNSHARED), kind)
    except OSError as error:  # columns must stay as long as each other: there is no other room for this one alone
        raise MemoryError(str(error)) from error


def bits(flags):
    """Flags as bits of words."""
    words = np.zeros((len(flags) // 64 + 1) * 64, np.uint8)
    words[: len(flags)] = flags
    return np.packbits(words, bitorder="little").view(np.uint64)


def lined_up(number, width, kind):
    """An array of so many records of zeros, to be kept, of which each that is 64 bytes wide is a line of the cache."""
    kind = np.dtype(kind)
    size, entries = kind.itemsize, number * width + 64 // kind.itemsize
    room = _mapped(entries, kind) if entries > SMALL else np.zeros(entries, kind)
    begin = -room.ctypes.data % 64 // size
    return held(room[begin : begin + number * width].reshape(number, width))
