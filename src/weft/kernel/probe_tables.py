"""The tests on values of a shared plan as columns, and its constants: a text's bytes in, its code out."""

import cython
import numpy as np

from weft.kernel.arrays import held, zeros
from weft.kernel.tables import random_factor

if not cython.compiled:  # compiled, it is that of the .pxd
    from weft.kernel.part_tables import PartTables

MASK64 = cython.declare(cython.ulonglong)  # numbers beyond 31 bits must be C variables, or they are Python's
MASK64 = 0xFFFFFFFFFFFFFFFF
ENDS_WORDS = cython.declare(cython.int, 256)
ENDS_WORDS = 256  # of the bits that tell texts apart by their lengths and ends


@cython.cclass
class ProbeTables:
    """What label paths and values bring up; never changed. `probe_tables.pxd` tells the columns."""

    def __init__(self, columns: dict, texts: list, is_ordered: bool, parts: PartTables):
        """`texts` are the constants in order, as UTF-8; the code of each is its place, and behind them are `parts`."""
        self.up_start, self.up_nodes = held(columns["up_start"]), held(columns["up_nodes"])
        self.named_start, self.named_nodes = held(columns["named_start"]), held(columns["named_nodes"])
        self.named_symbols, self.is_context = held(columns["named_symbols"]), held(columns["is_context"])
        self.means, self.run_start = held(columns["means"]), held(columns["run_start"])
        self.measure_start, self.runs = held(columns["measure_start"]), held(columns["runs"])
        self.keys, self.run_nodes = held(columns["keys"]), held(columns["run_nodes"])
        self.constant_start, self.constants = held(columns["constant_start"]), held(columns["constants"])
        self.several_start, self.several_nodes = held(columns["several_start"]), held(columns["several_nodes"])
        self.machine_start = held(columns["machine_start"])
        self.is_ordered, self.parts, self.texts = is_ordered, parts, len(texts)
        self.factor = random_factor()
        self.characters = memoryview(b"".join(texts) + b"\0")
        self.character_start = held(np.cumsum([0, *map(len, texts)], dtype=np.int64))
        self.index(len(texts))

    @cython.cfunc
    @cython.exceptval(-1)
    def index(self, number: cython.int) -> cython.int:
        """Open addressing by the hash of a text's bytes."""
        size: cython.Py_ssize_t = 64
        code: cython.int
        length: cython.Py_ssize_t
        one: cython.ulonglong = 1
        at: cython.ulonglong
        end: cython.int
        while size < 2 * number:
            size *= 2
        self.slots, self.mask, self.longest = zeros(size, np.int32), size - 1, 0
        self.ends = zeros(ENDS_WORDS, np.uint64)
        for code in range(number):
            length = self.character_start[code + 1] - self.character_start[code]
            self.longest = max(self.longest, length)
            end = self.end_bit(self.characters, self.character_start[code], self.character_start[code + 1])
            self.ends[end >> 6] |= one << (end & 63)
            at = self.hashed(self.characters, self.character_start[code], self.character_start[code + 1]) & self.mask
            while self.slots[at]:
                at = (at + 1) & self.mask
            self.slots[at] = code + 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def end_bit(
        self, text: cython.const[cython.uchar][::1], start: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> cython.int:
        """The bit of a text's length, its first byte and its last two: most that are no constants have another."""
        length: cython.Py_ssize_t = end - start
        bits: cython.int = (length & 4095) * 37
        if length:
            bits ^= text[start] * 5 ^ text[end - 1] << 6
        if length > 1:
            bits ^= text[end - 2] * 3
        return bits & (64 * ENDS_WORDS - 1)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def hashed(
        self, text: cython.const[cython.uchar][::1], start: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> cython.ulonglong:
        """A text's hash; by a factor that nobody can know, and so not choose texts that are found slowly."""
        value: cython.ulonglong = self.factor
        at: cython.Py_ssize_t
        for at in range(start, end):
            value = ((value ^ text[at]) * self.factor) & MASK64
        return value >> 32

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def find(
        self, text: cython.const[cython.uchar][::1], start: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> cython.int:
        """The code of a text, -1 if it is no constant."""
        length: cython.Py_ssize_t = end - start
        end_bit: cython.int = self.end_bit(text, start, end)
        if length > self.longest or not (self.ends[end_bit >> 6] >> (end_bit & 63)) & 1:
            return -1
        at: cython.ulonglong = self.hashed(text, start, end) & self.mask
        code: cython.int
        first: cython.Py_ssize_t
        i: cython.Py_ssize_t
        while self.slots[at]:
            code = self.slots[at] - 1
            first = self.character_start[code]
            if self.character_start[code + 1] - first == length:
                i = 0
                while i < length and self.characters[first + i] == text[start + i]:
                    i += 1
                if i == length:
                    return code
            at = (at + 1) & self.mask
        return -1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def rank(
        self, text: cython.const[cython.uchar][::1], start: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> cython.int:
        """How many constants come before a text; the order of UTF-8 is that of characters."""
        low: cython.int = 0
        high: cython.int = self.character_start.shape[0] - 1
        middle: cython.int
        while low < high:
            middle = (low + high) >> 1
            if self.order(middle, text, start, end) < 0:
                low = middle + 1
            else:
                high = middle
        return low

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def order(
        self, code: cython.int, text: cython.const[cython.uchar][::1], start: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> cython.int:
        """Below 0 where a constant comes before a text, above 0 where it comes behind it."""
        at: cython.Py_ssize_t = self.character_start[code]
        stop: cython.Py_ssize_t = self.character_start[code + 1]
        while at < stop and start < end:
            if self.characters[at] != text[start]:
                return -1 if self.characters[at] < text[start] else 1
            at += 1
            start += 1
        return (at < stop) - (start < end)
