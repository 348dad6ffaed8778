/* Documents in, the one node that each path leads to out: an automaton over their nodes, or over their paths of names. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

#define DEAD 0        /* the state that no step leads out of */
#define START 1       /* the state of a root's parent */
#define ABSENT -1     /* instead of a node or an offset: a path leads to none, */
#define SEVERAL -2    /* or to several */
#define MOST_COLUMNS 14

typedef struct {
    const int32_t *at;
    Py_ssize_t size;
} Column;

typedef struct {
    Py_buffer views[MOST_COLUMNS];
    int number;
} Held;

static void release(Held *held) {
    while (held->number) PyBuffer_Release(&held->views[--held->number]);
}

/* A C-contiguous column of so many bytes an entry, held until all are released; NULL with an error set where it is none. */
static const Py_buffer *hold_bytes(Held *held, PyObject *object, int bytes, int flags) {
    Py_buffer *view = &held->views[held->number];
    if (PyObject_GetBuffer(object, view, PyBUF_C_CONTIGUOUS | flags)) return NULL;
    held->number++;
    if (view->itemsize == bytes && view->ndim == 1) return view;
    PyErr_Format(PyExc_ValueError, "expected columns of %d bytes an entry", bytes);
    return NULL;
}

/* The same of 32-bit integers; 0 with an error set. */
static int hold(Held *held, PyObject *object, Column *column, int flags) {
    const Py_buffer *view = hold_bytes(held, object, 4, flags);
    if (view != NULL) column->at = view->buf, column->size = view->len / 4;
    return view != NULL;
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
    Column steps, end_start, ends, element_class, attribute_class, text_class;
    Py_ssize_t width, views;
} Automaton;

static int hold_automaton(Held *held, PyObject *tuple, PyObject *width, Automaton *automaton) {
    Column columns[6];
    automaton->width = PyLong_AsSsize_t(width);
    if (PyErr_Occurred() || !hold_all(held, tuple, columns, 6)) return 0;
    automaton->steps = columns[0], automaton->end_start = columns[1], automaton->ends = columns[2];
    automaton->element_class = columns[3], automaton->attribute_class = columns[4], automaton->text_class = columns[5];
    return 1;
}

typedef struct {
    Automaton automaton;
    Column parent, last, name, attribute_name; /* the table */
    const int32_t *bounds;   /* of the document that it is at */
    int32_t *states, *nodes; /* these too, nodes of its own */
} Run;

/* The class of a name; below 0 where it is not known. */
static int32_t class_of(const Column *classes, int32_t name) {
    return name < 0 || name >= classes->size ? -1 : classes->at[name];
}

/* The state behind a step; below 0 where it is not known. */
static int32_t step(const Automaton *automaton, int32_t state, int32_t class) {
    if (class < 0 || class >= automaton->width || (state + 1) * automaton->width > automaton->steps.size) return -1;
    int32_t next = automaton->steps.at[state * automaton->width + class];
    return next + 1 < automaton->end_start.size ? next : -1;
}

/* A node in a state: the paths that end there lead to it. */
static void note(const Run *run, int32_t state, Py_ssize_t node) {
    const Automaton *its = &run->automaton;
    for (int32_t at = its->end_start.at[state]; at < its->end_start.at[state + 1] && at < its->ends.size; at++) {
        int32_t view = its->ends.at[at];
        if (view >= 0 && view < its->views) run->nodes[view] = run->nodes[view] == ABSENT ? (int32_t)node : SEVERAL;
    }
}

/* Elements from one on; what is below a dead state is not looked at. Returns where it stopped. */
static Py_ssize_t follow_elements(const Run *run, Py_ssize_t row) {
    while (row < run->bounds[1]) {
        int32_t above = run->parent.at[row];
        int32_t before = above < run->bounds[0] || above >= row ? START : run->states[above];
        int32_t next = step(&run->automaton, before, class_of(&run->automaton.element_class, run->name.at[row]));
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
        int32_t next = step(&run->automaton, before, class_of(classes, names == NULL ? 0 : names->at[node - first]));
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
    const Automaton *its = &run->automaton;
    at = at < bounds[3] ? follow_leaves(run, at, bounds[3], &its->attribute_class, &run->attribute_name, run->name.size) : at;
    if (at < bounds[3]) return at;
    if (at < bounds[4]) at = bounds[4];
    at = at < bounds[5] ? follow_leaves(run, at, bounds[5], &its->text_class, NULL, 0) : at;
    return at < bounds[5] ? at : -1;
}

static int is_sound(const Run *run, Py_ssize_t states) {
    const Py_ssize_t elements = run->name.size, attributes = run->attribute_name.size;
    const int32_t *bounds = run->bounds;
    int is_in_order = 0 <= bounds[0] && bounds[0] <= bounds[1] && bounds[1] <= elements && run->last.size >= elements;
    is_in_order &= elements <= bounds[2] && bounds[2] <= bounds[3] && bounds[3] <= elements + attributes;
    is_in_order &= elements + attributes <= bounds[4] && bounds[4] <= bounds[5] && bounds[5] <= run->parent.size;
    return is_in_order && run->automaton.width > 0 && states >= elements && run->parent.size <= INT32_MAX;
}

PyDoc_STRVAR(follow_doc, "follow($module, automaton, width, table, bounds, states, nodes, document, at, /)\n--\n\n"
    "Follow an automaton along nodes, from `at` in a document on; returns (document, node) where it must be told more, or None.\n\n"
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
    Column table[4], bounds, states, nodes;
    PyObject *result = NULL;
    Py_ssize_t document = PyLong_AsSsize_t(args[6]);
    Py_ssize_t at = PyErr_Occurred() ? 0 : PyLong_AsSsize_t(args[7]);
    if (PyErr_Occurred()) return NULL;
    if (!hold_automaton(&held, args[0], args[1], &run.automaton) || !hold_all(&held, args[2], table, 4)) goto done;
    if (!hold(&held, args[3], &bounds, PyBUF_SIMPLE)) goto done;
    if (!hold(&held, args[4], &states, PyBUF_WRITABLE) || !hold(&held, args[5], &nodes, PyBUF_WRITABLE)) goto done;
    const Py_ssize_t documents = bounds.size / 6;
    run.parent = table[0], run.last = table[1], run.name = table[2], run.attribute_name = table[3];
    run.states = (int32_t *)states.at, run.automaton.views = documents ? nodes.size / documents : 0;
    if (document < 0 || bounds.size % 6 || (documents && nodes.size % documents)) goto unfit;
    for (; document < documents; document++, at = 0) {
        run.bounds = bounds.at + 6 * document, run.nodes = (int32_t *)nodes.at + run.automaton.views * document;
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

typedef struct {
    Automaton automaton;
    Column parent, code, found, begins; /* paths of names, and those that documents have */
    const int64_t *offsets;             /* of what was found */
    int32_t *states;                    /* of paths, -1 where it is not known */
    int64_t *entries;                   /* for each document that is asked for, one for each path of the automaton */
} PathRun;

/* The state of a path; -1 where its name or the step to it is not known, -2 where the columns do not fit. */
static int32_t state_of(const PathRun *run, int32_t path) {
    const Automaton *its = &run->automaton;
    if (path <= 0 || path >= run->parent.size) return -2;
    if (run->states[path] >= 0) return run->states[path];
    int32_t above = run->parent.at[path], code = run->code.at[path];
    if (above < 0 || above >= path || code < 0) return -2;
    int32_t before = above == 0 ? START : run->states[above];
    if (before < 0) return -2; /* what a document has is found below what it has */
    if (before == DEAD) return run->states[path] = DEAD;
    const Column *classes = code == 0 ? &its->text_class : code & 1 ? &its->element_class : &its->attribute_class;
    return run->states[path] = step(its, before, class_of(classes, code == 0 ? 0 : (code - 1) / 2));
}

/* Put offsets of what a document has into its entries, from a place on. Returns where it must be told more, or the end. */
static Py_ssize_t read_off(const PathRun *run, Py_ssize_t at, Py_ssize_t end, int64_t *entries, int *is_right) {
    const Automaton *its = &run->automaton;
    for (; at < end; at++) {
        int32_t state = state_of(run, run->found.at[at]);
        *is_right = state != -2 && (state < 0 || state + 1 < its->end_start.size);
        if (state < 0 || !*is_right) break;
        for (int32_t next = its->end_start.at[state]; next < its->end_start.at[state + 1] && next < its->ends.size; next++) {
            int32_t view = its->ends.at[next];
            if (view >= 0 && view < its->views) entries[view] = entries[view] == ABSENT ? run->offsets[at] : SEVERAL;
        }
    }
    return at;
}

/* What the arguments of follow_paths hold: 1 if the columns fit each other, 0 if they do not, -1 with an error set. */
static int hold_path_run(Held *held, PyObject *const *args, PathRun *run) {
    Column paths[2], states;
    const Py_buffer *offsets, *entries;
    if (!hold_automaton(held, args[0], args[1], &run->automaton) || !hold_all(held, args[2], paths, 2)) return -1;
    if (!hold(held, PyTuple_GET_ITEM(args[3], 0), &run->found, PyBUF_SIMPLE)) return -1;
    if (!hold(held, PyTuple_GET_ITEM(args[3], 1), &run->begins, PyBUF_SIMPLE)) return -1;
    if ((offsets = hold_bytes(held, PyTuple_GET_ITEM(args[3], 2), 8, PyBUF_SIMPLE)) == NULL) return -1;
    if (!hold(held, args[5], &states, PyBUF_WRITABLE)) return -1;
    if ((entries = hold_bytes(held, args[6], 8, PyBUF_WRITABLE)) == NULL) return -1;
    run->parent = paths[0], run->code = paths[1], run->states = (int32_t *)states.at;
    run->offsets = offsets->buf, run->entries = entries->buf;
    if (run->parent.size > states.size) run->parent.size = states.size;
    const Py_ssize_t documents = PyList_GET_SIZE(args[4]);
    run->automaton.views = documents ? entries->len / 8 / documents : 0;
    int is_right = run->automaton.width > 0 && run->code.size >= run->parent.size;
    return is_right && offsets->len / 8 == run->found.size && entries->len / 8 == documents * run->automaton.views;
}

PyDoc_STRVAR(follow_paths_doc, "follow_paths($module, automaton, width, paths, found, documents, states, entries, row, at, /)\n--\n\n"
    "Follow an automaton along paths of names, from `at` in a row on; returns (row, place in `found`) to be told more, or None.\n\n"
    "`automaton` and `width`: as of `follow`. `paths`: parent and code of each path of names. `found`: the paths that documents\n"
    "have, where each one's begin, and the offset of the one node of each, or -2. `documents`: a list of those that are\n"
    "asked for. `states` has an entry for each path of names, -1 at first; `entries` are filled, for each of these documents\n"
    "one for each path of the automaton: the offset of the node that it leads to, -1 for none, -2 for several.");

static PyObject *follow_paths(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t number) {
    if (number != 9 || !PyTuple_Check(args[3]) || PyTuple_GET_SIZE(args[3]) != 3 || !PyList_Check(args[4])) {
        PyErr_SetString(PyExc_TypeError, "expected an automaton, paths, what was found, and where to go on");
        return NULL;
    }
    PathRun run;
    Held held = {.number = 0};
    PyObject *result = NULL;
    Py_ssize_t row = PyLong_AsSsize_t(args[7]);
    Py_ssize_t at = PyErr_Occurred() ? 0 : PyLong_AsSsize_t(args[8]);
    if (PyErr_Occurred()) return NULL;
    int is_right = hold_path_run(&held, args, &run);
    if (is_right < 0) goto done;
    const Py_ssize_t documents = PyList_GET_SIZE(args[4]), views = run.automaton.views;
    for (is_right &= row >= 0; is_right && row < documents; row++, at = 0) {
        Py_ssize_t document = PyLong_AsSsize_t(PyList_GET_ITEM(args[4], row));
        if (PyErr_Occurred()) goto done;
        is_right = document >= 0 && document + 1 < run.begins.size;
        if (!is_right) break;
        Py_ssize_t begin = run.begins.at[document], end = run.begins.at[document + 1];
        is_right = begin >= 0 && begin <= end && end <= run.found.size && (at == 0 || (at >= begin && at < end));
        int64_t *its = run.entries + row * views;
        if (at < begin) at = begin;
        for (Py_ssize_t view = 0; is_right && at == begin && view < views; view++) its[view] = ABSENT;
        if (!is_right) break;
        at = read_off(&run, at, end, its, &is_right);
        if (!is_right || at == end) continue;
        result = Py_BuildValue("nn", row, at);
        goto done;
    }
    if (is_right) result = Py_NewRef(Py_None);
    else PyErr_SetString(PyExc_ValueError, "columns that do not fit");
done:
    release(&held);
    return result;
}

static PyMethodDef functions[] = {
    {"follow", (PyCFunction)(void (*)(void))follow, METH_FASTCALL, follow_doc},
    {"follow_paths", (PyCFunction)(void (*)(void))follow_paths, METH_FASTCALL, follow_paths_doc},
    {NULL, NULL, 0, NULL}};

static PyModuleDef module = {
    PyModuleDef_HEAD_INIT, .m_name = "walk", .m_doc = "The views of headers, followed along a document without Python.", .m_methods = functions};

PyMODINIT_FUNC PyInit_walk(void) { return PyModuleDef_Init(&module); }
