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

/* message(owner, sequence, intended_ns, body, sum of the body) -> bytes: the header, and the body behind it */
PyObject *message_of(PyObject *module, PyObject *args)
{
    unsigned long long owner, sum;
    long long sequence, intended_ns;
    const char *body;
    Py_ssize_t size;
    (void)module;
    if (!PyArg_ParseTuple(args, "KLLy#K", &owner, &sequence, &intended_ns, &body, &size, &sum))
        return NULL;
    PyObject *made = PyBytes_FromStringAndSize(NULL, HEADER_BYTES + size);
    if (!made)
        return NULL;
    uint64_t head[HEADER_WORDS] = {owner, (uint64_t)sequence, (uint64_t)intended_ns,
                                   header_sum(owner, (uint64_t)sequence, (uint64_t)intended_ns) + sum};
    memcpy(PyBytes_AS_STRING(made), head, HEADER_BYTES);
    memcpy(PyBytes_AS_STRING(made) + HEADER_BYTES, body, (size_t)size);
    return made;
}

/* identify(message, tag) -> (state, producer, sequence, intended_ns) of any bytes */
PyObject *identified(PyObject *module, PyObject *args)
{
    const char *value;
    Py_ssize_t size;
    unsigned int tag;
    (void)module;
    if (!PyArg_ParseTuple(args, "y#I", &value, &size, &tag))
        return NULL;
    identity_t found = identity_of((const unsigned char *)value, (size_t)size, tag);
    return Py_BuildValue("(iiLL)", found.state, found.producer, (long long)found.sequence, (long long)found.intended_ns);
}

/* Any bytes may come: who writes to a topic is not known. */
identity_t identity_of(const unsigned char *value, size_t size, uint32_t tag)
{
    identity_t found = {UNEXPECTED, 0, 0, 0};
    if (!value || size < HEADER_BYTES)
        return found;
    uint64_t owner = word_at(value), sequence = word_at(value + 8), intended_ns = word_at(value + 16);
    found.producer = (int32_t)(owner >> 32);
    found.sequence = (int64_t)sequence;
    found.intended_ns = (int64_t)intended_ns;
    if ((uint32_t)owner == tag) {
        uint64_t sum = header_sum(owner, sequence, intended_ns) + body_sum(value + HEADER_BYTES, size - HEADER_BYTES);
        found.state = sum == word_at(value + 24) ? INTACT : CORRUPT;
    }
    return found;
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
