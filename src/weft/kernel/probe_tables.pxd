from weft.kernel.part_tables cimport PartTables


cdef class ProbeTables:
    # what a state brings up by itself
    cdef long long[::1] up_start
    cdef int[::1] up_nodes
    cdef long long[::1] named_start  # nodes that hold where a name passes a label test
    cdef int[::1] named_nodes
    cdef int[::1] named_symbols
    cdef signed char[::1] is_context  # states above deep edges
    # comparisons: of a state its runs, of a run what its tests bring up, in the order of their constants
    cdef signed char[::1] means  # by state, by what means its tests on texts are found, see `codes`
    cdef long long[::1] run_start
    cdef long long[::1] measure_start  # of a measure its runs, behind those of all states
    cdef int[:, ::1] runs  # by run its record, see `codes`
    cdef double[::1] keys
    cdef int[::1] run_nodes
    # what constants bring up, texts first, then parts of texts: of a state pairs of a code and a node or, where there are
    # several, ~ the place of these
    cdef long long[::1] constant_start
    cdef int[:, ::1] constants
    cdef long long[::1] several_start
    cdef int[::1] several_nodes
    cdef PartTables parts
    cdef int texts  # how many there are
    # tests on parts of texts: of a state its machines
    cdef long long[::1] machine_start
    # the constants: texts in order, found by their bytes
    cdef const unsigned char[::1] characters
    cdef long long[::1] character_start
    cdef int[::1] slots  # code + 1, 0: free
    cdef unsigned long long mask
    cdef unsigned long long factor  # odd, by chance
    cdef unsigned long long[::1] ends  # bits of the lengths and ends that there are
    cdef Py_ssize_t longest
    cdef bint is_ordered  # texts are compared by order too

    cdef int index(self, int number) except? -1
    cdef int end_bit(self, const unsigned char[::1] text, Py_ssize_t start, Py_ssize_t end) noexcept nogil
    cdef int find(self, const unsigned char[::1] text, Py_ssize_t start, Py_ssize_t end) noexcept nogil
    cdef int rank(self, const unsigned char[::1] text, Py_ssize_t start, Py_ssize_t end) noexcept nogil
    cdef unsigned long long hashed(self, const unsigned char[::1] text, Py_ssize_t start, Py_ssize_t end) noexcept nogil
    cdef int order(self, int code, const unsigned char[::1] text, Py_ssize_t start, Py_ssize_t end) noexcept nogil
