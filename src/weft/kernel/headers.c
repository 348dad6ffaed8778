/* Headers read and written, and what stands at offsets: what is done for every document, before anything else. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

#define MAGIC "WV\1"      /* and the version of the form */
#define FLAGS 3          /* where the flags stand, and the numbers behind them */
#define CHECK 4          /* bytes of a checksum */
#define REASONS 3        /* numbers that say why there is no offset: -1, -2, -3 */
#define UNPLACED -4      /* the offset of a node that is not found */
#define LONGEST 9        /* bytes of a number */
#define MOST 10000       /* entries */
#define MOST_KNOWN 256   /* entries that known_values takes */
#define UTF8 2           /* a flag: the document's bytes are read as they are */
#define FARTHEST (INT64_MAX / 4)  /* offset */

typedef struct {
    const unsigned char *data;
    Py_ssize_t at, size;
    int failed;
} Bytes;

/* A number, seven bits a byte, the low ones first. */
static uint64_t get_number(Bytes *bytes) {
    uint64_t value = 0;
    for (int shift = 0; shift < 7 * LONGEST && bytes->at < bytes->size; shift += 7) {
        unsigned char byte = bytes->data[bytes->at++];
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) return value;
    }
    bytes->failed = 1;
    return 0;
}

static unsigned long get_checksum(const unsigned char *data) {
    return data[0] | (unsigned long)data[1] << 8 | (unsigned long)data[2] << 16 | (unsigned long)data[3] << 24;
}

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

static unsigned char *put_number(unsigned char *at, uint64_t value) {
    for (; value > 127; value >>= 7) *at++ = (unsigned char)(value & 127) | 128;
    *at++ = (unsigned char)value;
    return at;
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
    "The bytes of a header with these fields, without its own checksum. Entries are a tuple, or a column of 8 bytes each.");

static PyObject *fold(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t number) {
    if (number != 6 || !PyUnicode_Check(args[0])) {
        PyErr_SetString(PyExc_TypeError, "expected a text, three numbers, entries and a number");
        return NULL;
    }
    Py_ssize_t size = 0;
    const char *tag = PyUnicode_AsUTF8AndSize(args[0], &size);
    static const int places[] = {1, 2, 3, 5};
    long long fields[4] = {0};
    for (int at = 0; at < 4 && !PyErr_Occurred(); at++) fields[at] = PyLong_AsLongLong(args[places[at]]);
    if (PyErr_Occurred()) return NULL;
    if (PyTuple_Check(args[4])) {
        const Entries entries = {args[4], NULL, PyTuple_GET_SIZE(args[4])};
        return make_header(tag, size, fields, &entries);
    }
    Py_buffer column;
    if (PyObject_GetBuffer(args[4], &column, PyBUF_C_CONTIGUOUS)) return NULL;
    PyObject *made = NULL;
    const Entries entries = {NULL, column.buf, column.len / 8};
    if (column.itemsize == 8 && column.ndim == 1)
        made = make_header(tag, size, fields, &entries);
    else
        PyErr_SetString(PyExc_ValueError, "expected entries of 8 bytes each");
    PyBuffer_Release(&column);
    return made;
}

/* Where plain text ends: at a `<` or at the quote that closes an attribute; -1 where there is something to be read. */
static Py_ssize_t end_of_text(const unsigned char *data, Py_ssize_t at, Py_ssize_t size, unsigned char quote) {
    for (; at < size; at++) {
        unsigned char byte = data[at];
        if (byte == '&' || byte == '\r' || (quote && (byte == '\t' || byte == '\n'))) return -1;
        if (byte == (quote ? quote : '<')) return at;
    }
    return -1;
}

static Py_ssize_t skip_space(const unsigned char *data, Py_ssize_t at, Py_ssize_t size) {
    while (at < size && (data[at] == ' ' || data[at] == '\t' || data[at] == '\r' || data[at] == '\n')) at++;
    return at;
}

/* Behind the start tag at a place, or -1; `is_empty` tells whether it ends the element too. */
static Py_ssize_t end_of_tag(const unsigned char *data, Py_ssize_t at, Py_ssize_t size, int *is_empty) {
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

static PyObject *decoded(const unsigned char *data, Py_ssize_t from, Py_ssize_t to) {
    PyObject *text = PyUnicode_DecodeUTF8((const char *)data + from, to - from, NULL);
    if (text != NULL || !PyErr_ExceptionMatches(PyExc_UnicodeDecodeError)) return text;
    PyErr_Clear();
    Py_RETURN_NONE;
}

static PyObject *element_value(const unsigned char *data, Py_ssize_t at, Py_ssize_t size) {
    int is_empty = 0;
    Py_ssize_t from = end_of_tag(data, at, size, &is_empty);
    if (from >= 0 && is_empty) return PyUnicode_New(0, 0);
    Py_ssize_t to = from < 0 ? -1 : end_of_text(data, from, size, 0);
    if (to < 0 || to + 1 >= size || data[to + 1] != '/') Py_RETURN_NONE;
    return decoded(data, from, to);
}

static Py_ssize_t end_of_name(const unsigned char *data, Py_ssize_t at, Py_ssize_t size) {
    while (at < size && !strchr(" \t\r\n=<>\"'/", data[at])) at++;
    return at;
}

/* The quote that opens an attribute's value, behind the end of its name, or -1. */
static Py_ssize_t opening_quote(const unsigned char *data, Py_ssize_t at, Py_ssize_t size) {
    at = skip_space(data, at, size);
    if (at >= size || data[at] != '=') return -1;
    at = skip_space(data, at + 1, size);
    return at < size && (data[at] == '"' || data[at] == '\'') ? at : -1;
}

static PyObject *attribute_value(const unsigned char *data, Py_ssize_t at, Py_ssize_t size) {
    at = opening_quote(data, end_of_name(data, at, size), size);
    if (at < 0) Py_RETURN_NONE;
    Py_ssize_t to = end_of_text(data, at + 1, size, data[at]);
    if (to < 0) Py_RETURN_NONE;
    return decoded(data, at + 1, to);
}

static PyObject *text_value(const unsigned char *data, Py_ssize_t at, Py_ssize_t size) {
    Py_ssize_t to = end_of_text(data, at, size, 0);
    if (to < 0 || to == at || to + 1 >= size || data[to + 1] == '!') Py_RETURN_NONE;
    return decoded(data, at, to);
}

typedef PyObject *(*ReadValue)(const unsigned char *, Py_ssize_t, Py_ssize_t);
static const ReadValue READ_VALUE[] = {element_value, attribute_value, text_value};  /* by kind of node */

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

PyDoc_STRVAR(known_values_doc, "known_values($module, header, source, tag, kinds, wanted, constants, own, checksum, /)\n--\n\n"
    "For each wanted entry of a header its value, or None where it is absent, if all of them are there and plain text;\n"
    "and what the constants, a dict an entry, have for these values, where they have something.\n\n"
    "None where one is not, or where the header is not this tag's, or not the source's. `own` and `checksum` are what\n"
    "the header's bytes, without the last four, and the source come to; their low 32 bits count.");

static PyObject *known_values(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t number) {
    int is_right = number == 8 && PyTuple_Check(args[4]) && PyTuple_Check(args[5]);
    for (int at = 0; is_right && at < 4; at++) is_right = PyBytes_Check(args[at]);
    Py_ssize_t count = is_right ? PyTuple_GET_SIZE(args[4]) : 0;
    is_right = is_right && PyTuple_GET_SIZE(args[5]) == count;
    for (Py_ssize_t at = 0; at < count && is_right; at++) is_right = PyDict_Check(PyTuple_GET_ITEM(args[5], at));
    if (!is_right) {
        PyErr_SetString(PyExc_TypeError, "expected bytes four times, as many entries as dicts and two numbers");
        return NULL;
    }
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

static PyObject *place_nodes(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t number) {
    if (number != 5 || !PyList_Check(args[0]) || !PyTuple_Check(args[2]) || PyTuple_GET_SIZE(args[2]) != 4 || !PyList_Check(args[3])) {
        PyErr_SetString(PyExc_TypeError, "expected documents, nodes, four columns, a list and offsets");
        return NULL;
    }
    PyObject *objects[] = {args[1], NULL, NULL, NULL, NULL, args[4]};
    for (int at = 0; at < 4; at++) objects[at + 1] = PyTuple_GET_ITEM(args[2], at);
    static const Py_ssize_t sizes[] = {4, 8, 4, 4, 4, 8};
    Py_buffer columns[6];
    Py_ssize_t counts[6], unplaced = 0;
    int held = 0, is_right = 1;
    for (; is_right && held < 6; held += is_right) {
        is_right = !PyObject_GetBuffer(objects[held], &columns[held], PyBUF_C_CONTIGUOUS | (held == 5 ? PyBUF_WRITABLE : 0));
        if (!is_right) break;
        counts[held] = columns[held].len / sizes[held];
        if (columns[held].itemsize == sizes[held] && columns[held].ndim == 1) continue;
        PyErr_SetString(PyExc_ValueError, "expected columns of 4 bytes an entry, offsets of 8");
        PyBuffer_Release(&columns[held]);
        is_right = 0;
    }
    if (is_right && (counts[5] < counts[0] || counts[4] < counts[1] || counts[2] < counts[1] + counts[3])) {
        PyErr_SetString(PyExc_ValueError, "columns of different lengths");
        is_right = 0;
    }
    const Py_ssize_t documents = PyList_GET_SIZE(args[0]), each = documents ? counts[0] / documents : 0;
    if (is_right && counts[0] != each * documents) {
        PyErr_SetString(PyExc_ValueError, "expected as many nodes of each document");
        is_right = 0;
    }
    for (Py_ssize_t document = 0; is_right && document < documents; document++) {
        PyObject *source = PyList_GET_ITEM(args[0], document);
        if (!PyBytes_Check(source)) {
            PyErr_SetString(PyExc_TypeError, "expected documents as bytes");
            is_right = 0;
            break;
        }
        const Placing placing = {
            (const unsigned char *)PyBytes_AS_STRING(source), PyBytes_GET_SIZE(source), counts[1], counts[1] + counts[3], counts[2],
            columns[1].buf, columns[2].buf, columns[3].buf, columns[4].buf, args[3]};
        const int32_t *nodes = (const int32_t *)columns[0].buf + each * document;
        int64_t *offsets = (int64_t *)columns[5].buf + each * document;
        for (Py_ssize_t at = 0; is_right && at < each; at++) {
            offsets[at] = nodes[at] < 0 ? nodes[at] : place_node(&placing, nodes[at]);
            unplaced += offsets[at] == UNPLACED;
            is_right = nodes[at] < 0 || offsets[at] != -1;
        }
    }
    while (held) PyBuffer_Release(&columns[--held]);
    return is_right ? PyLong_FromSsize_t(unplaced) : NULL;
}

static PyMethodDef functions[] = {
    {"unfold", unfold, METH_O, unfold_doc},
    {"fold", (PyCFunction)(void (*)(void))fold, METH_FASTCALL, fold_doc},
    {"known_values", (PyCFunction)(void (*)(void))known_values, METH_FASTCALL, known_values_doc},
    {"find_attribute", (PyCFunction)(void (*)(void))find_attribute, METH_FASTCALL, find_attribute_doc},
    {"find_text", (PyCFunction)(void (*)(void))find_text, METH_FASTCALL, find_text_doc},
    {"place_nodes", (PyCFunction)(void (*)(void))place_nodes, METH_FASTCALL, place_nodes_doc},
    {"plain_values", (PyCFunction)(void (*)(void))plain_values, METH_FASTCALL, plain_values_doc},
    {NULL, NULL, 0, NULL}};

static PyModuleDef module = {
    PyModuleDef_HEAD_INIT, .m_name = "headers", .m_doc = "Headers and what stands at their offsets, without Python.", .m_methods = functions};

PyMODINIT_FUNC PyInit_headers(void) { return PyModuleDef_Init(&module); }
