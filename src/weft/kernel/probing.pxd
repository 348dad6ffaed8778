from weft.kernel.codes cimport DATE, EQ, GT, LE, LT, NE, ORDERED_END, RUN_END, RUN_FORM, RUN_START, TEXT
from weft.kernel.values cimport compared
from weft.kernel.plan_lists cimport PlanLists
from weft.kernel.plan_tables cimport PlanTables
from weft.kernel.text_probing cimport TextProbing


cdef class Probing(TextProbing):
    cdef long long[::1] risen_start  # by document
    cdef int[::1] left_over  # machines of tests on texts, each before its row
    cdef Py_ssize_t left_size

    cdef int probe_rows(self, int first, int end) except? -1 nogil
    cdef int leave(self, int machine, int row) except? -1 nogil
    cdef int probe_run(self, int run, int row) except? -1 nogil
    cdef int pass_number(self, int run, double number, int row) except? -1 nogil
    cdef int pass_ranges(self, int run, int operator, long long low, long long high, int row) except? -1 nogil
    cdef int bring_up_all(self, long long begin, long long end, int row) except? -1 nogil
    cdef long long place(self, int run, double key, bint is_behind) noexcept nogil
