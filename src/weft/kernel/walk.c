/* Rows in, their label paths or an automaton's states out: loops that run for every element, attribute and text. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

static void release(Py_buffer *views, int number) {
    while (number--) PyBuffer_Release(&views[number]);
}

/* C-contiguous arrays of 32-bit integers, the last of them to be written to; released by the caller. */
static int get_columns(PyObject *const *objects, Py_buffer *views, int number) {
    for (int at = 0; at < number; at++) {
        int flags = at == number - 1 ? PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE : PyBUF_C_CONTIGUOUS;
        if (PyObject_GetBuffer(objects[at], &views[at], flags)) {
            release(views, at);
            return 0;
        }
        if (views[at].itemsize != 4 || views[at].ndim != 1) {
            PyErr_SetString(PyExc_ValueError, "expected columns of 4 bytes an entry");
            release(views, at + 1);
            return 0;
        }
    }
    return 1;
}

PyDoc_STRVAR(walk_doc, "walk($module, children, parents, names, labels, row, /)\n--\n\n"
    "Look up the label path of each row from `row` on, until one is new; returns that row, or the number of rows.\n\n"
    "`labels` has an entry more than there are rows, the last one for the parent of roots; a name below 0 has no path.");

static PyObject *walk(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t number) {
    if (number != 5 || !PyDict_Check(args[0])) {
        PyErr_SetString(PyExc_TypeError, "expected a dict, three columns and a number");
        return NULL;
    }
    Py_ssize_t row = PyLong_AsSsize_t(args[4]);
    if (row == -1 && PyErr_Occurred()) return NULL;
    Py_buffer columns[3];
    if (!get_columns(args + 1, columns, 3)) return NULL;
    const int32_t *parent = columns[0].buf, *name = columns[1].buf;
    int32_t *label = columns[2].buf;
    Py_ssize_t rows = columns[1].len / 4, places = columns[2].len / 4;
    PyObject *result = NULL;
    if (row < 0 || columns[0].len / 4 < rows || places <= rows) {
        PyErr_SetString(PyExc_ValueError, "columns of different lengths");
        goto done;
    }
    for (; row < rows; row++) {
        if (name[row] < 0) {
            label[row] = -1;
            continue;
        }
        Py_ssize_t above = parent[row] < 0 ? places - 1 : parent[row];
        if (above >= places) {
            PyErr_SetString(PyExc_IndexError, "a parent that is no row");
            goto done;
        }
        PyObject *key = PyLong_FromLongLong((long long)label[above] << 32 | name[row]);
        if (key == NULL) goto done;
        PyObject *found = PyDict_GetItemWithError(args[0], key);
        Py_DECREF(key);
        if (found == NULL) {
            if (PyErr_Occurred()) goto done;
            break;
        }
        label[row] = (int32_t)PyLong_AsLong(found);
    }
    result = PyLong_FromSsize_t(row);
done:
    release(columns, 3);
    return result;
}

PyDoc_STRVAR(follow_doc, "follow($module, steps, width, parents, names, states, row, /)\n--\n\n"
    "Find the state of each row from `row` on, until a step to it is not known; returns that row, or their number.\n\n"
    "`steps` has for each state `width` states, one a name, below 0 where not known; no step leads out of state 0.\n"
    "`states` has an entry more than there are rows, the last one for the parent of roots.");

static PyObject *follow(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t number) {
    if (number != 6) {
        PyErr_SetString(PyExc_TypeError, "expected four columns and two numbers");
        return NULL;
    }
    Py_ssize_t width = PyLong_AsSsize_t(args[1]), row = PyErr_Occurred() ? -1 : PyLong_AsSsize_t(args[5]);
    if (PyErr_Occurred()) return NULL;
    PyObject *const objects[] = {args[0], args[2], args[3], args[4]};
    Py_buffer columns[4];
    if (!get_columns(objects, columns, 4)) return NULL;
    const int32_t *step = columns[0].buf, *parent = columns[1].buf, *name = columns[2].buf;
    int32_t *state = columns[3].buf;
    Py_ssize_t cells = columns[0].len / 4, rows = columns[2].len / 4, places = columns[3].len / 4;
    PyObject *result = NULL;
    if (row < 0 || width < 0 || columns[1].len / 4 < rows || places <= rows) {
        PyErr_SetString(PyExc_ValueError, "columns of different lengths");
        goto done;
    }
    for (; row < rows; row++) {
        Py_ssize_t above = parent[row] < 0 ? places - 1 : parent[row];
        Py_ssize_t before = above < places ? state[above] : -1;
        if (before == 0) {
            state[row] = 0;
            continue;
        }
        if (before < 0 || name[row] < 0 || name[row] >= width || before >= cells / width) {
            PyErr_SetString(PyExc_IndexError, "a row without a parent, a state or a name");
            goto done;
        }
        int32_t next = step[before * width + name[row]];
        if (next < 0) break;
        state[row] = next;
    }
    result = PyLong_FromSsize_t(row);
done:
    release(columns, 4);
    return result;
}

static PyMethodDef functions[] = {
    {"walk", (PyCFunction)(void (*)(void))walk, METH_FASTCALL, walk_doc},
    {"follow", (PyCFunction)(void (*)(void))follow, METH_FASTCALL, follow_doc},
    {NULL, NULL, 0, NULL}};

static PyModuleDef module = {
    PyModuleDef_HEAD_INIT, .m_name = "walk", .m_doc = "Label paths and states, looked up without Python.", .m_methods = functions};

PyMODINIT_FUNC PyInit_walk(void) { return PyModuleDef_Init(&module); }
