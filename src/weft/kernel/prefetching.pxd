cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define weft_prefetch(place) __builtin_prefetch(place)
    #else
    #define weft_prefetch(place) ((void)(place))
    #endif
    """
    void prefetch "weft_prefetch"(const void *place) noexcept nogil
