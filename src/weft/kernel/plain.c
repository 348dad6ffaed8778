/* Plain documents in, the events of a scan out: the same entries in the same lists as expat's handlers make.
 *
 * Most documents are plain: UTF-8, names in ASCII, no DOCTYPE, well-formed. These are scanned here, several times as
 * fast as with handlers in Python. Whatever is not plain, and whatever is wrong, is left to expat: `scan` says False,
 * and expat decides what the document is. So nothing may be accepted here that expat would reject or read otherwise;
 * in doubt a document is not plain. tests/properties/test_plain_agrees_with_expat.py holds both together.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

enum { NAME_START = 1, NAME_PART = 2, SPACE = 4, TEXT_STOP = 8, VALUE_STOP = 16 };
/* What is searched one by one is short: a document with more of it is not plain. */
enum { LISTS = 8, MOST_ATTRIBUTES = 32, MOST_BINDINGS = 64, MOST_NAMES = 4096, MOST_PROBES = 256, SEPARATOR = 0x1f };
/* What a step of the scan comes to. FAILED has a Python exception, such as no memory. */
typedef enum { DONE, NOT_PLAIN, FAILED } Result;

static unsigned char class_of[256];

typedef struct {
    const char *at;
    Py_ssize_t size;
} Slice;

/* A table of names that were seen before: bytes as expat would give them, and the Python string of each. */
typedef struct {
    uint64_t hash;
    PyObject *name;
    const char *bytes;
    Py_ssize_t size;
} Entry;

typedef struct {
    Slice prefix;   /* empty for the default namespace; points into the document */
    Slice uri;      /* points into a string that `holders` keeps */
    Py_ssize_t depth;
} Binding;

typedef struct {
    PyObject_HEAD
    PyObject *events, *offsets, *texts, *attribute_events, *attribute_names, *attribute_values;
    PyObject *namespace_events, *namespaces;
    PyObject *empty;
    Py_ssize_t most_depth, most_attributes, most_nodes, longest_namespace; /* a document with more is not plain */
    Py_ssize_t nodes; /* of the document so far, with its namespace declarations */
    Entry *entries;
    size_t capacity, used;
    Slice *open;  /* the written names of the open elements */
    Py_ssize_t open_size, open_capacity;
    Binding *bindings;
    Py_ssize_t bindings_size, bindings_capacity;
    PyObject *holders;
    char *buffer; /* text that is not a slice of the document, and names with their namespace */
    Py_ssize_t buffer_size, buffer_capacity;
} Plain;

/* A document while it is scanned. */
typedef struct {
    const char *begin, *at, *end;
} Cursor;

/* -- small helpers */

static inline int is(unsigned char byte, int kind) { return class_of[byte] & kind; }

static inline int equals(Slice one, Slice other) {
    return one.size == other.size && memcmp(one.at, other.at, (size_t)one.size) == 0;
}

static inline int starts(const Cursor *cursor, const char *word) {
    size_t size = strlen(word);
    return (size_t)(cursor->end - cursor->at) >= size && memcmp(cursor->at, word, size) == 0;
}

static inline void skip_space(Cursor *cursor) {
    while (cursor->at < cursor->end && is((unsigned char)*cursor->at, SPACE)) cursor->at++;
}

/* Room for one more entry of a growing array. */
static Result reserve(void **array, Py_ssize_t *capacity, Py_ssize_t wanted, size_t width) {
    if (wanted <= *capacity) return DONE;
    Py_ssize_t size = *capacity ? *capacity : 64;
    while (size < wanted) size *= 2;
    void *grown = PyMem_Realloc(*array, (size_t)size * width);
    if (grown == NULL) {
        PyErr_NoMemory();
        return FAILED;
    }
    *array = grown;
    *capacity = size;
    return DONE;
}

static Result put(Plain *self, const char *bytes, Py_ssize_t size) {
    Result result = reserve((void **)&self->buffer, &self->buffer_capacity, self->buffer_size + size + 1, 1);
    if (result != DONE) return result;
    memcpy(self->buffer + self->buffer_size, bytes, (size_t)size);
    self->buffer_size += size;
    return DONE;
}

static Result append_number(PyObject *list, Py_ssize_t number) {
    PyObject *object = PyLong_FromSsize_t(number);
    if (object == NULL) return FAILED;
    int failed = PyList_Append(list, object);
    Py_DECREF(object);
    return failed ? FAILED : DONE;
}

/* A new string; NOT_PLAIN for bytes that are not UTF-8, or that XML does not allow. */
static Result decode(const char *bytes, Py_ssize_t size, PyObject **into) {
    for (const char *at = bytes; (at = memchr(at, '\xef', (size_t)(bytes + size - at))) != NULL; at++) {
        if (bytes + size - at >= 3 && (unsigned char)at[1] == 0xbf && (unsigned char)at[2] >= 0xbe) return NOT_PLAIN;
    }
    *into = PyUnicode_DecodeUTF8(bytes, size, "strict");
    if (*into != NULL) return DONE;
    if (!PyErr_ExceptionMatches(PyExc_UnicodeDecodeError)) return FAILED;
    PyErr_Clear();
    return NOT_PLAIN;
}

/* -- names */

/* The string of a name, borrowed from the table. Names that were chosen to be found slowly are not plain. */
static Result intern(Plain *self, const char *bytes, Py_ssize_t size, PyObject **into) {
    uint64_t hash = 1469598103934665603u;
    for (Py_ssize_t at = 0; at < size; at++) hash = (hash ^ (unsigned char)bytes[at]) * 1099511628211u;
    hash ^= hash >> 29;
    if (2 * (self->used + 1) > self->capacity) {
        size_t capacity = self->capacity ? 2 * self->capacity : 256;
        Entry *entries = PyMem_Calloc(capacity, sizeof(Entry));
        if (entries == NULL) {
            PyErr_NoMemory();
            return FAILED;
        }
        for (size_t at = 0; at < self->capacity; at++) {
            if (self->entries[at].name == NULL) continue;
            size_t place = self->entries[at].hash & (capacity - 1);
            while (entries[place].name != NULL) place = (place + 1) & (capacity - 1);
            entries[place] = self->entries[at];
        }
        PyMem_Free(self->entries);
        self->entries = entries;
        self->capacity = capacity;
    }
    size_t place = hash & (self->capacity - 1);
    for (int probes = 0; self->entries[place].name != NULL; place = (place + 1) & (self->capacity - 1)) {
        Entry *entry = &self->entries[place];
        if (++probes > MOST_PROBES) return NOT_PLAIN;
        if (entry->hash == hash && entry->size == size && memcmp(entry->bytes, bytes, (size_t)size) == 0) {
            *into = entry->name;
            return DONE;
        }
    }
    if (self->used == MOST_NAMES) return NOT_PLAIN;
    PyObject *name = PyUnicode_DecodeUTF8(bytes, size, "strict");
    if (name == NULL) return FAILED;
    Py_ssize_t length;
    const char *kept = PyUnicode_AsUTF8AndSize(name, &length);
    if (kept == NULL) {
        Py_DECREF(name);
        return FAILED;
    }
    self->entries[place] = (Entry){hash, name, kept, length};
    self->used++;
    *into = name;
    return DONE;
}

static Result read_name(Cursor *cursor, Slice *name) {
    const char *at = cursor->at;
    if (at >= cursor->end || !is((unsigned char)*at, NAME_START)) return NOT_PLAIN;
    while (at < cursor->end && is((unsigned char)*at, NAME_PART)) at++;
    *name = (Slice){cursor->at, at - cursor->at};
    cursor->at = at;
    return DONE;
}

/* A name's prefix and local part; the prefix is empty where there is none. */
static Result split(Slice name, Slice *prefix, Slice *local) {
    const char *colon = memchr(name.at, ':', (size_t)name.size);
    *prefix = (Slice){name.at, 0};
    *local = name;
    if (colon == NULL) return DONE;
    *prefix = (Slice){name.at, colon - name.at};
    *local = (Slice){colon + 1, name.at + name.size - colon - 1};
    if (prefix->size == 0 || local->size == 0 || !is((unsigned char)*local->at, NAME_START)) return NOT_PLAIN;
    return memchr(local->at, ':', (size_t)local->size) == NULL ? DONE : NOT_PLAIN;
}

/* The namespace that a prefix stands for; NULL if there is none. */
static const Slice *find_uri(const Plain *self, Slice prefix) {
    static const Slice xml = {"http://www.w3.org/XML/1998/namespace", 36};
    for (Py_ssize_t at = self->bindings_size - 1; at >= 0; at--) {
        if (equals(self->bindings[at].prefix, prefix)) return &self->bindings[at].uri;
    }
    return prefix.size == 3 && memcmp(prefix.at, "xml", 3) == 0 ? &xml : NULL;
}

/* A name as expat gives it: the written one, or uri, local name and prefix with separators between them. */
static Result expand(Plain *self, Slice written, int is_attribute, PyObject **into) {
    Slice prefix, local;
    const Slice *uri = NULL;
    if (self->bindings_size > 0 || memchr(written.at, ':', (size_t)written.size) != NULL) {
        if (split(written, &prefix, &local) != DONE) return NOT_PLAIN;
        if (prefix.size > 0 || !is_attribute) uri = find_uri(self, prefix);
        if (prefix.size > 0 && (uri == NULL || uri->size == 0)) return NOT_PLAIN;
    }
    if (uri == NULL || uri->size == 0) {
        return intern(self, written.at, written.size, into);
    }
    static const char separator = SEPARATOR;
    self->buffer_size = 0;
    Result result = put(self, uri->at, uri->size);
    if (result == DONE) result = put(self, &separator, 1);
    if (result == DONE) result = put(self, local.at, local.size);
    if (result == DONE && prefix.size > 0) result = put(self, &separator, 1);
    if (result == DONE && prefix.size > 0) result = put(self, prefix.at, prefix.size);
    if (result != DONE) return result;
    return intern(self, self->buffer, self->buffer_size, into);
}

/* -- text */

/* What `&…;` stands for, put into the buffer: one of the five entities that need no declaration, or a character. */
static Result put_reference(Plain *self, Cursor *cursor) {
    static const struct { const char *word; char means; } known[] = {
        {"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};
    for (size_t at = 0; at < sizeof known / sizeof *known; at++) {
        if (!starts(cursor, known[at].word)) continue;
        cursor->at += strlen(known[at].word);
        return put(self, &known[at].means, 1);
    }
    if (!starts(cursor, "&#")) return NOT_PLAIN;
    const char *at = cursor->at + 2;
    int base = at < cursor->end && *at == 'x' ? 16 : 10;
    if (base == 16) at++;
    const char *digits = at;
    long code = 0;
    for (; at < cursor->end && *at != ';'; at++) {
        int digit = *at >= '0' && *at <= '9' ? *at - '0'
                    : *at >= 'a' && *at <= 'f' ? *at - 'a' + 10
                    : *at >= 'A' && *at <= 'F' ? *at - 'A' + 10 : 99;
        if (digit >= base || (code = code * base + digit) > 0x10ffff) return NOT_PLAIN;
    }
    if (at == digits || at == cursor->end) return NOT_PLAIN;
    if (!(code == 9 || code == 10 || code == 13 || (code >= 0x20 && code < 0xd800) || (code >= 0xe000 && code < 0xfffe)
          || code >= 0x10000)) return NOT_PLAIN;
    cursor->at = at + 1;
    char bytes[4];
    int size = 0;
    if (code < 0x80) {
        bytes[size++] = (char)code;
    } else if (code < 0x800) {
        bytes[size++] = (char)(0xc0 | code >> 6);
    } else if (code < 0x10000) {
        bytes[size++] = (char)(0xe0 | code >> 12);
        bytes[size++] = (char)(0x80 | (code >> 6 & 0x3f));
    } else {
        bytes[size++] = (char)(0xf0 | code >> 18);
        bytes[size++] = (char)(0x80 | (code >> 12 & 0x3f));
        bytes[size++] = (char)(0x80 | (code >> 6 & 0x3f));
    }
    if (code >= 0x80) bytes[size++] = (char)(0x80 | (code & 0x3f));
    return put(self, bytes, size);
}

/* A line's end, or in an attribute's value any white space: what XML makes of it. */
static Result put_space(Plain *self, Cursor *cursor, int in_value) {
    char space = in_value ? ' ' : *cursor->at == '\r' ? '\n' : *cursor->at;
    if (*cursor->at == '\r' && cursor->at + 1 < cursor->end && cursor->at[1] == '\n') cursor->at++;
    cursor->at++;
    return put(self, &space, 1);
}

/* The quoted value of an attribute, as a new string. */
static Result read_value(Plain *self, Cursor *cursor, PyObject **value) {
    char quote = cursor->at < cursor->end ? *cursor->at : 0;
    if (quote != '"' && quote != '\'') return NOT_PLAIN;
    const char *first = ++cursor->at;
    int is_slice = 1;
    self->buffer_size = 0;
    for (;;) {
        const char *piece = cursor->at;
        while (cursor->at < cursor->end && !is((unsigned char)*cursor->at, VALUE_STOP)) cursor->at++;
        if (cursor->at == cursor->end || *cursor->at == '<') return NOT_PLAIN;
        char stop = *cursor->at;
        if (is_slice && stop == quote) break;
        Result result = put(self, piece, cursor->at - piece);
        if (result != DONE) return result;
        is_slice = 0;
        if (stop == quote) break;
        if (stop == '&') result = put_reference(self, cursor);
        else if (is((unsigned char)stop, SPACE)) result = put_space(self, cursor, 1);
        else if (stop == '"' || stop == '\'') result = put(self, cursor->at++, 1);
        else return NOT_PLAIN; /* a control character */
        if (result != DONE) return result;
    }
    const char *bytes = is_slice ? first : self->buffer;
    Py_ssize_t size = is_slice ? cursor->at - first : self->buffer_size;
    cursor->at++;
    return decode(bytes, size, value);
}

/* The text up to the next tag, comment or instruction; CDATA sections are part of it. */
static Result read_text(Plain *self, Cursor *cursor) {
    const char *first = cursor->at;
    int is_slice = 1;
    self->buffer_size = 0;
    for (;;) {
        const char *piece = cursor->at;
        while (cursor->at < cursor->end && !is((unsigned char)*cursor->at, TEXT_STOP)) cursor->at++;
        if (cursor->at == cursor->end) return NOT_PLAIN; /* the root is still open */
        char stop = *cursor->at;
        if (stop == ']') { /* part of the text, unless it begins what may not stand in it */
            if (starts(cursor, "]]>")) return NOT_PLAIN;
            cursor->at++;
            if (is_slice) continue;
            Result put_result = put(self, piece, cursor->at - piece);
            if (put_result != DONE) return put_result;
            continue;
        }
        int is_section = stop == '<' && starts(cursor, "<![CDATA[");
        if (is_slice && stop == '<' && !is_section) break;
        if (is_slice) piece = first;
        Result result = put(self, piece, cursor->at - piece);
        if (result != DONE) return result;
        is_slice = 0;
        if (stop == '<' && !is_section) break;
        if (stop == '&') {
            result = put_reference(self, cursor);
        } else if (stop == '\r') {
            result = put_space(self, cursor, 0);
        } else if (is_section) {
            cursor->at += 9;
            while (result == DONE && !starts(cursor, "]]>")) {
                if (cursor->at == cursor->end) return NOT_PLAIN;
                unsigned char byte = (unsigned char)*cursor->at;
                if (byte == '\r') result = put_space(self, cursor, 0);
                else if (byte < 0x20 && !is(byte, SPACE)) return NOT_PLAIN;
                else result = put(self, cursor->at++, 1);
            }
            cursor->at += 3;
        } else {
            return NOT_PLAIN; /* a control character */
        }
        if (result != DONE) return result;
    }
    const char *bytes = is_slice ? first : self->buffer;
    Py_ssize_t size = is_slice ? cursor->at - first : self->buffer_size;
    if (size == 0) return DONE; /* empty CDATA sections are no text */
    self->nodes++;
    PyObject *text;
    Result result = decode(bytes, size, &text);
    if (result != DONE) return result;
    int failed = PyList_Append(self->texts, text) || PyList_Append(self->events, self->empty);
    Py_DECREF(text);
    return failed ? FAILED : DONE;
}

/* -- markup */

/* `<!--…-->` or `<?…?>`; both part the text around them, and are told where there is some before them. */
static Result read_break(Plain *self, Cursor *cursor) {
    const char *close;
    if (starts(cursor, "<!--")) {
        cursor->at += 4;
        close = "--";
    } else {
        Slice target;
        cursor->at += 2;
        if (read_name(cursor, &target) != DONE || memchr(target.at, ':', (size_t)target.size) != NULL) return NOT_PLAIN;
        if (target.size == 3 && (target.at[0] | 32) == 'x' && (target.at[1] | 32) == 'm' && (target.at[2] | 32) == 'l') {
            return NOT_PLAIN;
        }
        if (!starts(cursor, "?>") && (cursor->at == cursor->end || !is((unsigned char)*cursor->at, SPACE))) {
            return NOT_PLAIN;
        }
        close = "?>";
    }
    while (!starts(cursor, close)) {
        if (cursor->at == cursor->end) return NOT_PLAIN;
        unsigned char byte = (unsigned char)*cursor->at++;
        if (byte >= 0x80 || (byte < 0x20 && !is(byte, SPACE))) return NOT_PLAIN;
    }
    cursor->at += 2;
    if (*close == '-' && (cursor->at == cursor->end || *cursor->at++ != '>')) return NOT_PLAIN;
    Py_ssize_t size = PyList_GET_SIZE(self->events);
    if (size == 0 || PyList_GET_ITEM(self->events, size - 1) != self->empty) return DONE;
    return PyList_Append(self->events, Py_False) ? FAILED : DONE;
}

/* A namespace declaration: `name` is xmlns or xmlns:prefix. Takes `uri` over. */
static Result declare(Plain *self, Slice name, PyObject *uri) {
    Py_ssize_t size;
    const char *bytes = PyUnicode_AsUTF8AndSize(uri, &size);
    if (bytes == NULL || PyList_Append(self->holders, uri)) {
        Py_DECREF(uri);
        return FAILED;
    }
    Py_DECREF(uri); /* the holders keep it */
    if (size > self->longest_namespace || self->bindings_size == MOST_BINDINGS) return NOT_PLAIN;
    Slice prefix = {name.at + name.size, 0};
    if (name.size > 5) prefix = (Slice){name.at + 6, name.size - 6};
    if (name.size > 5 && (size == 0 || prefix.size == 0 || !is((unsigned char)*prefix.at, NAME_START))) return NOT_PLAIN;
    if (memchr(prefix.at, ':', (size_t)prefix.size) != NULL) return NOT_PLAIN;
    if (prefix.size >= 3 && memcmp(prefix.at, "xml", 3) == 0) return NOT_PLAIN;
    if (size >= 14 && memcmp(bytes, "http://www.w3.", 14) == 0 && (strstr(bytes, "/XML/1998/") || strstr(bytes, "xmlns"))) {
        return NOT_PLAIN; /* the two reserved ones are among these */
    }
    Result result = reserve((void **)&self->bindings, &self->bindings_capacity, self->bindings_size + 1, sizeof(Binding));
    if (result != DONE) return result;
    self->bindings[self->bindings_size++] = (Binding){prefix, {bytes, size}, self->open_size};
    PyObject *pair = prefix.size ? Py_BuildValue("(s#O)", prefix.at, prefix.size, uri)
                                 : Py_BuildValue("(OO)", Py_None, size ? uri : Py_None);
    if (pair == NULL) return FAILED;
    int failed = PyList_Append(self->namespaces, pair);
    Py_DECREF(pair);
    return failed ? FAILED : append_number(self->namespace_events, PyList_GET_SIZE(self->events));
}

static Result close_element(Plain *self, Py_ssize_t offset) {
    self->open_size--;
    while (self->bindings_size && self->bindings[self->bindings_size - 1].depth == self->open_size) self->bindings_size--;
    return PyList_Append(self->events, Py_None) ? FAILED : append_number(self->offsets, offset);
}

/* The attributes of a start tag. */
static Result add_attributes(Plain *self, const Slice *names, PyObject **values, int number) {
    Slice prefixes[MOST_ATTRIBUTES], locals[MOST_ATTRIBUTES];
    Result result = DONE;
    for (int at = 0; at < number && result == DONE; at++) {
        if (values[at] == NULL) continue; /* it was a declaration */
        if (split(names[at], &prefixes[at], &locals[at]) != DONE) result = NOT_PLAIN;
        for (int other = 0; other < at && result == DONE; other++) { /* two prefixes may stand for the same namespace */
            if (values[other] != NULL && prefixes[at].size && prefixes[other].size && equals(locals[at], locals[other])) {
                result = NOT_PLAIN;
            }
        }
        PyObject *name = NULL;
        if (result == DONE) result = expand(self, names[at], 1, &name);
        if (result == DONE && PyList_Append(self->attribute_names, name)) result = FAILED;
        if (result == DONE && PyList_Append(self->attribute_values, values[at])) result = FAILED;
        if (result == DONE) result = append_number(self->attribute_events, PyList_GET_SIZE(self->events));
    }
    return result;
}

/* `<name …>` or `<name …/>`. */
static Result read_start(Plain *self, Cursor *cursor) {
    Py_ssize_t offset = cursor->at - cursor->begin;
    Slice name, names[MOST_ATTRIBUTES];
    PyObject *values[MOST_ATTRIBUTES], *expanded;
    int number = 0, is_empty = 0;
    Result result;
    cursor->at++;
    if (read_name(cursor, &name) != DONE || self->open_size == self->most_depth) return NOT_PLAIN;
    for (result = DONE; result == DONE;) {
        const char *before = cursor->at;
        skip_space(cursor);
        if (starts(cursor, "/>")) {
            is_empty = 1;
            cursor->at += 2;
            break;
        }
        if (cursor->at < cursor->end && *cursor->at == '>') {
            cursor->at++;
            break;
        }
        if (cursor->at == before || number == MOST_ATTRIBUTES) result = NOT_PLAIN;
        if (result == DONE) result = read_name(cursor, &names[number]);
        for (int other = 0; other < number && result == DONE; other++) {
            if (equals(names[number], names[other])) result = NOT_PLAIN;
        }
        skip_space(cursor);
        if (result == DONE && (cursor->at == cursor->end || *cursor->at++ != '=')) result = NOT_PLAIN;
        skip_space(cursor);
        if (result == DONE) result = read_value(self, cursor, &values[number]);
        if (result == DONE) number++;
    }
    self->nodes += 1 + number;
    if (number > self->most_attributes) result = NOT_PLAIN;
    for (int at = 0; at < number && result == DONE; at++) {
        Slice declared = names[at];
        if (declared.size < 5 || memcmp(declared.at, "xmlns", 5) || (declared.size > 5 && declared.at[5] != ':')) continue;
        result = declare(self, declared, values[at]);
        values[at] = NULL;
    }
    if (result == DONE && number) result = add_attributes(self, names, values, number);
    for (int at = 0; at < number; at++) Py_XDECREF(values[at]);
    if (result == DONE) result = expand(self, name, 0, &expanded);
    if (result == DONE && PyList_Append(self->events, expanded)) result = FAILED;
    if (result == DONE) result = append_number(self->offsets, offset);
    if (result == DONE) {
        result = reserve((void **)&self->open, &self->open_capacity, self->open_size + 1, sizeof(Slice));
    }
    if (result != DONE) return result;
    self->open[self->open_size++] = name;
    return is_empty ? close_element(self, cursor->at - cursor->begin) : DONE;
}

/* `</name>` of the element that was opened last. */
static Result read_end(Plain *self, Cursor *cursor) {
    Py_ssize_t offset = cursor->at - cursor->begin;
    Slice name;
    cursor->at += 2;
    if (read_name(cursor, &name) != DONE || !equals(name, self->open[self->open_size - 1])) return NOT_PLAIN;
    skip_space(cursor);
    if (cursor->at == cursor->end || *cursor->at++ != '>') return NOT_PLAIN;
    return close_element(self, offset);
}

/* `<?xml version="1.0" encoding="utf-8"?>`, if there is one; another encoding has been decoded before, or is not plain. */
static Result read_declaration(Cursor *cursor) {
    static const char *const known[] = {
        "<?xml version=\"1.0\"?>", "<?xml version='1.0'?>",
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>", "<?xml version=\"1.0\" encoding=\"utf-8\"?>",
        "<?xml version='1.0' encoding='UTF-8'?>", "<?xml version='1.0' encoding='utf-8'?>",
        "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>",
        "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>"};
    if (!starts(cursor, "<?xml ")) return DONE;
    for (size_t at = 0; at < sizeof known / sizeof *known; at++) {
        if (!starts(cursor, known[at])) continue;
        cursor->at += strlen(known[at]);
        return DONE;
    }
    return NOT_PLAIN;
}

static Result read_document(Plain *self, Cursor *cursor) {
    Result result = read_declaration(cursor);
    for (int is_over = 0; result == DONE;) {
        if (self->open_size == 0) {
            skip_space(cursor);
            if (cursor->at == cursor->end) return is_over && self->nodes <= self->most_nodes ? DONE : NOT_PLAIN;
        }
        if (self->nodes > self->most_nodes) return NOT_PLAIN;
        if (*cursor->at != '<') {
            if (self->open_size == 0) return NOT_PLAIN;
            result = read_text(self, cursor);
            if (result != DONE) return result;
        }
        char next = cursor->at + 1 < cursor->end ? cursor->at[1] : 0;
        if (starts(cursor, "<![CDATA[")) {
            if (self->open_size == 0) return NOT_PLAIN;
            result = read_text(self, cursor);
        } else if (next == '/') {
            if (self->open_size == 0) return NOT_PLAIN;
            result = read_end(self, cursor);
            is_over = self->open_size == 0;
        } else if (next == '?' || starts(cursor, "<!--")) {
            result = read_break(self, cursor);
        } else if (is_over) {
            return NOT_PLAIN; /* a second root */
        } else {
            result = read_start(self, cursor);
            is_over = self->open_size == 0;
        }
        if (result == DONE && self->open_size > 0 && cursor->at == cursor->end) return NOT_PLAIN;
    }
    return result;
}

/* -- the Python side */

PyDoc_STRVAR(scan_doc, "scan($self, data, /)\n--\n\n"
    "Scan a document; False if it is not plain, and then some of its events may be in the lists.");

static PyObject *plain_scan(Plain *self, PyObject *data) {
    char *begin;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(data, &begin, &size)) return NULL;
    Cursor cursor = {begin, begin, begin + size};
    self->open_size = self->bindings_size = self->nodes = 0;
    Result result = read_document(self, &cursor);
    self->bindings_size = 0;
    if (PyList_GET_SIZE(self->holders) && PyList_SetSlice(self->holders, 0, PY_SSIZE_T_MAX, NULL)) return NULL;
    if (result == FAILED) return NULL;
    return PyBool_FromLong(result == DONE);
}

static PyObject *plain_new(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(keywords)) {
    PyObject *lists[LISTS];
    Py_ssize_t most_depth, most_attributes, most_nodes, longest_namespace;
    if (!PyArg_ParseTuple(args, "O!O!O!O!O!O!O!O!nnnn", &PyList_Type, &lists[0], &PyList_Type, &lists[1], &PyList_Type,
                          &lists[2], &PyList_Type, &lists[3], &PyList_Type, &lists[4], &PyList_Type, &lists[5],
                          &PyList_Type, &lists[6], &PyList_Type, &lists[7], &most_depth, &most_attributes,
                          &most_nodes, &longest_namespace)) return NULL;
    Plain *self = (Plain *)type->tp_alloc(type, 0);
    if (self == NULL) return NULL;
    PyObject **into[LISTS] = {&self->events, &self->offsets, &self->texts, &self->attribute_events,
                              &self->attribute_names, &self->attribute_values, &self->namespace_events,
                              &self->namespaces};
    for (int at = 0; at < LISTS; at++) *into[at] = Py_NewRef(lists[at]);
    self->most_depth = most_depth;
    self->most_attributes = most_attributes;
    self->most_nodes = most_nodes;
    self->longest_namespace = longest_namespace;
    self->empty = PyUnicode_FromStringAndSize("", 0);
    self->holders = PyList_New(0);
    if (self->empty == NULL || self->holders == NULL) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static int plain_traverse(Plain *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->events);
    Py_VISIT(self->offsets);
    Py_VISIT(self->texts);
    Py_VISIT(self->attribute_events);
    Py_VISIT(self->attribute_names);
    Py_VISIT(self->attribute_values);
    Py_VISIT(self->namespace_events);
    Py_VISIT(self->namespaces);
    Py_VISIT(self->holders);
    return 0;
}

static int plain_clear(Plain *self) {
    Py_CLEAR(self->events);
    Py_CLEAR(self->offsets);
    Py_CLEAR(self->texts);
    Py_CLEAR(self->attribute_events);
    Py_CLEAR(self->attribute_names);
    Py_CLEAR(self->attribute_values);
    Py_CLEAR(self->namespace_events);
    Py_CLEAR(self->namespaces);
    Py_CLEAR(self->holders);
    return 0;
}

static void plain_dealloc(Plain *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    plain_clear(self);
    Py_CLEAR(self->empty);
    for (size_t at = 0; at < self->capacity; at++) Py_XDECREF(self->entries[at].name);
    PyMem_Free(self->entries);
    PyMem_Free(self->open);
    PyMem_Free(self->bindings);
    PyMem_Free(self->buffer);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMethodDef plain_methods[] = {{"scan", (PyCFunction)plain_scan, METH_O, scan_doc}, {NULL, NULL, 0, NULL}};

PyDoc_STRVAR(plain_doc, "Plain(events, offsets, texts, attribute_events, attribute_names, attribute_values, "
    "namespace_events, namespaces, most_depth, most_attributes, most_nodes, longest_namespace, /)\n--\n\nA scan of plain documents into the lists of a Scan.");

static PyType_Slot plain_slots[] = {
    {Py_tp_doc, (void *)plain_doc},       {Py_tp_new, plain_new},     {Py_tp_dealloc, plain_dealloc},
    {Py_tp_traverse, plain_traverse},     {Py_tp_clear, plain_clear}, {Py_tp_methods, plain_methods},
    {0, NULL}};

static PyType_Spec plain_spec = {
    "weft.kernel.plain.Plain", sizeof(Plain), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE, plain_slots};

static int plain_exec(PyObject *module) {
    for (int byte = 0; byte < 256; byte++) {
        int letter = (byte | 32) >= 'a' && (byte | 32) <= 'z' && byte < 0x80;
        int kind = letter || byte == '_' || byte == ':' ? NAME_START | NAME_PART : 0;
        if ((byte >= '0' && byte <= '9') || byte == '-' || byte == '.') kind |= NAME_PART;
        if (byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r') kind |= SPACE;
        if (byte == '<' || byte == '&' || byte == ']' || (byte < 0x20 && byte != '\t' && byte != '\n')) kind |= TEXT_STOP;
        if (byte == '<' || byte == '&' || byte == '"' || byte == '\'' || byte < 0x20) kind |= VALUE_STOP;
        class_of[byte] = (unsigned char)kind;
    }
    PyObject *type = PyType_FromModuleAndSpec(module, &plain_spec, NULL);
    if (type == NULL) return -1;
    int failed = PyModule_AddType(module, (PyTypeObject *)type);
    Py_DECREF(type);
    return failed;
}

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, plain_exec}, {0, NULL}};

static PyModuleDef module = {
    PyModuleDef_HEAD_INIT, .m_name = "plain", .m_doc = "Plain documents, scanned without Python.", .m_slots = module_slots};

PyMODINIT_FUNC PyInit_plain(void) { return PyModuleDef_Init(&module); }
