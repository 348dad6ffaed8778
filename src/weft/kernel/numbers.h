/* Numbers in bytes, seven bits a byte, the low ones first; and checksums. */
#ifndef WEFT_NUMBERS_H
#define WEFT_NUMBERS_H
#include <Python.h>
#include <stdint.h>

#define LONGEST 9        /* bytes of a number */

typedef struct {
    const unsigned char *data;
    Py_ssize_t at, size;
    int failed;
} Bytes;

static inline uint64_t get_number(Bytes *bytes) {
    uint64_t value = 0;
    for (int shift = 0; shift < 7 * LONGEST && bytes->at < bytes->size; shift += 7) {
        unsigned char byte = bytes->data[bytes->at++];
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) return value;
    }
    bytes->failed = 1;
    return 0;
}

static inline unsigned long get_checksum(const unsigned char *data) {
    return data[0] | (unsigned long)data[1] << 8 | (unsigned long)data[2] << 16 | (unsigned long)data[3] << 24;
}

static inline unsigned char *put_number(unsigned char *at, uint64_t value) {
    for (; value > 127; value >>= 7) *at++ = (unsigned char)(value & 127) | 128;
    *at++ = (unsigned char)value;
    return at;
}

#endif
