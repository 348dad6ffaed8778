/* Rows in, their label paths out: the loop of LabelPaths.of, which runs for every element, attribute and text. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

/* A C-contiguous array whose entries have so many bytes; released by the caller. */
static int get_array(PyObject *object, Py_buffer *view, Py_ssize_t width, int flags) {
    if (PyObject_GetBuffer(object, view, PyBUF_C_CONTIGUOUS | flags)) return 0;
    if (view->itemsize == width && view->ndim == 1) return 1;
    PyBuffer_Release(view);
    PyErr_Format(PyExc_ValueError, "expected a column of %zd bytes an entry", width);
    return 0;
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
    Py_buffer parents, names, labels;
    if (!get_array(args[1], &parents, 4, 0)) return NULL;
    if (!get_array(args[2], &names, 4, 0)) {
        PyBuffer_Release(&parents);
        return NULL;
    }
    if (!get_array(args[3], &labels, 4, PyBUF_WRITABLE)) {
        PyBuffer_Release(&parents);
        PyBuffer_Release(&names);
        return NULL;
    }
    const int32_t *parent = parents.buf, *name = names.buf;
    int32_t *label = labels.buf;
    Py_ssize_t rows = names.len / 4, places = labels.len / 4;
    PyObject *result = NULL;
    if (row < 0 || parents.len / 4 < rows || places <= rows) {
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
    PyBuffer_Release(&parents);
    PyBuffer_Release(&names);
    PyBuffer_Release(&labels);
    return result;
}

static PyMethodDef functions[] = {{"walk", (PyCFunction)(void (*)(void))walk, METH_FASTCALL, walk_doc}, {NULL, NULL, 0, NULL}};

static PyModuleDef module = {
    PyModuleDef_HEAD_INIT, .m_name = "walk", .m_doc = "Label paths, looked up without Python.", .m_methods = functions};

PyMODINIT_FUNC PyInit_walk(void) { return PyModuleDef_Init(&module); }
