from weft.kernel.plan_tables cimport PlanTables
from weft.kernel.ways cimport NodeWays


cdef class Holding(NodeWays):
    cdef signed char[::1] known
    cdef int[::1] low
    cdef int[::1] high
    cdef double[::1] as_number
    cdef double[::1] as_double
    cdef int inside  # how deep `holds` is in itself

    cdef int holds(self, int node, int row) except? -1
    cdef int find(self, int kind, int node, int row) except? -1
    cdef int are_met(self, int node, int row) except? -1
    cdef int is_below(self, int node, int row) except? -1
    cdef int passes(self, int node, int row) except? -1
    cdef int read(self, int row, int reading) except? -1
    cdef int rank(self, int node, int row) except? -1
    cdef int linked(self, int node, int row) except? -1
    cdef int leads(self, int node, long long at, int row, int place) except? -1
