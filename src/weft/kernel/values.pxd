from weft.kernel.codes cimport CODE, CONTAINS, DATE, DOUBLE, EQ, GT, LE, LT, NE, NUMBER, OPERATOR, PART, READING
from weft.kernel.codes cimport STARTS, TEXT
from weft.kernel.part_tables cimport PartTables
from weft.kernel.plan_lists cimport PlanLists
from weft.kernel.plan_tables cimport PlanTables
from weft.kernel.probe_tables cimport ProbeTables
from weft.kernel.ways cimport NodeWays


cdef inline bint compared(int operator, double value, double other) noexcept nogil:
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


cdef class NodeValues(NodeWays):
    cdef ProbeTables tests
    cdef PartTables parts
    cdef const unsigned char[::1] characters  # of all texts, one behind the other
    cdef long long[::1] text_begin
    cdef const unsigned char[::1] attribute_characters
    cdef long long[::1] attribute_begin
    cdef short[::1] known  # bits of the readings that are known
    cdef int[::1] low  # the equals of a text are the constants from here
    cdef int[::1] high  # to before here
    cdef double[::1] as_number
    cdef double[::1] as_double
    cdef double[::1] as_instant
    cdef signed char[::1] instant_reading  # of the type that a value is an instant of, else 0
    cdef Py_ssize_t begin_at  # of the value that was looked at last
    cdef Py_ssize_t end_at
    cdef Py_ssize_t space_begin  # white space in the texts that was passed over last
    cdef Py_ssize_t space_end

    cdef int widen_values(self, int room) except? -1
    cdef bint find_value(self, int row) noexcept nogil
    cdef int read(self, int row, int reading) except? -1 nogil
    cdef int read_text(self, int row) except? -1 nogil
    cdef double read_number(self, int row, bint is_double) except? -1 nogil
    cdef double decimal(self, const unsigned char[::1] text, Py_ssize_t at, Py_ssize_t end) noexcept nogil
    cdef Py_ssize_t skip_space(self, const unsigned char[::1] text, Py_ssize_t at, Py_ssize_t end, bint is_text) noexcept nogil
    cdef double value(self, int row, int reading) noexcept nogil
    cdef int passes(self, int node, int row) except? -1 nogil
    cdef int has_part(self, int row, int operator, int code) except? -1 nogil
    cdef bint is_part_at(self, int code, bint is_text, Py_ssize_t at) noexcept nogil
