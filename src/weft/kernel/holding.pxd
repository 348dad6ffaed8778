from weft.kernel.codes cimport AND, DATE, DOWN, ELEMENT, EQ, EXISTS, FALSE, FIRST, GT, LE, LIFT, LINKED, LT, NAMED, NE, OR
from weft.kernel.codes cimport CHECK, CHECK_END, CHILD, CODE, EDGE, INNER, KIND, OPERATOR, PARENT, READING
from weft.kernel.codes cimport PART, PROBED, RANK, STEP, STEP_END, TEST, TEXT, TRUE
from weft.kernel.plan_lists cimport PlanLists
from weft.kernel.plan_tables cimport PlanTables
from weft.kernel.values cimport NodeValues


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


cdef class Holding(NodeValues):
    cdef int inside  # how deep `holds` is in itself

    cdef int holds(self, int node, int row) except? -1 nogil
    cdef int find(self, int kind, int node, int row) except? -1 nogil
    cdef int are_met(self, int node, int row) except? -1 nogil
    cdef int is_below(self, int node, int row) except? -1 nogil
    cdef int passes(self, int node, int row) except? -1 nogil
    cdef int rank(self, int node, int row) except? -1 nogil
    cdef int linked(self, int node, int row) except? -1 nogil
    cdef int leads(self, int node, int at, int row, int place, bint is_shared) except? -1 nogil
    cdef int leads_by_elements(self, int node, int at, int row, int place, bint is_shared) except? -1 nogil
    cdef int leads_by_others(self, int node, int at, int row) except? -1 nogil
