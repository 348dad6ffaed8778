# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False, nonecheck=False
"""Arrays that compiled stages keep: sizes in, arrays out."""

import cython
import numpy as np


def held(array):
    """An array to be kept; where nothing is compiled as Python's memoryview, whose items are Python's integers."""
    array = np.ascontiguousarray(array)
    return array if cython.compiled else memoryview(array)


def zeros(size, kind):
    """An array of so many zeros, to be kept."""
    return held(np.zeros(max(size, 1), kind))


def wider(array, size=0):
    """A copy with twice the room, and for more than `size` entries."""
    old = np.asarray(array)
    new = np.zeros(max(2 * old.size, size + 1), old.dtype)
    new[: old.size] = old
    return held(new)


def bits(flags):
    """Flags as bits of words."""
    words = np.zeros((len(flags) // 64 + 1) * 64, np.uint8)
    words[: len(flags)] = flags
    return np.packbits(words, bitorder="little").view(np.uint64)


def lined_up(number, width, kind):
    """An array of so many records of zeros, to be kept, of which each that is 64 bytes wide is a line of the cache."""
    size = np.dtype(kind).itemsize
    room = np.zeros(number * width + 64 // size, kind)
    begin = -room.ctypes.data % 64 // size
    return held(room[begin : begin + number * width].reshape(number, width))
