from weft.kernel.plan_lists cimport PlanLists
from weft.kernel.plan_tables cimport PlanTables
from weft.kernel.values cimport NodeValues


cdef class Holding(NodeValues):
    cdef int inside  # how deep `holds` is in itself

    cdef int holds(self, int node, int row) except? -1
    cdef int find(self, int kind, int node, int row) except? -1
    cdef int are_met(self, int node, int row) except? -1
    cdef int is_below(self, int node, int row) except? -1
    cdef int passes(self, int node, int row) except? -1
    cdef int rank(self, int node, int row) except? -1
    cdef int linked(self, int node, int row) except? -1
    cdef int leads(self, int node, long long at, int row, int place) except? -1
