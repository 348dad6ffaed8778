"""Nodes of a batch in, their values out: as places among the constants, and as numbers; each is found out once.

All character data lies in one buffer, so every string-value is a stretch of it, and nothing is copied or decoded.
"""

import cython
import numpy as np

from weft.kernel.arrays import held, zeros

if not cython.compiled:  # compiled, these are those of the .pxd
    from weft.kernel.codes import CODE, CONTAINS, DATE, DOUBLE, EQ, GT, LE, LT, NE, NUMBER, OPERATOR, PART, READING
    from weft.kernel.codes import STARTS, TEXT
    from weft.kernel.plan_lists import PlanLists
    from weft.kernel.plan_tables import PlanTables
    from weft.kernel.ways import NodeWays

MOST_DIGITS = cython.declare(cython.int, 15)
MOST_DIGITS = 15  # whose number a double holds exactly, as it does the powers of ten up to here: one division is exact
POWERS = cython.declare(cython.double[::1])
POWERS = held(np.array([float(10**power) for power in range(MOST_DIGITS + 1)]))
NAN = cython.declare(cython.double)
NAN = float("nan")
ODD = cython.declare(cython.double)
ODD = float("inf")  # of `decimal`: it may be a number, of a form that Python reads

NO_BYTES = cython.declare(cython.const[cython.uchar][::1])
NO_BYTES = zeros(1, np.uint8)
NO_LONGS = cython.declare(cython.longlong[::1])
NO_LONGS = zeros(1, np.int64)


if not cython.compiled:  # compiled, it is that of the .pxd

    def compared(operator: int, value: float, other: float) -> bool:
        """Whether a number stands in a relation to another."""
        if operator == EQ:
            return value == other
        if operator == NE:
            return value != other
        if operator == LT:
            return value < other
        if operator == LE:
            return value <= other
        if operator == GT:
            return value > other
        return value >= other


@cython.cclass
class NodeValues(NodeWays):
    """The values of a batch; `values.pxd` tells the columns."""

    def __init__(self, plan: PlanTables, lists: PlanLists):
        NodeWays.__init__(self, plan, lists)
        self.tests, self.parts = lists.tables, lists.tables.parts
        self.widen_values(1 << 10)
        self.characters = self.attribute_characters = NO_BYTES
        self.text_begin = self.attribute_begin = NO_LONGS

    def end(self) -> None:
        """Nobody asks for this batch any more."""
        self.characters = self.attribute_characters = NO_BYTES
        self.text_begin = self.attribute_begin = NO_LONGS
        NodeWays.end(self)

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def widen_values(self, room: cython.int) -> cython.int:
        self.known = zeros(room, np.int16)
        self.low, self.high = zeros(room, np.int32), zeros(room, np.int32)
        self.as_number, self.as_double = zeros(room, np.float64), zeros(room, np.float64)
        self.as_instant, self.instant_reading = zeros(room, np.float64), zeros(room, np.int8)
        return 0

    def begin(self, source, columns: dict, steps: int) -> None:
        """Another batch."""
        NodeWays.begin(self, source, columns, steps)
        self.characters, self.text_begin = held(columns["characters"]), held(columns["text_begin"])
        self.attribute_characters = held(columns["attribute_characters"])
        self.attribute_begin = held(columns["attribute_begin"])
        self.begin_at = self.end_at = self.space_begin = self.space_end = 0
        if self.nodes > self.known.shape[0]:
            self.widen_values(2 * self.nodes)
        row: cython.int
        for row in range(self.nodes):
            self.known[row] = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def find_value(self, row: cython.int) -> cython.bint:
        """Set `begin_at` and `end_at` to those of a value; returns whether it is in the texts, else in attributes."""
        if row < self.elements:
            self.begin_at = self.text_begin[self.text_first[row]]
            self.end_at = self.text_begin[self.text_last[row]]
            return True
        if row < self.first_text:
            self.begin_at = self.attribute_begin[row - self.elements]
            self.end_at = self.attribute_begin[row - self.elements + 1]
            return False
        self.begin_at = self.text_begin[row - self.first_text]
        self.end_at = self.text_begin[row - self.first_text + 1]
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def read(self, row: cython.int, reading: cython.int) -> cython.int:
        """Find out a node's value, in the form that is asked for."""
        if reading == TEXT:
            self.read_text(row)
        elif reading == NUMBER:
            self.as_number[row] = self.read_number(row, False)
        elif reading == DOUBLE:
            self.as_double[row] = self.read_number(row, True)
        else:
            with cython.gil:
                self.instant_reading[row], self.as_instant[row] = self.source.instant(row)
        self.known[row] = self.known[row] | (1 << reading)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def read_text(self, row: cython.int) -> cython.int:
        """From where to before where the equals of a value lie among the constants."""
        code: cython.int
        if self.find_value(row):
            code = self.tests.find(self.characters, self.begin_at, self.end_at)
            self.low[row] = code
            if code < 0 and self.tests.is_ordered:
                self.low[row] = self.tests.rank(self.characters, self.begin_at, self.end_at)
        else:
            code = self.tests.find(self.attribute_characters, self.begin_at, self.end_at)
            self.low[row] = code
            if code < 0 and self.tests.is_ordered:
                self.low[row] = self.tests.rank(self.attribute_characters, self.begin_at, self.end_at)
        self.high[row] = self.low[row] + (code >= 0)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def read_number(self, row: cython.int, is_double: cython.bint) -> cython.double:
        """A value as XPath's number or XQuery's double; not-a-number if it is none."""
        found: cython.double
        if self.find_value(row):
            self.begin_at = self.skip_space(self.characters, self.begin_at, self.end_at, True)
            found = self.decimal(self.characters, self.begin_at, self.end_at)
        else:
            self.begin_at = self.skip_space(self.attribute_characters, self.begin_at, self.end_at, False)
            found = self.decimal(self.attribute_characters, self.begin_at, self.end_at)
        if found != ODD:
            return found
        with cython.gil:
            return self.source.double(row) if is_double else self.source.number(row)

    @cython.cfunc
    @cython.nogil
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
    @cython.nogil
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
    @cython.nogil
    @cython.exceptval(check=False)
    def value(self, row: cython.int, reading: cython.int) -> cython.double:
        """A value that is known, as a number; an instant of another type is none."""
        if reading == NUMBER:
            return self.as_number[row]
        if reading == DOUBLE:
            return self.as_double[row]
        return self.as_instant[row] if self.instant_reading[row] == reading else NAN

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def passes(self, node: cython.int, row: cython.int) -> cython.int:
        """Whether a value passes a comparison with a constant."""
        reading: cython.int = self.plan.nodes[node, READING]
        operator: cython.int = self.plan.nodes[node, OPERATOR]
        if reading == PART:
            return self.has_part(row, operator, self.plan.nodes[node, CODE])
        if not (self.known[row] >> reading) & 1:
            self.read(row, reading)
        if reading == TEXT:
            code: cython.int = self.plan.nodes[node, CODE]
            if operator == EQ or operator == NE:
                return (self.low[row] <= code < self.high[row]) == (operator == EQ)
            if operator == LT:
                return code >= self.high[row]
            if operator == LE:
                return code >= self.low[row]
            if operator == GT:
                return code < self.low[row]
            return code < self.high[row]
        if reading >= DATE and self.instant_reading[row] != reading:
            return 0  # a value is of one type at most, and stands in no relation to the others
        return compared(operator, self.value(row, reading), self.plan.number[node])

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def has_part(self, row: cython.int, operator: cython.int, code: cython.int) -> cython.int:
        """Whether a value has a constant inside, at its start or at its end."""
        is_text: cython.bint = self.find_value(row)
        size: cython.Py_ssize_t = self.parts.character_start[code + 1] - self.parts.character_start[code]
        spare: cython.Py_ssize_t = self.end_at - self.begin_at - size
        at: cython.Py_ssize_t
        if spare < 0:
            return 0
        if operator != CONTAINS:
            return self.is_part_at(code, is_text, self.begin_at if operator == STARTS else self.end_at - size)
        self.step(spare >> 4)
        for at in range(self.begin_at, self.begin_at + spare + 1):
            if self.is_part_at(code, is_text, at):
                return 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def is_part_at(self, code: cython.int, is_text: cython.bint, at: cython.Py_ssize_t) -> cython.bint:
        """Whether a constant stands at a place of the texts, or of the attributes."""
        if is_text:
            return self.parts.is_at(code, self.characters, at)
        return self.parts.is_at(code, self.attribute_characters, at)
