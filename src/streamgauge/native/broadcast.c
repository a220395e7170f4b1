/* The same bytes to many sockets, each as much as it takes at once. The twin is gateway/server/sending.py. */
#ifdef __linux__
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "loops.h"

/* Where a socket did not take all: its place, and how much it took; a socket that is full or broken, nothing. */
typedef struct {
    Py_ssize_t place, sent;
} late_t;

static Py_ssize_t send_all(const int *sockets, Py_ssize_t count, const char *bytes, Py_ssize_t size, late_t *late)
{
    Py_ssize_t late_count = 0;
    for (Py_ssize_t place = 0; place < count; place++) {
        ssize_t sent;
        do
            sent = send(sockets[place], bytes, (size_t)size, MSG_DONTWAIT | MSG_NOSIGNAL);
        while (sent < 0 && errno == EINTR);
        if (sent != size) {
            late[late_count].place = place;
            late[late_count++].sent = sent < 0 ? 0 : sent;
        }
    }
    return late_count;
}

static PyObject *told(const late_t *late, Py_ssize_t count)
{
    PyObject *list = PyList_New(count);
    for (Py_ssize_t i = 0; list && i < count; i++) {
        PyObject *one = Py_BuildValue("(nn)", late[i].place, late[i].sent);
        if (!one)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, i, one);
    }
    return list;
}

/* broadcast(sockets, bytes) -> [(place, sent), …] of those that did not take all of it */
PyObject *broadcast(PyObject *module, PyObject *args)
{
    PyObject *sockets, *made = NULL;
    Py_buffer bytes;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!y*", &PyList_Type, &sockets, &bytes))
        return NULL;
    /* A copy: the list is Python's, and nobody else may be kept from it meanwhile. */
    Py_ssize_t count = PyList_GET_SIZE(sockets), late_count;
    int *copied = malloc((size_t)(count ? count : 1) * sizeof *copied);
    late_t *late = malloc((size_t)(count ? count : 1) * sizeof *late);
    if (!copied || !late) {
        PyErr_NoMemory();
        goto done;
    }
    for (Py_ssize_t place = 0; place < count; place++) {
        long socket = PyLong_AsLong(PyList_GET_ITEM(sockets, place));
        if (socket == -1 && PyErr_Occurred())
            goto done;
        copied[place] = socket < 0 || socket > INT32_MAX ? -1 : (int)socket;
    }
    Py_BEGIN_ALLOW_THREADS
    late_count = send_all(copied, count, bytes.buf, bytes.len, late);
    Py_END_ALLOW_THREADS
    made = told(late, late_count);
done:
    free(copied);
    free(late);
    PyBuffer_Release(&bytes);
    return made;
}

#endif
