/* Offsets of a document in, the values of nodes out; and nodes in, the offsets where they begin out. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>
#include "markup.h"

#define UNPLACED -4      /* the offset of a node that is not found */
#define COLUMNS 6

PyDoc_STRVAR(plain_values_doc, "plain_values($module, source, entries, kinds, wanted, /)\n--\n\n"
    "For each wanted entry the value at its offset, if it is plain text; None if it must be parsed; else the reason.");

static PyObject *plain_values(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t number) {
    if (number != 4 || !PyBytes_Check(args[0]) || !PyTuple_Check(args[1]) || !PyBytes_Check(args[2]) || !PyTuple_Check(args[3])) {
        PyErr_SetString(PyExc_TypeError, "expected bytes, a tuple, bytes and a tuple");
        return NULL;
    }
    const unsigned char *data = (const unsigned char *)PyBytes_AS_STRING(args[0]);
    const unsigned char *kinds = (const unsigned char *)PyBytes_AS_STRING(args[2]);
    Py_ssize_t size = PyBytes_GET_SIZE(args[0]), entries = PyTuple_GET_SIZE(args[1]), count = PyTuple_GET_SIZE(args[3]);
    PyObject *values = PyTuple_New(count);
    for (Py_ssize_t at = 0; values != NULL && at < count; at++) {
        Py_ssize_t place = PyLong_AsSsize_t(PyTuple_GET_ITEM(args[3], at));
        PyObject *value = NULL;
        if (place < 0 || place >= entries || place >= PyBytes_GET_SIZE(args[2]) || kinds[place] > 2) {
            if (!PyErr_Occurred()) PyErr_SetString(PyExc_IndexError, "an entry that is not there");
        } else {
            PyObject *entry = PyTuple_GET_ITEM(args[1], place);
            Py_ssize_t offset = PyLong_AsSsize_t(entry);
            if (!PyErr_Occurred()) value = offset < 0 ? Py_NewRef(entry) : READ_VALUE[kinds[place]](data, offset, size);
        }
        if (value == NULL) Py_CLEAR(values);
        else PyTuple_SET_ITEM(values, at, value);
    }
    return values;
}

/* The place of an attribute in the start tag at a place, or -1. */
static Py_ssize_t find_in_tag(const unsigned char *data, Py_ssize_t at, Py_ssize_t size, const char *wanted, Py_ssize_t length) {
    if (at >= size || data[at] != '<') return -1;
    at = skip_space(data, end_of_name(data, at + 1, size), size);
    while (at < size && data[at] != '>' && data[at] != '/') {
        Py_ssize_t name = at, end = end_of_name(data, at, size);
        at = opening_quote(data, end, size);
        if (at < 0) return -1;
        if (end - name == length && !memcmp(data + name, wanted, (size_t)length)) return name;
        const unsigned char *close = memchr(data + at + 1, data[at], (size_t)(size - at - 1));
        if (close == NULL) return -1;
        at = skip_space(data, close - data + 1, size);
    }
    return -1;
}

PyDoc_STRVAR(find_attribute_doc, "find_attribute($module, source, start, name, /)\n--\n\n"
    "The offset of an attribute, by its name as written, in the start tag at an offset; -1 where there is none.");

static PyObject *find_attribute(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t number) {
    if (number != 3 || !PyBytes_Check(args[0]) || !PyBytes_Check(args[2])) {
        PyErr_SetString(PyExc_TypeError, "expected bytes, a number and bytes");
        return NULL;
    }
    Py_ssize_t start = PyLong_AsSsize_t(args[1]);
    if (start < 0) return PyErr_Occurred() ? NULL : PyLong_FromLong(-1);
    const unsigned char *data = (const unsigned char *)PyBytes_AS_STRING(args[0]);
    const char *name = PyBytes_AS_STRING(args[2]);
    return PyLong_FromSsize_t(find_in_tag(data, start, PyBytes_GET_SIZE(args[0]), name, PyBytes_GET_SIZE(args[2])));
}

/* Where a text begins right behind the start tag at a place, or -1. */
static Py_ssize_t find_behind_tag(const unsigned char *data, Py_ssize_t start, Py_ssize_t size) {
    int is_empty = 0;
    Py_ssize_t at = end_of_tag(data, start, size, &is_empty);
    return at >= 0 && !is_empty && at < size && data[at] != '<' && data[at] != '&' ? at : -1;
}

PyDoc_STRVAR(find_text_doc, "find_text($module, source, start, /)\n--\n\n"
    "The offset of a text that begins right behind the start tag at an offset; -1 where something else stands.");

static PyObject *find_text(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t number) {
    if (number != 2 || !PyBytes_Check(args[0])) {
        PyErr_SetString(PyExc_TypeError, "expected bytes and a number");
        return NULL;
    }
    Py_ssize_t start = PyLong_AsSsize_t(args[1]), size = PyBytes_GET_SIZE(args[0]);
    if (start < 0) return PyErr_Occurred() ? NULL : PyLong_FromLong(-1);
    const unsigned char *data = (const unsigned char *)PyBytes_AS_STRING(args[0]);
    return PyLong_FromSsize_t(find_behind_tag(data, start, size));
}

typedef struct {
    const unsigned char *data;
    Py_ssize_t size, elements, first_text, nodes;
    const int64_t *start;
    const int32_t *parent, *attribute_tag, *text_first;
    PyObject *tags;
} Placing;

/* The offset of a node; below 0 where Python must look for it, -1 with an error set. */
static Py_ssize_t place_node(const Placing *placing, int32_t node) {
    if (node < placing->elements) return (Py_ssize_t)placing->start[node];
    int32_t owner = node < placing->nodes ? placing->parent[node] : -1;
    if (owner < 0 || owner >= placing->elements) return UNPLACED;
    Py_ssize_t start = (Py_ssize_t)placing->start[owner], length = 0;
    if (start < 0) return UNPLACED;
    if (node >= placing->first_text) {
        int is_first = node - placing->first_text == placing->text_first[owner];  /* of all in the element */
        Py_ssize_t found = is_first ? find_behind_tag(placing->data, start, placing->size) : -1;
        return found < 0 ? UNPLACED : found;
    }
    int32_t number = placing->attribute_tag[node - placing->elements];
    PyObject *tag = number >= 0 && number < PyList_GET_SIZE(placing->tags) ? PyList_GET_ITEM(placing->tags, number) : NULL;
    const char *name = tag == NULL ? NULL : PyUnicode_AsUTF8AndSize(tag, &length);
    if (name == NULL) return PyErr_Occurred() ? -1 : UNPLACED;
    Py_ssize_t found = find_in_tag(placing->data, start, placing->size, name, length);
    return found < 0 ? UNPLACED : found;
}

PyDoc_STRVAR(place_nodes_doc, "place_nodes($module, sources, nodes, table, tags, offsets, /)\n--\n\n"
    "Put the offsets of nodes into `offsets`, -4 where one is not found; returns how many are not.\n\n"
    "`sources` are documents, each of which has as many of the nodes as the others. `table` has the columns start,\n"
    "parent, attribute_tag and text_first, `tags` the names as written. A node below 0 is a reason, and stays.");

/* The columns of nodes, of a table and of offsets, as arguments have them; 0 with an error set, and none is held. */
static int hold_columns(PyObject *const *args, Py_buffer *columns, Py_ssize_t *counts) {
    PyObject *objects[COLUMNS] = {args[1], NULL, NULL, NULL, NULL, args[4]};
    for (int at = 0; at < 4; at++) objects[at + 1] = PyTuple_GET_ITEM(args[2], at);
    static const Py_ssize_t sizes[COLUMNS] = {4, 8, 4, 4, 4, 8};
    int held = 0;
    for (; held < COLUMNS; held++) {
        int flags = PyBUF_C_CONTIGUOUS | (held == COLUMNS - 1 ? PyBUF_WRITABLE : 0);
        if (PyObject_GetBuffer(objects[held], &columns[held], flags)) goto wrong;
        counts[held] = columns[held].len / sizes[held];
        if (columns[held].itemsize == sizes[held] && columns[held].ndim == 1) continue;
        PyErr_SetString(PyExc_ValueError, "expected columns of 4 bytes an entry, offsets of 8");
        PyBuffer_Release(&columns[held]);
        goto wrong;
    }
    if (counts[5] >= counts[0] && counts[4] >= counts[1] && counts[2] >= counts[1] + counts[3]) return 1;
    PyErr_SetString(PyExc_ValueError, "columns of different lengths");
wrong:
    while (held) PyBuffer_Release(&columns[--held]);
    return 0;
}

/* Put the offsets of some nodes of a document; how many are not found, or -1 with an error set. */
static Py_ssize_t place_some(const Placing *placing, const int32_t *nodes, int64_t *offsets, Py_ssize_t number) {
    Py_ssize_t unplaced = 0;
    for (Py_ssize_t at = 0; at < number; at++) {
        offsets[at] = nodes[at] < 0 ? nodes[at] : place_node(placing, nodes[at]);
        if (nodes[at] >= 0 && offsets[at] == -1) return -1;
        unplaced += offsets[at] == UNPLACED;
    }
    return unplaced;
}

static PyObject *place_nodes(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t number) {
    if (number != 5 || !PyList_Check(args[0]) || !PyTuple_Check(args[2]) || PyTuple_GET_SIZE(args[2]) != 4 || !PyList_Check(args[3])) {
        PyErr_SetString(PyExc_TypeError, "expected documents, nodes, four columns, a list and offsets");
        return NULL;
    }
    Py_buffer columns[COLUMNS];
    Py_ssize_t counts[COLUMNS], unplaced = 0, found = 0;
    if (!hold_columns(args, columns, counts)) return NULL;
    const Py_ssize_t documents = PyList_GET_SIZE(args[0]), each = documents ? counts[0] / documents : 0;
    if (counts[0] != each * documents) {
        PyErr_SetString(PyExc_ValueError, "expected as many nodes of each document");
        found = -1;
    }
    for (Py_ssize_t document = 0; found >= 0 && document < documents; document++, unplaced += found) {
        PyObject *source = PyList_GET_ITEM(args[0], document);
        if (!PyBytes_Check(source)) {
            PyErr_SetString(PyExc_TypeError, "expected documents as bytes");
            found = -1;
            break;
        }
        const Placing placing = {
            (const unsigned char *)PyBytes_AS_STRING(source), PyBytes_GET_SIZE(source), counts[1], counts[1] + counts[3], counts[2],
            columns[1].buf, columns[2].buf, columns[3].buf, columns[4].buf, args[3]};
        found = place_some(&placing, (const int32_t *)columns[0].buf + each * document, (int64_t *)columns[5].buf + each * document, each);
    }
    for (int held = COLUMNS; held;) PyBuffer_Release(&columns[--held]);
    return found < 0 ? NULL : PyLong_FromSsize_t(unplaced);
}

static PyMethodDef functions[] = {
    {"find_attribute", (PyCFunction)(void (*)(void))find_attribute, METH_FASTCALL, find_attribute_doc},
    {"find_text", (PyCFunction)(void (*)(void))find_text, METH_FASTCALL, find_text_doc},
    {"place_nodes", (PyCFunction)(void (*)(void))place_nodes, METH_FASTCALL, place_nodes_doc},
    {"plain_values", (PyCFunction)(void (*)(void))plain_values, METH_FASTCALL, plain_values_doc},
    {NULL, NULL, 0, NULL}};

static PyModuleDef module = {
    PyModuleDef_HEAD_INIT, .m_name = "offsets", .m_doc = "What stands at offsets, and at which offset a node begins, without Python.", .m_methods = functions};

PyMODINIT_FUNC PyInit_offsets(void) { return PyModuleDef_Init(&module); }
