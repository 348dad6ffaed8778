/* Headers read and written: what is done for every document, before anything else. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>
#include "markup.h"
#include "numbers.h"

#define MAGIC "WV\1"      /* and the version of the form */
#define FLAGS 3          /* where the flags stand, and the numbers behind them */
#define CHECK 4          /* bytes of a checksum */
#define REASONS 3        /* numbers that say why there is no offset: -1, -2, -3 */
#define MOST 10000       /* entries */
#define MOST_KNOWN 256   /* entries that known_values takes */
#define UTF8 2           /* a flag: the document's bytes are read as they are */
#define FARTHEST (INT64_MAX / 4)  /* offset */

/* The next offset or reason; an offset is told by its difference to the one before. */
static long long get_entry(Bytes *bytes, long long *before, long long length) {
    uint64_t value = get_number(bytes);
    if (value < REASONS) return -1 - (long long)value;
    value -= REASONS;
    *before += value & 1 ? -1 - (long long)(value >> 1) : (long long)(value >> 1);
    bytes->failed |= *before < 0 || *before >= length;
    return *before;
}

static PyObject *get_entries(Bytes *bytes, Py_ssize_t count, long long before, long long length) {
    PyObject *entries = PyTuple_New(count);
    for (Py_ssize_t entry = 0; entries != NULL && entry < count; entry++) {
        long long found = get_entry(bytes, &before, length);
        PyObject *made = bytes->failed ? NULL : PyLong_FromLongLong(found);
        if (made == NULL) Py_CLEAR(entries);
        else PyTuple_SET_ITEM(entries, entry, made);
    }
    return entries;
}

PyDoc_STRVAR(unfold_doc, "unfold($module, data, /)\n--\n\n"
    "The fields of a header: tag, length, checksum of the document, root, entries, flags, and its own checksum.\n\n"
    "Raises ValueError where it ends too soon or too late, or has an offset outside the document.");

static PyObject *unfold(PyObject *Py_UNUSED(module), PyObject *data) {
    if (!PyBytes_Check(data)) {
        PyErr_SetString(PyExc_TypeError, "expected bytes");
        return NULL;
    }
    Bytes bytes = {(const unsigned char *)PyBytes_AS_STRING(data), FLAGS + 1, PyBytes_GET_SIZE(data) - CHECK, 0};
    PyObject *tag = NULL, *entries = NULL, *result = NULL;
    if (bytes.size <= FLAGS || memcmp(bytes.data, MAGIC, FLAGS)) goto wrong;
    uint64_t size = get_number(&bytes);
    if (bytes.failed || size > (uint64_t)(bytes.size - bytes.at)) goto wrong;
    tag = PyUnicode_DecodeUTF8((const char *)bytes.data + bytes.at, (Py_ssize_t)size, NULL);
    if (tag == NULL) return NULL;
    bytes.at += (Py_ssize_t)size;
    uint64_t length = get_number(&bytes);
    if (bytes.failed || length > FARTHEST || bytes.size - bytes.at < CHECK) goto wrong;
    unsigned long checksum = get_checksum(bytes.data + bytes.at), own = get_checksum(bytes.data + bytes.size);
    bytes.at += CHECK;
    uint64_t count = get_number(&bytes), root = get_number(&bytes);
    if (bytes.failed || count > MOST || root >= length) goto wrong;
    entries = get_entries(&bytes, (Py_ssize_t)count, (long long)root, (long long)length);
    if (entries == NULL && !bytes.failed) goto done;
    if (bytes.failed || bytes.at != bytes.size) goto wrong;
    result = Py_BuildValue("(OLkLOik)", tag, (long long)length, checksum, (long long)root, entries, bytes.data[FLAGS], own);
    goto done;
wrong:
    PyErr_SetString(PyExc_ValueError, "expected the fields of a header");
done:
    Py_XDECREF(tag);
    Py_XDECREF(entries);
    return result;
}

/* Entries as numbers of Python's, or as a column. */
typedef struct {
    PyObject *tuple;
    const int64_t *column;
    Py_ssize_t count;
} Entries;

/* The entries, as get_entry reads them; NULL where an entry is neither an offset nor a reason. */
static unsigned char *put_entries(unsigned char *at, const Entries *entries, long long before) {
    for (Py_ssize_t place = 0; place < entries->count; place++) {
        long long entry = entries->tuple ? PyLong_AsLongLong(PyTuple_GET_ITEM(entries->tuple, place)) : entries->column[place];
        if (entry < -REASONS || entry > FARTHEST || (entries->tuple && entry == -1 && PyErr_Occurred())) return NULL;
        if (entry < 0) {
            at = put_number(at, (uint64_t)(-1 - entry));
            continue;
        }
        long long difference = entry - before;
        at = put_number(at, REASONS + (difference >= 0 ? (uint64_t)difference << 1 : (uint64_t)(-1 - difference) << 1 | 1));
        before = entry;
    }
    return at;
}

/* A header of length, checksum, root and flags, without its own checksum; NULL with an error set. */
static PyObject *make_header(const char *tag, Py_ssize_t size, const long long *fields, const Entries *entries) {
    long long length = fields[0], checksum = fields[1], root = fields[2];
    PyObject *made = PyBytes_FromStringAndSize(NULL, FLAGS + 1 + CHECK + size + (entries->count + 4) * (LONGEST + 1));
    if (made == NULL) return NULL;
    unsigned char *begin = (unsigned char *)PyBytes_AS_STRING(made), *at = begin + FLAGS;
    memcpy(begin, MAGIC, FLAGS);
    *at++ = (unsigned char)fields[3];
    at = put_number(at, (uint64_t)size);
    memcpy(at, tag, (size_t)size);
    at = put_number(at + size, (uint64_t)length);
    for (int byte = 0; byte < CHECK; byte++) *at++ = (unsigned char)(checksum >> 8 * byte);
    at = put_number(put_number(at, (uint64_t)entries->count), (uint64_t)root);
    at = length < 0 || root < 0 || root > FARTHEST ? NULL : put_entries(at, entries, root);
    if (at == NULL) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "expected the fields of a header");
        Py_DECREF(made);
        return NULL;
    }
    _PyBytes_Resize(&made, at - begin);
    return made;
}

PyDoc_STRVAR(fold_doc, "fold($module, tag, length, checksum, root, entries, flags, /)\n--\n\n"
    "The bytes of a header with these fields, without its own checksum.");

static PyObject *fold(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t number) {
    if (number != 6 || !PyUnicode_Check(args[0]) || !PyTuple_Check(args[4])) {
        PyErr_SetString(PyExc_TypeError, "expected a text, three numbers, a tuple of entries and a number");
        return NULL;
    }
    Py_ssize_t size = 0;
    const char *tag = PyUnicode_AsUTF8AndSize(args[0], &size);
    static const int places[] = {1, 2, 3, 5};
    long long fields[4] = {0};
    for (int at = 0; at < 4 && !PyErr_Occurred(); at++) fields[at] = PyLong_AsLongLong(args[places[at]]);
    if (PyErr_Occurred()) return NULL;
    const Entries entries = {args[4], NULL, PyTuple_GET_SIZE(args[4])};
    return make_header(tag, size, fields, &entries);
}

/* The header of one of several documents, from what each of the lists has for it; NULL with an error set. */
static PyObject *fold_at(PyObject *const *args, Py_ssize_t at, const int64_t *column, Py_ssize_t views) {
    PyObject *document = PyList_GET_ITEM(args[1], at);
    Py_ssize_t size = 0;
    const char *tag = PyUnicode_AsUTF8AndSize(args[0], &size);
    if (tag == NULL) return NULL;
    if (!PyBytes_Check(document)) {
        PyErr_SetString(PyExc_TypeError, "expected documents as bytes");
        return NULL;
    }
    long long checksum = (long long)(PyLong_AsUnsignedLongLongMask(PyList_GET_ITEM(args[2], at)) & 0xffffffff);
    long long root = PyErr_Occurred() ? 0 : PyLong_AsLongLong(PyList_GET_ITEM(args[3], at));
    long long flags = PyErr_Occurred() ? 0 : PyLong_AsLongLong(PyList_GET_ITEM(args[5], at));
    if (PyErr_Occurred()) return NULL;
    const long long fields[4] = {PyBytes_GET_SIZE(document), checksum, root, flags};
    const Entries entries = {NULL, column + views * at, views};
    return make_header(tag, size, fields, &entries);
}

PyDoc_STRVAR(fold_all_doc, "fold_all($module, tag, documents, checksums, roots, entries, flags, /)\n--\n\n"
    "The bytes of the headers of documents, as `fold` makes each. Of checksums the low 32 bits count, and `entries` is a\n"
    "column of 8 bytes an entry: as many for each document.");

static PyObject *fold_all(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t number) {
    int is_right = number == 6 && PyUnicode_Check(args[0]) && PyList_Check(args[1]);
    const Py_ssize_t documents = is_right ? PyList_GET_SIZE(args[1]) : 0;
    static const int lists[] = {2, 3, 5};
    for (int at = 0; is_right && at < 3; at++)
        is_right = PyList_Check(args[lists[at]]) && PyList_GET_SIZE(args[lists[at]]) == documents;
    if (!is_right) {
        PyErr_SetString(PyExc_TypeError, "expected a text, documents, as many checksums and roots, entries and as many flags");
        return NULL;
    }
    Py_buffer column;
    if (PyObject_GetBuffer(args[4], &column, PyBUF_C_CONTIGUOUS)) return NULL;
    const Py_ssize_t views = documents ? column.len / 8 / documents : 0;
    PyObject *made = NULL;
    if (column.itemsize != 8 || column.ndim != 1 || column.len != 8 * views * documents)
        PyErr_SetString(PyExc_ValueError, "expected entries of 8 bytes each, as many for each document");
    else
        made = PyList_New(documents);
    for (Py_ssize_t at = 0; made != NULL && at < documents; at++) {
        PyObject *header = fold_at(args, at, column.buf, views);
        if (header == NULL) Py_CLEAR(made);
        else PyList_SET_ITEM(made, at, header);
    }
    PyBuffer_Release(&column);
    return made;
}

/* The entries of a header that is for a document with this length and checksum; 0 where it is not, or not in UTF-8. */
static int get_known(Bytes *bytes, PyObject *tag, Py_ssize_t length, unsigned long checksum, Py_ssize_t count, long long *entries) {
    if (bytes->size <= FLAGS || memcmp(bytes->data, MAGIC, FLAGS) || !(bytes->data[FLAGS] & UTF8)) return 0;
    uint64_t size = get_number(bytes);
    if (bytes->failed || size != (uint64_t)PyBytes_GET_SIZE(tag) || bytes->size - bytes->at < (Py_ssize_t)size) return 0;
    if (memcmp(bytes->data + bytes->at, PyBytes_AS_STRING(tag), size)) return 0;
    bytes->at += (Py_ssize_t)size;
    if (get_number(bytes) != (uint64_t)length || bytes->failed || bytes->size - bytes->at < CHECK) return 0;
    if (get_checksum(bytes->data + bytes->at) != checksum) return 0;
    bytes->at += CHECK;
    uint64_t number = get_number(bytes), root = get_number(bytes);
    if (bytes->failed || number != (uint64_t)count || number > MOST_KNOWN || root >= (uint64_t)length) return 0;
    long long before = (long long)root;
    for (Py_ssize_t entry = 0; entry < count && !bytes->failed; entry++) entries[entry] = get_entry(bytes, &before, length);
    return !bytes->failed && bytes->at == bytes->size;
}

/* The value of an entry and what a dict has for it, at the ends of two lists; 0 where it is not known, or an error. */
static int add_known(PyObject *values, PyObject *held, PyObject *value, PyObject *constants) {
    if (value == NULL) return 0;
    PyObject *found = PyDict_GetItemWithError(constants, value);
    int is_added = !PyErr_Occurred() && !PyList_Append(values, value) && (found == NULL || !PyList_Append(held, found));
    Py_DECREF(value);
    return is_added;
}

/* How many entries are wanted; -1 with an error set where the arguments of known_values are none. */
static Py_ssize_t wanted_values(PyObject *const *args, Py_ssize_t number) {
    int is_right = number == 8 && PyTuple_Check(args[4]) && PyTuple_Check(args[5]);
    for (int at = 0; is_right && at < 4; at++) is_right = PyBytes_Check(args[at]);
    Py_ssize_t count = is_right ? PyTuple_GET_SIZE(args[4]) : 0;
    is_right = is_right && PyTuple_GET_SIZE(args[5]) == count;
    for (Py_ssize_t at = 0; at < count && is_right; at++) is_right = PyDict_Check(PyTuple_GET_ITEM(args[5], at));
    if (is_right) return count;
    PyErr_SetString(PyExc_TypeError, "expected bytes four times, as many entries as dicts and two numbers");
    return -1;
}

PyDoc_STRVAR(known_values_doc, "known_values($module, header, source, tag, kinds, wanted, constants, own, checksum, /)\n--\n\n"
    "For each wanted entry of a header its value, or None where it is absent, if all of them are there and plain text;\n"
    "and what the constants, a dict an entry, have for these values, where they have something.\n\n"
    "None where one is not, or where the header is not this tag's, or not the source's. `own` and `checksum` are what\n"
    "the header's bytes, without the last four, and the source come to; their low 32 bits count.");

static PyObject *known_values(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t number) {
    Py_ssize_t count = wanted_values(args, number);
    if (count < 0) return NULL;
    unsigned long own = PyLong_AsUnsignedLongMask(args[6]) & 0xffffffff;
    unsigned long checksum = PyErr_Occurred() ? 0 : PyLong_AsUnsignedLongMask(args[7]) & 0xffffffff;
    if (PyErr_Occurred()) return NULL;
    Bytes bytes = {(const unsigned char *)PyBytes_AS_STRING(args[0]), FLAGS + 1, PyBytes_GET_SIZE(args[0]) - CHECK, 0};
    const unsigned char *data = (const unsigned char *)PyBytes_AS_STRING(args[1]);
    const unsigned char *kinds = (const unsigned char *)PyBytes_AS_STRING(args[3]);
    Py_ssize_t size = PyBytes_GET_SIZE(args[1]), entries = PyBytes_GET_SIZE(args[3]);
    long long entry[MOST_KNOWN];
    if (bytes.size < 0 || get_checksum(bytes.data + bytes.size) != own) Py_RETURN_NONE;
    if (!get_known(&bytes, args[2], size, checksum, entries, entry)) Py_RETURN_NONE;
    PyObject *values = PyList_New(0), *held = PyList_New(0), *result = NULL;
    int is_known = values != NULL && held != NULL;
    for (Py_ssize_t at = 0; is_known && at < count; at++) {
        Py_ssize_t place = PyLong_AsSsize_t(PyTuple_GET_ITEM(args[4], at));
        if (place < 0 || place >= entries || kinds[place] > 2) {
            if (!PyErr_Occurred()) PyErr_SetString(PyExc_IndexError, "an entry that is not there");
            is_known = 0;
        } else if (entry[place] < 0) {
            is_known = entry[place] == -1 && !PyList_Append(values, Py_None);
        } else {
            PyObject *value = READ_VALUE[kinds[place]](data, (Py_ssize_t)entry[place], size);
            is_known = value != Py_None && add_known(values, held, value, PyTuple_GET_ITEM(args[5], at));
            if (value == Py_None) Py_DECREF(value);
        }
    }
    if (is_known) result = PyTuple_Pack(2, values, held);
    else if (!PyErr_Occurred()) result = Py_NewRef(Py_None);
    Py_XDECREF(values);
    Py_XDECREF(held);
    return result;
}

static PyMethodDef functions[] = {
    {"unfold", unfold, METH_O, unfold_doc},
    {"fold", (PyCFunction)(void (*)(void))fold, METH_FASTCALL, fold_doc},
    {"fold_all", (PyCFunction)(void (*)(void))fold_all, METH_FASTCALL, fold_all_doc},
    {"known_values", (PyCFunction)(void (*)(void))known_values, METH_FASTCALL, known_values_doc},
    {NULL, NULL, 0, NULL}};

static PyModuleDef module = {
    PyModuleDef_HEAD_INIT, .m_name = "headers", .m_doc = "Headers, without Python.", .m_methods = functions};

PyMODINIT_FUNC PyInit_headers(void) { return PyModuleDef_Init(&module); }
