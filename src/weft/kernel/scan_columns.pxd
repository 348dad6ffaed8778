from weft.kernel.name_paths cimport TEXT_CODE, NamePaths

cdef enum:  # what there may be no more room for
    ELEMENTS = 0
    ATTRIBUTES = 1
    TEXTS = 2
    DECLARATIONS = 3
    LEVELS = 4


cdef class ScanColumns:
    cdef object __weakref__  # who keeps much room is counted
    # blocks of columns: numpy's arrays, of which the views below are rows
    cdef object element_ints, element_longs, attribute_ints, attribute_longs, text_ints, text_longs
    cdef object declared_ints, level_ints, character_array, value_array
    # one entry an element
    cdef int[::1] document, name, tag, parent, last, depth, text_first, text_last, event, path
    cdef long long[::1] start, end
    # one entry an attribute; its value is values[value_start[at]:value_start[at + 1]]
    cdef int[::1] attribute_name, attribute_tag, attribute_owner
    cdef long long[::1] value_start
    cdef unsigned char[::1] values
    # one entry a text, and its characters likewise
    cdef int[::1] text_owner, text_event
    cdef long long[::1] text_start
    cdef unsigned char[::1] characters
    # one entry a declaration of a namespace
    cdef int[::1] declared_row, declared
    # one entry an element that is open: bytes of its name, the namespaces that are declared around it
    cdef int[::1] level_size, level_context
    cdef Py_ssize_t element_room, attribute_room, text_room, declared_room, level_room
    cdef Py_ssize_t elements, attributes, texts, declarations
    cdef Py_ssize_t first_element, first_attribute, first_text, first_declaration  # of the document
    cdef int documents
    # the document so far: the element that is open, its depth, the declared namespaces, nodes and declarations
    cdef int row, level, context
    cdef long long nodes
    cdef Py_ssize_t text_at  # where in its source the text that is read begins
    cdef long long[::1] written_at  # of the tag that begins: where in its source each attribute is written
    # in a narrow scan only paths of names are kept, and an element's entry goes when it ends
    cdef readonly NamePaths paths
    cdef bint is_narrow, wants_attributes, wants_texts

    cdef void mark_document(self) noexcept nogil
    cdef void keep_document(self) noexcept nogil
    cdef void find_paths(self, int row) noexcept nogil
    cdef void find_attribute_paths(self, int above, Py_ssize_t number) noexcept nogil
    cdef void open(self, int name, int tag, long long start) noexcept nogil
    cdef void close(self, long long end) noexcept nogil
    cdef void end_text(self, Py_ssize_t end) noexcept nogil
