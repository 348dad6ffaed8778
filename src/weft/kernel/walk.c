/* The nodes of documents in, the one node that each path leads to out: an automaton over the node table's columns. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

#define DEAD 0        /* the state that no step leads out of */
#define START 1       /* the state of a root's parent */
#define ABSENT -1     /* instead of a node: a path leads to none, */
#define SEVERAL -2    /* or to several */
#define MOST_COLUMNS 6

typedef struct {
    const int32_t *at;
    Py_ssize_t size;
} Column;

typedef struct {
    Py_buffer views[4 * MOST_COLUMNS];
    int number;
} Held;

static void release(Held *held) {
    while (held->number) PyBuffer_Release(&held->views[--held->number]);
}

/* A C-contiguous column of 32-bit integers, held until all are released; 0 with an error set where it is none. */
static int hold(Held *held, PyObject *object, Column *column, int flags) {
    Py_buffer *view = &held->views[held->number];
    if (PyObject_GetBuffer(object, view, PyBUF_C_CONTIGUOUS | flags)) return 0;
    held->number++;
    if (view->itemsize != 4 || view->ndim != 1) {
        PyErr_SetString(PyExc_ValueError, "expected columns of 4 bytes an entry");
        return 0;
    }
    column->at = view->buf;
    column->size = view->len / 4;
    return 1;
}

/* The columns of a tuple, of which there are so many. */
static int hold_all(Held *held, PyObject *tuple, Column *columns, int number) {
    if (!PyTuple_Check(tuple) || PyTuple_GET_SIZE(tuple) != number) {
        PyErr_Format(PyExc_TypeError, "expected a tuple of %d columns", number);
        return 0;
    }
    for (int at = 0; at < number; at++)
        if (!hold(held, PyTuple_GET_ITEM(tuple, at), &columns[at], PyBUF_SIMPLE)) return 0;
    return 1;
}

typedef struct {
    Column steps, end_start, ends, element_class, attribute_class, text_class;  /* the automaton */
    Column parent, last, name, attribute_name;                                  /* the table */
    Py_ssize_t width, views;
    const int32_t *bounds;   /* of the document that it is at */
    int32_t *states, *nodes; /* these too, nodes of its own */
} Run;

/* The class of a name; below 0 where it is not known. */
static int32_t class_of(const Column *classes, int32_t name) {
    return name < 0 || name >= classes->size ? -1 : classes->at[name];
}

/* The state behind a step; below 0 where it is not known. */
static int32_t step(const Run *run, int32_t state, int32_t class) {
    if (class < 0 || class >= run->width || (state + 1) * run->width > run->steps.size) return -1;
    int32_t next = run->steps.at[state * run->width + class];
    return next + 1 < run->end_start.size ? next : -1;
}

/* A node in a state: the paths that end there lead to it. */
static void note(const Run *run, int32_t state, Py_ssize_t node) {
    for (int32_t at = run->end_start.at[state]; at < run->end_start.at[state + 1] && at < run->ends.size; at++) {
        int32_t view = run->ends.at[at];
        if (view >= 0 && view < run->views) run->nodes[view] = run->nodes[view] == ABSENT ? (int32_t)node : SEVERAL;
    }
}

/* Elements from one on; what is below a dead state is not looked at. Returns where it stopped. */
static Py_ssize_t follow_elements(const Run *run, Py_ssize_t row) {
    while (row < run->bounds[1]) {
        int32_t above = run->parent.at[row];
        int32_t before = above < run->bounds[0] || above >= row ? START : run->states[above];
        int32_t next = step(run, before, class_of(&run->element_class, run->name.at[row]));
        if (next < 0) return row;
        run->states[row] = next;
        if (next == DEAD) {
            row = run->last.at[row] > row ? (Py_ssize_t)run->last.at[row] + 1 : row + 1;
            continue;
        }
        note(run, next, row++);
    }
    return row;
}

/* Attributes or texts from one on; names are those of attributes, texts have one class. */
static Py_ssize_t follow_leaves(const Run *run, Py_ssize_t node, Py_ssize_t end, const Column *classes, const Column *names, Py_ssize_t first) {
    for (; node < end; node++) {
        int32_t above = run->parent.at[node];
        int32_t before = above < run->bounds[0] || above >= run->bounds[1] ? DEAD : run->states[above];
        if (before == DEAD) continue;
        int32_t next = step(run, before, class_of(classes, names == NULL ? 0 : names->at[node - first]));
        if (next < 0) return node;
        note(run, next, node);
    }
    return node;
}

/* A document from a node on. Returns the node where it must be told more, or -1. */
static Py_ssize_t follow_document(const Run *run, Py_ssize_t at) {
    const int32_t *bounds = run->bounds;
    if (at < bounds[1] && (at = follow_elements(run, at)) < bounds[1]) return at;
    if (at < bounds[2]) at = bounds[2];
    at = at < bounds[3] ? follow_leaves(run, at, bounds[3], &run->attribute_class, &run->attribute_name, run->name.size) : at;
    if (at < bounds[3]) return at;
    if (at < bounds[4]) at = bounds[4];
    at = at < bounds[5] ? follow_leaves(run, at, bounds[5], &run->text_class, NULL, 0) : at;
    return at < bounds[5] ? at : -1;
}

static int is_sound(const Run *run, Py_ssize_t states) {
    const Py_ssize_t elements = run->name.size, attributes = run->attribute_name.size;
    const int32_t *bounds = run->bounds;
    int is_in_order = 0 <= bounds[0] && bounds[0] <= bounds[1] && bounds[1] <= elements && run->last.size >= elements;
    is_in_order &= elements <= bounds[2] && bounds[2] <= bounds[3] && bounds[3] <= elements + attributes;
    is_in_order &= elements + attributes <= bounds[4] && bounds[4] <= bounds[5] && bounds[5] <= run->parent.size;
    return is_in_order && run->width > 0 && states >= elements && run->parent.size <= INT32_MAX;
}

PyDoc_STRVAR(follow_doc, "follow($module, automaton, width, table, bounds, states, nodes, document, at, /)\n--\n\n"
    "Follow an automaton along the nodes of documents, from `at` in one of them on; returns the document and the node\n"
    "where it must be told more, or None.\n\n"
    "`automaton`: for each state the states behind `width` classes of names (below 0: not known; 0 is dead, 1 the start);\n"
    "where the paths that end in a state begin, and the paths; the classes of element names, of attribute names, and the\n"
    "one of texts. `table`: parent, last, name and attribute_name. `bounds`: six for each document, from which to before which\n"
    "node its elements, attributes and texts lie. `states` has an entry, zero at first, for each element of the table, and\n"
    "`nodes` for each document one for each path: the node that it leads to, -1 (at first) for none, -2 for several.");

static PyObject *follow(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t number) {
    if (number != 8) {
        PyErr_SetString(PyExc_TypeError, "expected an automaton, a table, and where to go on");
        return NULL;
    }
    Run run;
    Held held = {.number = 0};
    Column automaton[6], table[4], bounds, states, nodes;
    PyObject *result = NULL;
    Py_ssize_t document = PyLong_AsSsize_t(args[6]);
    Py_ssize_t at = PyErr_Occurred() ? 0 : PyLong_AsSsize_t(args[7]);
    run.width = PyErr_Occurred() ? 0 : PyLong_AsSsize_t(args[1]);
    if (PyErr_Occurred()) return NULL;
    if (!hold_all(&held, args[0], automaton, 6) || !hold_all(&held, args[2], table, 4)) goto done;
    if (!hold(&held, args[3], &bounds, PyBUF_SIMPLE)) goto done;
    if (!hold(&held, args[4], &states, PyBUF_WRITABLE) || !hold(&held, args[5], &nodes, PyBUF_WRITABLE)) goto done;
    const Py_ssize_t documents = bounds.size / 6;
    run.steps = automaton[0], run.end_start = automaton[1], run.ends = automaton[2];
    run.element_class = automaton[3], run.attribute_class = automaton[4], run.text_class = automaton[5];
    run.parent = table[0], run.last = table[1], run.name = table[2], run.attribute_name = table[3];
    run.states = (int32_t *)states.at, run.views = documents ? nodes.size / documents : 0;
    if (document < 0 || bounds.size % 6 || (documents && nodes.size % documents)) goto unfit;
    for (; document < documents; document++, at = 0) {
        run.bounds = bounds.at + 6 * document, run.nodes = (int32_t *)nodes.at + run.views * document;
        if (!is_sound(&run, states.size) || (at && at < run.bounds[0])) goto unfit;
        if (!at) at = run.bounds[0];
        if ((at = follow_document(&run, at)) < 0) continue;
        result = Py_BuildValue("nn", document, at);
        goto done;
    }
    result = Py_NewRef(Py_None);
    goto done;
unfit:
    PyErr_SetString(PyExc_ValueError, "columns and bounds that do not fit");
done:
    release(&held);
    return result;
}

static PyMethodDef functions[] = {
    {"follow", (PyCFunction)(void (*)(void))follow, METH_FASTCALL, follow_doc},
    {NULL, NULL, 0, NULL}};

static PyModuleDef module = {
    PyModuleDef_HEAD_INIT, .m_name = "walk", .m_doc = "The views of headers, followed along a document without Python.", .m_methods = functions};

PyMODINIT_FUNC PyInit_walk(void) { return PyModuleDef_Init(&module); }
