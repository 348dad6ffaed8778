from libc.string cimport memcpy

cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define weft_low_zeros(bits) __builtin_ctzll(bits)
    #if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    #define weft_in_order(bits) __builtin_bswap64(bits)
    #else
    #define weft_in_order(bits) (bits)
    #endif
    #else
    static int weft_low_zeros(unsigned long long bits) { int zeros = 0; while (!(bits >> zeros & 1)) zeros++; return zeros; }
    #define weft_in_order(bits) (bits)
    #endif
    #if defined(__SSE2__)
    #include <emmintrin.h>
    #define weft_is(bytes, byte) _mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte))
    #define weft_is_most(bytes, most) _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(most)), bytes)
    #define weft_bits(stops) ((unsigned long long)_mm_movemask_epi8(stops))
    static inline unsigned long long weft_text_bits(const unsigned char *s) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)s);
        __m128i stops = _mm_or_si128(weft_is_most(bytes, 31), weft_is(bytes, '<'));
        return weft_bits(_mm_or_si128(_mm_or_si128(stops, weft_is(bytes, '&')), weft_is(bytes, ']')));
    }
    static inline Py_ssize_t weft_text_run(const unsigned char *s) {
        return weft_low_zeros(weft_text_bits(s) | 0x10000);
    }
    static inline Py_ssize_t weft_long_text_run(const unsigned char *s) {
        unsigned long long bits = weft_text_bits(s) | weft_text_bits(s + 16) << 16;
        bits |= weft_text_bits(s + 32) << 32 | weft_text_bits(s + 48) << 48;
        return bits ? weft_low_zeros(bits) : 64;
    }
    static inline Py_ssize_t weft_value_run(const unsigned char *s, unsigned char quote) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)s);
        __m128i stops = _mm_or_si128(weft_is_most(bytes, 31), weft_is(bytes, '<'));
        stops = _mm_or_si128(_mm_or_si128(stops, weft_is(bytes, '&')), weft_is(bytes, (char)quote));
        return weft_low_zeros(weft_bits(stops) | 0x10000);
    }
    static inline Py_ssize_t weft_name_run(const unsigned char *s) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)s);
        __m128i stops = _mm_or_si128(weft_is_most(bytes, 32), weft_is(bytes, '/'));
        stops = _mm_or_si128(stops, weft_is(_mm_and_si128(bytes, _mm_set1_epi8((char)0xFC)), '<'));
        return weft_low_zeros(weft_bits(stops) | 0x10000);
    }
    #else
    static inline Py_ssize_t weft_text_run(const unsigned char *s) {
        Py_ssize_t size = 0;
        while (size < 16 && s[size] >= 32 && s[size] != '<' && s[size] != '&' && s[size] != ']') size++;
        return size;
    }
    static inline Py_ssize_t weft_long_text_run(const unsigned char *s) {
        Py_ssize_t size = 0, more = 16;
        while (size < 64 && more == 16) { more = weft_text_run(s + size); size += more; }
        return size;
    }
    static inline Py_ssize_t weft_value_run(const unsigned char *s, unsigned char quote) {
        Py_ssize_t size = 0;
        while (size < 16 && s[size] >= 32 && s[size] != '<' && s[size] != '&' && s[size] != quote) size++;
        return size;
    }
    static inline Py_ssize_t weft_name_run(const unsigned char *s) {
        Py_ssize_t size = 0;
        while (size < 16 && s[size] > 32 && s[size] != '/' && (s[size] & 0xFC) != '<') size++;
        return size;
    }
    #endif
    """
    Py_ssize_t text_run "weft_text_run"(const unsigned char* s) noexcept nogil
    Py_ssize_t long_text_run "weft_long_text_run"(const unsigned char* s) noexcept nogil
    Py_ssize_t value_run "weft_value_run"(const unsigned char* s, unsigned char quote) noexcept nogil
    Py_ssize_t name_run "weft_name_run"(const unsigned char* s) noexcept nogil
    int low_zeros "weft_low_zeros"(unsigned long long bits) noexcept nogil
    unsigned long long in_order "weft_in_order"(unsigned long long bits) noexcept nogil


cdef inline unsigned long long eight_at(unsigned char* s, Py_ssize_t p) noexcept nogil:
    cdef unsigned long long together
    memcpy(&together, s + p, 8)
    return in_order(together)


cdef inline void copy_sixteen(unsigned char[::1] into, Py_ssize_t at, unsigned char* s, Py_ssize_t p) noexcept nogil:
    memcpy(&into[at], s + p, 16)


cdef inline void copy_sixty_four(unsigned char[::1] into, Py_ssize_t at, unsigned char* s, Py_ssize_t p) noexcept nogil:
    memcpy(&into[at], s + p, 64)


cdef inline Py_ssize_t copy_stretch(
    unsigned char[::1] into, Py_ssize_t at, unsigned char* s, Py_ssize_t p, Py_ssize_t end
) noexcept nogil:
    if p < end:
        memcpy(&into[at], s + p, end - p)
    return at + end - p


cdef inline Py_ssize_t text_run_at(unsigned char* s, Py_ssize_t p) noexcept nogil:
    return text_run(s + p)


cdef inline Py_ssize_t long_text_run_at(unsigned char* s, Py_ssize_t p) noexcept nogil:
    return long_text_run(s + p)


cdef inline Py_ssize_t value_run_at(unsigned char* s, Py_ssize_t p, unsigned char quote) noexcept nogil:
    return value_run(s + p, quote)


cdef inline Py_ssize_t name_run_at(unsigned char* s, Py_ssize_t p) noexcept nogil:
    return name_run(s + p)


cdef inline Py_ssize_t first_stop(unsigned long long stops) noexcept nogil:
    return low_zeros(stops) >> 3


cdef inline unsigned long long equal_bytes(unsigned long long eight, unsigned char byte) noexcept nogil:
    cdef unsigned long long other = eight ^ (0x0101010101010101ULL * byte)
    return (other - 0x0101010101010101ULL) & ~other


cdef inline unsigned long long bytes_below(unsigned long long eight, unsigned char byte) noexcept nogil:
    return (eight - 0x0101010101010101ULL * byte) & ~eight


cdef inline unsigned long long text_stops(unsigned long long eight) noexcept nogil:
    cdef unsigned long long found = bytes_below(eight, 32) | equal_bytes(eight, 60) | equal_bytes(eight, 38)
    return (found | equal_bytes(eight, 93)) & 0x8080808080808080ULL
