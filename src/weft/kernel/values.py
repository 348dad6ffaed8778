# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False, nonecheck=False
"""Nodes of a batch in, their values out: as places among the constants, and as numbers; each is found out once.

All character data lies in one buffer, so every string-value is a stretch of it, and nothing is copied or decoded.
"""

import cython
import numpy as np

from weft.kernel.arrays import held, zeros

if not cython.compiled:  # compiled, the types are those of the .pxd
    from weft.kernel.plan_lists import PlanLists
    from weft.kernel.plan_tables import PlanTables
    from weft.kernel.probe_tables import ProbeTables
    from weft.kernel.ways import NodeWays

# How a value is read, as weft.engine.shared.comparisons.Reading has it.
TEXT = cython.declare(cython.int, 0)
NUMBER = cython.declare(cython.int, 1)
DOUBLE = cython.declare(cython.int, 2)
TEXT, NUMBER, DOUBLE = 0, 1, 2
MOST_DIGITS = cython.declare(cython.int, 15)
MOST_DIGITS = 15  # whose number a double holds exactly, as it does the powers of ten up to here: one division is exact
POWERS = cython.declare(cython.double[::1])
POWERS = held(np.array([float(10**power) for power in range(MOST_DIGITS + 1)]))
NAN = cython.declare(cython.double)
NAN = float("nan")
ODD = cython.declare(cython.double)
ODD = float("inf")  # of `decimal`: it may be a number, of a form that Python reads


@cython.cclass
class NodeValues(NodeWays):
    """The values of a batch; `values.pxd` tells the columns."""

    def __init__(self, plan: PlanTables, lists: PlanLists, source, columns: dict, steps: int):
        NodeWays.__init__(self, plan, lists, source, columns, steps)
        self.tests = lists.tables
        self.characters, self.text_begin = held(columns["characters"]), held(columns["text_begin"])
        self.attribute_characters = held(columns["attribute_characters"])
        self.attribute_begin = held(columns["attribute_begin"])
        self.known = zeros(self.nodes, np.int8)
        self.low, self.high = zeros(self.nodes, np.int32), zeros(self.nodes, np.int32)
        self.as_number, self.as_double = zeros(self.nodes, np.float64), zeros(self.nodes, np.float64)
        self.as_instant, self.instant_reading = zeros(self.nodes, np.float64), zeros(self.nodes, np.int8)
        self.begin = self.end = self.space_begin = self.space_end = 0

    @cython.cfunc
    @cython.exceptval(check=False)
    def find_value(self, row: cython.int) -> cython.bint:
        """Set `begin` and `end` to those of a node's value; returns whether it is in the texts, else in attributes."""
        if row < self.elements:
            self.begin = self.text_begin[self.text_first[row]]
            self.end = self.text_begin[self.text_last[row]]
            return True
        if row < self.first_text:
            self.begin = self.attribute_begin[row - self.elements]
            self.end = self.attribute_begin[row - self.elements + 1]
            return False
        self.begin = self.text_begin[row - self.first_text]
        self.end = self.text_begin[row - self.first_text + 1]
        return True

    @cython.cfunc
    @cython.exceptval(-1)
    def read(self, row: cython.int, reading: cython.int) -> cython.int:
        """Find out a node's value, in the form that is asked for."""
        if reading == TEXT:
            self.read_text(row)
        elif reading == NUMBER:
            self.as_number[row] = self.read_number(row, False)
        elif reading == DOUBLE:
            self.as_double[row] = self.read_number(row, True)
        else:
            self.instant_reading[row], self.as_instant[row] = self.source.instant(row)
        self.known[row] = self.known[row] | (1 << reading)
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def read_text(self, row: cython.int) -> cython.int:
        """From where to before where the equals of a value lie among the constants."""
        tests: ProbeTables = self.tests
        code: cython.int
        if self.find_value(row):
            code = tests.find(self.characters, self.begin, self.end)
            self.low[row] = code
            if code < 0 and tests.is_ordered:
                self.low[row] = tests.rank(self.characters, self.begin, self.end)
        else:
            code = tests.find(self.attribute_characters, self.begin, self.end)
            self.low[row] = code
            if code < 0 and tests.is_ordered:
                self.low[row] = tests.rank(self.attribute_characters, self.begin, self.end)
        self.high[row] = self.low[row] + (code >= 0)
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def read_number(self, row: cython.int, is_double: cython.bint) -> cython.double:
        """A value as XPath's number or XQuery's double; not-a-number if it is none."""
        found: cython.double
        if self.find_value(row):
            self.begin = self.skip_space(self.characters, self.begin, self.end, True)
            found = self.decimal(self.characters, self.begin, self.end)
        else:
            self.begin = self.skip_space(self.attribute_characters, self.begin, self.end, False)
            found = self.decimal(self.attribute_characters, self.begin, self.end)
        if found != ODD:
            return found
        return self.source.double(row) if is_double else self.source.number(row)

    @cython.cfunc
    @cython.exceptval(check=False)
    def decimal(
        self, text: cython.const[cython.uchar][::1], at: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> cython.double:
        """The number of a few digits, perhaps with a sign and a point; ODD for what else may be one."""
        sign: cython.double = 1
        whole: cython.longlong = 0
        digits: cython.int = 0
        behind: cython.int = 0
        has_point: cython.bint = False
        if at < end and text[at] == 45:
            sign = -1
            at += 1
        if at == end or not (48 <= text[at] <= 57):  # `.5`, `+1` and `INF` are left to Python
            return ODD if at < end and (text[at] == 46 or text[at] == 43 or text[at] == 73) else NAN
        while at < end and digits <= MOST_DIGITS:
            if 48 <= text[at] <= 57:
                whole = whole * 10 + (text[at] - 48)
                digits += 1
                behind += has_point
            elif text[at] == 46 and not has_point:
                has_point = True
            else:
                break
            at += 1
        if digits > MOST_DIGITS or (at < end and (text[at] | 32) == 101):
            return ODD  # many digits, or an exponent
        if at < end:
            return ODD if text[at] == 32 or text[at] == 9 or text[at] == 10 or text[at] == 13 else NAN
        return sign * whole / POWERS[behind]

    @cython.cfunc
    @cython.exceptval(check=False)
    def skip_space(
        self,
        text: cython.const[cython.uchar][::1],
        at: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        is_text: cython.bint,
    ) -> cython.Py_ssize_t:
        """Behind white space; what was passed over last is not gone over again, for elements lie in elements."""
        begin: cython.Py_ssize_t = at
        if is_text and self.space_begin <= at < self.space_end:
            at = min(self.space_end, end)
        while at < end and (text[at] == 32 or text[at] == 9 or text[at] == 10 or text[at] == 13):
            at += 1
        if is_text and at > begin:
            self.space_begin = begin
            self.space_end = at
        return at

    @cython.cfunc
    @cython.exceptval(check=False)
    def value(self, row: cython.int, reading: cython.int) -> cython.double:
        """A value that is known, as a number; an instant of another type is none."""
        if reading == NUMBER:
            return self.as_number[row]
        if reading == DOUBLE:
            return self.as_double[row]
        return self.as_instant[row] if self.instant_reading[row] == reading else NAN
