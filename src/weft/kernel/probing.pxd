from weft.kernel.holding cimport Holding
from weft.kernel.plan_lists cimport PlanLists
from weft.kernel.plan_tables cimport PlanTables
from weft.kernel.probe_tables cimport ProbeTables


cdef class Probing(Holding):
    cdef int[::1] risen  # nodes of the shared plan that come up, each before its row
    cdef Py_ssize_t risen_size
    cdef int[::1] left_over  # machines of tests on parts of texts, each before its row
    cdef Py_ssize_t left_size

    cdef int prepare(self) except? -1
    cdef int bring_up(self, int node, int row) except? -1
    cdef int probe_equals(self, int label, int row) except? -1
    cdef int probe_run(self, int run, int row) except? -1
    cdef int bring_up_tests(self, long long begin, long long end, int row) except? -1
    cdef long long place(self, int run, double key, bint is_behind) noexcept
