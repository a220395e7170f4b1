/* The checksum of messages (payload/checksum.py is its twin), errors that are kept, buffers of columns. */
#include "loops.h"

uint64_t ready_weights[READY_WEIGHTS];

static uint64_t weight(uint64_t number)
{
    uint64_t z = (number + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (z ^ (z >> 31)) | 1;
}

void make_weights(void)
{
    for (uint64_t i = 0; i < READY_WEIGHTS; i++)
        ready_weights[i] = weight(i);
}

/* The part of the checksum that comes from a body and its length. */
uint64_t body_sum(const unsigned char *body, size_t size)
{
    uint64_t sum = (uint64_t)size * LENGTH_WEIGHT;
    size_t words = size / 8, ready = words < READY_WEIGHTS - HEADER_WORDS ? words : READY_WEIGHTS - HEADER_WORDS;
    size_t i = 0;
    for (; i < ready; i++)
        sum += mixed(word_at(body + 8 * i)) * ready_weights[HEADER_WORDS + i];
    for (; i < words; i++)
        sum += mixed(word_at(body + 8 * i)) * weight(HEADER_WORDS + i);
    if (size % 8) {
        uint64_t last = 0;
        memcpy(&last, body + 8 * words, size % 8);
        sum += mixed(last) * weight(HEADER_WORDS + words);
    }
    return sum;
}

/* checksum(header, body) -> int, of a header of 32 bytes */
PyObject *checksum_of(PyObject *module, PyObject *args)
{
    const char *header, *body;
    Py_ssize_t header_size, body_size;
    (void)module;
    if (!PyArg_ParseTuple(args, "y#y#", &header, &header_size, &body, &body_size))
        return NULL;
    if (header_size != HEADER_BYTES)
        return PyErr_Format(PyExc_ValueError, "a header of %zd bytes: it has %d", header_size, HEADER_BYTES);
    uint64_t sum = header_sum(word_at(header), word_at(header + 8), word_at(header + 16));
    return PyLong_FromUnsignedLongLong(sum + body_sum((const unsigned char *)body, (size_t)body_size));
}

void keep_trouble(troubles_t *troubles, const record_t *record, yield_fn yield)
{
    if (troubles->count == MOST_ERRORS)
        return; /* cannot be: whoever yielded is not called again */
    trouble_t *error = &troubles->each[troubles->count++];
    error->code = record->err;
    error->topic = record->topic;
    error->partition = record->partition;
    error->offset = record->offset;
    error->said_bytes = record->payload ? (record->len < MOST_SAID ? record->len : MOST_SAID) : 0;
    if (error->said_bytes)
        memcpy(error->said, record->payload, error->said_bytes);
    if (troubles->count == MOST_ERRORS)
        yield(NULL); /* none is passed over: the ones that end a case may be behind many that do not */
}

PyObject *troubles_told(const troubles_t *troubles)
{
    PyObject *told = PyTuple_New((Py_ssize_t)troubles->count);
    for (size_t i = 0; told && i < troubles->count; i++) {
        const trouble_t *error = &troubles->each[i];
        PyObject *one = Py_BuildValue("(iLiLy#)", error->code, (long long)(intptr_t)error->topic, (int)error->partition,
                                      (long long)error->offset, error->said, (Py_ssize_t)error->said_bytes);
        if (!one)
            Py_CLEAR(told);
        else
            PyTuple_SET_ITEM(told, (Py_ssize_t)i, one);
    }
    return told;
}

int get_columns(PyObject *given, const column_t *wanted, size_t count, Py_ssize_t rows, Py_buffer *views)
{
    memset(views, 0, count * sizeof *views);
    if (!PyTuple_Check(given) || PyTuple_GET_SIZE(given) != (Py_ssize_t)count) {
        PyErr_Format(PyExc_TypeError, "a tuple of %zu columns", count);
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        if (PyObject_GetBuffer(PyTuple_GET_ITEM(given, (Py_ssize_t)i), &views[i], PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS) < 0) {
            release_columns(views, i);
            return 0;
        }
        if (views[i].itemsize != wanted[i].width || views[i].len / wanted[i].width < rows) {
            PyErr_Format(PyExc_ValueError, "column %s: %zd values of %zd bytes are wanted, %zd bytes of %zd are there",
                         wanted[i].name, rows, wanted[i].width, views[i].len, views[i].itemsize);
            release_columns(views, i + 1);
            return 0;
        }
    }
    return 1;
}

void release_columns(Py_buffer *views, size_t count)
{
    for (size_t i = 0; i < count; i++)
        PyBuffer_Release(&views[i]);
}
