from weft.kernel.codes cimport AND, ASKED, CHECK, CHECK_END, CHILD, DOWN, EDGE, ELEMENT, EXISTS, FALSE, FIRST, INNER
from weft.kernel.codes cimport KIND, LIFT, MET, NAMED, NOTED, OR, PARENT, PROBED, READING, STEP, STEP_END, TEST, TRUE
from weft.kernel.codes cimport WORKED
from weft.kernel.counting cimport Counting
from weft.kernel.plan_lists cimport PlanLists
from weft.kernel.plan_tables cimport PlanTables


cdef class Holding(Counting):
    cdef int inside  # how deep `holds` is in itself
    cdef bint is_rising  # all that comes up by itself in the document has been noted

    cdef int holds(self, int node, int row) except? -1 nogil
    cdef int find(self, int kind, int node, int row) except? -1 nogil
    cdef int are_met(self, int node, int row) except? -1 nogil
    cdef int is_below(self, int node, int row) except? -1 nogil
    cdef int leads(self, int node, int at, int row, int place, bint is_shared) except? -1 nogil
    cdef int leads_by_elements(self, int node, int at, int row, int place, bint is_shared) except? -1 nogil
    cdef int leads_by_others(self, int node, int at, int row) except? -1 nogil
