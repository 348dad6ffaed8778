/* A document's bytes in, the regions of its body out: where each begins, and a hash of what it has.
 *
 * A region is a run of whole children of the root. One begins with a child whose hash is the least of all that begin
 * within half of the usual bytes before and behind it. So what is put in, taken out or changed moves the bounds nearby
 * alone, and regions are nearly of one size: a change makes few bytes be read again.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

enum { MOST = 4 }; /* times the usual bytes: a region has no more, unless a child alone has */

typedef struct {
    int64_t start;
    uint64_t hash;
} Child;

typedef struct {
    Child *items;
    Py_ssize_t size, capacity;
} Children;

/* What stands at a `<`: its end, and by how much it makes the parser go deeper. */
typedef struct {
    const char *end;
    int change;
    int is_tag;
} Markup;

/* -- hashes */

static const uint64_t FIRST = 0x9E3779B97F4A7C15u, SECOND = 0xC6A4A7935BD1E995u;

static inline uint64_t mixed(uint64_t hash, uint64_t word) {
    word *= SECOND;
    word ^= word >> 47;
    hash ^= word * SECOND;
    hash *= FIRST;
    return hash ^ (hash >> 29);
}

static uint64_t hash_of(const char *at, size_t size) {
    uint64_t hash = FIRST ^ (size * SECOND), word;
    for (; size >= 8; at += 8, size -= 8) {
        memcpy(&word, at, 8);
        hash = mixed(hash, word);
    }
    word = 0;
    memcpy(&word, at, size);
    return mixed(mixed(hash, word), FIRST);
}

/* -- children */

static const char *behind(const char *at, const char *end, const char *mark, size_t size) {
    while (at != NULL && (size_t)(end - at) >= size) {
        at = memchr(at, mark[0], (size_t)(end - at) - size + 1);
        if (at == NULL || memcmp(at, mark, size) == 0) return at == NULL ? NULL : at + size;
        at++;
    }
    return NULL;
}

static inline int begins(const char *at, const char *end, const char *mark, size_t size) {
    return (size_t)(end - at) >= size && memcmp(at, mark, size) == 0;
}

/* The end of a tag: `>` may stand in the value of an attribute, `<` may not stand anywhere in it. Counts attributes. */
static const char *tag_end(const char *at, const char *end, Py_ssize_t *attributes) {
    for (; at < end; at++) {
        if (*at == '>') return at + 1;
        if (*at == '<') return NULL;
        if (*at == '"' || *at == '\'') {
            const char *close = memchr(at + 1, *at, (size_t)(end - at - 1));
            if (close == NULL || memchr(at, '<', (size_t)(close - at)) != NULL) return NULL;
            at = close;
            (*attributes)++;
        }
    }
    return NULL;
}

/* What is wrong, left open, or a declaration has no end. */
static Markup markup_at(const char *at, const char *end, Py_ssize_t *attributes) {
    Markup found = {NULL, 0, 0};
    if (begins(at, end, "<!--", 4)) {
        found.end = behind(at + 4, end, "-->", 3);
    } else if (begins(at, end, "<![CDATA[", 9)) {
        found.end = behind(at + 9, end, "]]>", 3);
    } else if (begins(at, end, "<?", 2)) {
        found.end = behind(at + 2, end, "?>", 2);
    } else if (!begins(at, end, "<!", 2)) {
        found.end = tag_end(at + 1, end, attributes);
        found.is_tag = 1;
        if (found.end != NULL) found.change = at[1] == '/' ? -1 : found.end[-2] == '/' ? 0 : 1;
    }
    return found;
}

static int add_child(Children *children, int64_t start) {
    if (children->size == children->capacity) {
        Py_ssize_t capacity = children->capacity ? 2 * children->capacity : 1024;
        Child *items = PyMem_RawRealloc(children->items, (size_t)capacity * sizeof(Child));
        if (items == NULL) return 0;
        children->items = items;
        children->capacity = capacity;
    }
    children->items[children->size++] = (Child){start, 0};
    return 1;
}

/* Where the root's children begin, where its end tag does, and how many nodes there are at most: elements, their
 * attributes, and a text before each piece of markup. 1 if that was found, 0 if the document has no regions, -1 without
 * memory. */
static int find_children(const char *data, Py_ssize_t size, Py_ssize_t from, Children *into, int64_t *root_end,
                         Py_ssize_t *nodes) {
    const char *end = data + size, *at = data + from;
    int64_t depth = 0;
    *root_end = -1;
    while ((at = memchr(at, '<', (size_t)(end - at))) != NULL) {
        Markup found = markup_at(at, end, nodes);
        if (found.end == NULL) return 0;
        *nodes += 1 + (found.is_tag && found.change >= 0);
        if (found.is_tag) {
            if (*root_end >= 0 || (depth == 0 && found.change != 1)) return 0;
            if (depth == 1 && found.change >= 0 && !add_child(into, at - data)) return -1;
            depth += found.change;
            if (depth == 0) *root_end = at - data;
        }
        at = found.end;
    }
    return *root_end >= 0;
}

static void hash_children(const char *data, Children *children, int64_t root_end) {
    for (Py_ssize_t at = 0; at < children->size; at++) {
        int64_t start = children->items[at].start;
        int64_t end = at + 1 < children->size ? children->items[at + 1].start : root_end;
        children->items[at].hash = hash_of(data + start, (size_t)(end - start));
    }
}

/* -- regions */

/* Whether a region begins with a child: no other one nearby has a smaller hash, and none before it the same. */
static int is_least(const Children *children, Py_ssize_t at, int64_t near) {
    const Child *items = children->items, own = items[at];
    for (Py_ssize_t other = at - 1; other >= 0 && own.start - items[other].start < near; other--) {
        if (items[other].hash <= own.hash) return 0;
    }
    for (Py_ssize_t other = at + 1; other < children->size && items[other].start - own.start < near; other++) {
        if (items[other].hash < own.hash) return 0;
    }
    return 1;
}

/* Cuts into `starts` and `hashes`, which have room for all children; the number of regions. */
static Py_ssize_t cut_children(const Children *children, int64_t usual, int64_t *starts, uint64_t *hashes) {
    Py_ssize_t regions = 0;
    int64_t least = 0; /* where the last child is that begins a region by its hash */
    for (Py_ssize_t at = 0; at < children->size; at++) {
        Child child = children->items[at];
        int is_first = at == 0 || is_least(children, at, usual / 2);
        if (is_first) least = child.start;
        /* Where none is the least for long, as among children that are all the same, they are cut by their place. */
        int64_t block = (child.start - least) / (MOST * usual);
        if (is_first || block != (children->items[at - 1].start - least) / (MOST * usual)) {
            starts[regions] = child.start;
            hashes[regions++] = 0;
        }
        hashes[regions - 1] = mixed(hashes[regions - 1], child.hash);
    }
    return regions;
}

PyDoc_STRVAR(cut_doc, "cut($module, data, begin, usual, /)\n--\n\n"
    "Where regions of about the usual size begin and their hashes, as bytes of 64-bit integers; where the root's end\n"
    "tag begins; and how many nodes there are at most. None for a document that has no regions.\n\n"
    "`begin` is behind the XML declaration.");

static PyObject *cut(PyObject *Py_UNUSED(module), PyObject *args) {
    Py_buffer data;
    Py_ssize_t begin, usual, nodes = 0;
    if (!PyArg_ParseTuple(args, "y*nn:cut", &data, &begin, &usual)) return NULL;
    PyObject *result = NULL, *starts = NULL, *hashes = NULL;
    Children children = {NULL, 0, 0};
    int64_t root_end = -1;
    int found = 0;
    Py_ssize_t regions = 0;
    if (begin < 0 || begin > data.len || usual < 2) {
        PyErr_SetString(PyExc_ValueError, "expected a place in the document and a size above 1");
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS
    found = find_children(data.buf, data.len, begin, &children, &root_end, &nodes);
    if (found > 0) hash_children(data.buf, &children, root_end);
    Py_END_ALLOW_THREADS
    if (found < 0) {
        PyErr_NoMemory();
        goto done;
    }
    if (found == 0) {
        result = Py_NewRef(Py_None);
        goto done;
    }
    starts = PyBytes_FromStringAndSize(NULL, children.size * 8);
    hashes = PyBytes_FromStringAndSize(NULL, children.size * 8);
    if (starts == NULL || hashes == NULL) goto done;
    regions = cut_children(&children, usual, (int64_t *)PyBytes_AS_STRING(starts), (uint64_t *)PyBytes_AS_STRING(hashes));
    if (_PyBytes_Resize(&starts, regions * 8) || _PyBytes_Resize(&hashes, regions * 8)) goto done;
    result = Py_BuildValue("OOLn", starts, hashes, (long long)root_end, nodes);
done:
    Py_XDECREF(starts);
    Py_XDECREF(hashes);
    PyMem_RawFree(children.items);
    PyBuffer_Release(&data);
    return result;
}

static PyMethodDef functions[] = {{"cut", cut, METH_VARARGS, cut_doc}, {NULL, NULL, 0, NULL}};

static PyModuleDef module = {
    PyModuleDef_HEAD_INIT, .m_name = "regions", .m_doc = "Documents cut into regions.", .m_methods = functions};

PyMODINIT_FUNC PyInit_regions(void) { return PyModuleDef_Init(&module); }
