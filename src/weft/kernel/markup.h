/* What stands at offsets of a document: where tags, names and texts end, and values that are plain text. */
#ifndef WEFT_MARKUP_H
#define WEFT_MARKUP_H
#include <Python.h>
#include <string.h>

/* Where plain text ends: at a `<` or at the quote that closes an attribute; -1 where there is something to be read. */
static inline Py_ssize_t end_of_text(const unsigned char *data, Py_ssize_t at, Py_ssize_t size, unsigned char quote) {
    for (; at < size; at++) {
        unsigned char byte = data[at];
        if (byte == '&' || byte == '\r' || (quote && (byte == '\t' || byte == '\n'))) return -1;
        if (byte == (quote ? quote : '<')) return at;
    }
    return -1;
}

static inline Py_ssize_t skip_space(const unsigned char *data, Py_ssize_t at, Py_ssize_t size) {
    while (at < size && (data[at] == ' ' || data[at] == '\t' || data[at] == '\r' || data[at] == '\n')) at++;
    return at;
}

/* Behind the start tag at a place, or -1; `is_empty` tells whether it ends the element too. */
static inline Py_ssize_t end_of_tag(const unsigned char *data, Py_ssize_t at, Py_ssize_t size, int *is_empty) {
    if (at >= size || data[at] != '<') return -1;
    for (at++; at < size && data[at] != '>'; at++) {
        unsigned char byte = data[at];
        if (byte == '<') return -1;
        if (byte != '"' && byte != '\'') continue;
        for (at++; at < size && data[at] != byte; at++)
            if (data[at] == '<') return -1;
    }
    *is_empty = at < size && data[at - 1] == '/';
    return at < size ? at + 1 : -1;
}

static inline PyObject *decoded(const unsigned char *data, Py_ssize_t from, Py_ssize_t to) {
    PyObject *text = PyUnicode_DecodeUTF8((const char *)data + from, to - from, NULL);
    if (text != NULL || !PyErr_ExceptionMatches(PyExc_UnicodeDecodeError)) return text;
    PyErr_Clear();
    Py_RETURN_NONE;
}

static inline PyObject *element_value(const unsigned char *data, Py_ssize_t at, Py_ssize_t size) {
    int is_empty = 0;
    Py_ssize_t from = end_of_tag(data, at, size, &is_empty);
    if (from >= 0 && is_empty) return PyUnicode_New(0, 0);
    Py_ssize_t to = from < 0 ? -1 : end_of_text(data, from, size, 0);
    if (to < 0 || to + 1 >= size || data[to + 1] != '/') Py_RETURN_NONE;
    return decoded(data, from, to);
}

static inline Py_ssize_t end_of_name(const unsigned char *data, Py_ssize_t at, Py_ssize_t size) {
    while (at < size && !strchr(" \t\r\n=<>\"'/", data[at])) at++;
    return at;
}

/* The quote that opens an attribute's value, behind the end of its name, or -1. */
static inline Py_ssize_t opening_quote(const unsigned char *data, Py_ssize_t at, Py_ssize_t size) {
    at = skip_space(data, at, size);
    if (at >= size || data[at] != '=') return -1;
    at = skip_space(data, at + 1, size);
    return at < size && (data[at] == '"' || data[at] == '\'') ? at : -1;
}

static inline PyObject *attribute_value(const unsigned char *data, Py_ssize_t at, Py_ssize_t size) {
    at = opening_quote(data, end_of_name(data, at, size), size);
    if (at < 0) Py_RETURN_NONE;
    Py_ssize_t to = end_of_text(data, at + 1, size, data[at]);
    if (to < 0) Py_RETURN_NONE;
    return decoded(data, at + 1, to);
}

static inline PyObject *text_value(const unsigned char *data, Py_ssize_t at, Py_ssize_t size) {
    Py_ssize_t to = end_of_text(data, at, size, 0);
    if (to < 0 || to == at || to + 1 >= size || data[to + 1] == '!') Py_RETURN_NONE;
    return decoded(data, at, to);
}

typedef PyObject *(*ReadValue)(const unsigned char *, Py_ssize_t, Py_ssize_t);
static const ReadValue READ_VALUE[] = {element_value, attribute_value, text_value};  /* by kind of node */

#endif
