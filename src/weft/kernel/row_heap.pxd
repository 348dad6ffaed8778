from weft.kernel.batch_columns cimport BatchColumns
from weft.kernel.plan_lists cimport PlanLists
from weft.kernel.plan_tables cimport PlanTables


cdef class RowHeap(BatchColumns):
    cdef int[::1] heap
    cdef Py_ssize_t heap_size
    cdef long long left  # steps that may still be taken

    cdef int step(self, long long number) except? -1 nogil
    cdef int push(self, int row) except? -1 nogil
    cdef int sort(self, Py_ssize_t base) except? -1 nogil
    cdef void sort_few(self, Py_ssize_t base) noexcept nogil
