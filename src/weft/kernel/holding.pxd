from weft.kernel.codes cimport AND, CHECK, CHECK_END, CHILD, CODE, DOWN, EDGE, ELEMENT, EXISTS, FALSE, FIRST, INNER
from weft.kernel.codes cimport KIND, LIFT, LINKED, NAMED, OPERATOR, OR, PARENT, PROBED, RANK, READING, STEP, STEP_END
from weft.kernel.codes cimport TEST, TRUE
from weft.kernel.plan_lists cimport PlanLists
from weft.kernel.plan_tables cimport PlanTables
from weft.kernel.values cimport NodeValues, compared


cdef class Holding(NodeValues):
    cdef int inside  # how deep `holds` is in itself

    cdef int holds(self, int node, int row) except? -1 nogil
    cdef int find(self, int kind, int node, int row) except? -1 nogil
    cdef int are_met(self, int node, int row) except? -1 nogil
    cdef int is_below(self, int node, int row) except? -1 nogil
    cdef int rank(self, int node, int row) except? -1 nogil
    cdef int linked(self, int node, int row) except? -1 nogil
    cdef int leads(self, int node, int at, int row, int place, bint is_shared) except? -1 nogil
    cdef int leads_by_elements(self, int node, int at, int row, int place, bint is_shared) except? -1 nogil
    cdef int leads_by_others(self, int node, int at, int row) except? -1 nogil
