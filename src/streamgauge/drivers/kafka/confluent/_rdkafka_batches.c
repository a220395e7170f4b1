/* Reads records off a librdkafka queue a whole batch at a time, into columns.
 *
 * confluent-kafka makes a Python object a record, which is most of the work of reading small ones.
 * This copies values and fields into a few blocks of memory instead, without the interpreter's lock.
 * librdkafka is not linked: the addresses of its functions are handed in, from the very library that
 * confluent-kafka has loaded. The record's layout below is part of librdkafka's public interface.
 *
 * Only rd_kafka_consume_callback_queue will do. Its sisters that return records serve what else is in
 * the queue by the client's callbacks, and those are confluent-kafka's: they abort the process when
 * they are not called from inside one of its own methods. This one hands everything to us, errors too.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int err;
    void *topic;
    int32_t partition;
    void *payload;
    size_t len;
    void *key;
    size_t key_len;
    int64_t offset;
    void *internal;
} record_t;

typedef int (*consume_fn)(void *queue, int timeout_ms, void (*each)(record_t *record, void *batch), void *batch);
typedef int64_t (*timestamp_fn)(const record_t *record, int *kind);
typedef void (*yield_fn)(void *client);

#define INTERFACE 2 /* one more whenever batches.py has to call this otherwise */
#define MOST 4000
#define MOST_BYTES (16u << 20) /* of values; the rest stays in the queue for the next call */
#define FIRST_BYTES (256u << 10)
#define MOST_ERRORS 16
#define MOST_SAID 256

typedef struct {
    int code;
    void *topic;
    int32_t partition;
    int64_t offset;
    size_t said_bytes;
    char said[MOST_SAID];
} trouble_t;

/* What is being gathered; kept between calls, so that its memory is there already. */
typedef struct {
    timestamp_fn timestamp;
    yield_fn yield;
    size_t most, count, error_count, value_bytes, room;
    int no_memory;
    char *values;
    int64_t sizes[MOST], topics[MOST], offsets[MOST], times[MOST];
    int32_t partitions[MOST];
    int8_t kinds[MOST];
    trouble_t errors[MOST_ERRORS];
} batch_t;

static const char BATCH[] = "streamgauge.batch";

static int make_room(batch_t *batch, size_t more)
{
    size_t room = batch->room ? batch->room : FIRST_BYTES;
    while (room < batch->value_bytes + more)
        room *= 2;
    if (room == batch->room)
        return 1;
    char *values = realloc(batch->values, room);
    if (!values)
        return 0;
    batch->values = values;
    batch->room = room;
    return 1;
}

static void keep_error(batch_t *batch, const record_t *record)
{
    trouble_t *error = &batch->errors[batch->error_count++];
    error->code = record->err;
    error->topic = record->topic;
    error->partition = record->partition;
    error->offset = record->offset;
    error->said_bytes = record->payload ? (record->len < MOST_SAID ? record->len : MOST_SAID) : 0;
    if (error->said_bytes)
        memcpy(error->said, record->payload, error->said_bytes);
    if (batch->error_count == MOST_ERRORS)
        batch->yield(NULL); /* none is passed over: the ones that end a case may be behind many that do not */
}

static void keep(record_t *record, void *opaque)
{
    batch_t *batch = opaque;
    if (record->err) {
        keep_error(batch, record);
        return;
    }
    if (batch->value_bytes + record->len > batch->room && !make_room(batch, record->len)) {
        batch->no_memory = 1;
        batch->yield(NULL);
        return;
    }
    size_t i = batch->count++;
    int kind = 0;
    if (record->len)
        memcpy(batch->values + batch->value_bytes, record->payload, record->len);
    batch->value_bytes += record->len;
    batch->sizes[i] = (int64_t)record->len;
    batch->topics[i] = (int64_t)(intptr_t)record->topic;
    batch->partitions[i] = record->partition;
    batch->offsets[i] = record->offset;
    batch->times[i] = batch->timestamp(record, &kind);
    batch->kinds[i] = (int8_t)kind;
    if (batch->count == batch->most || batch->value_bytes >= MOST_BYTES)
        batch->yield(NULL); /* what was not served goes back to the head of the queue */
}

static PyObject *errors_of(const batch_t *batch)
{
    PyObject *told = PyTuple_New((Py_ssize_t)batch->error_count);
    for (size_t i = 0; told && i < batch->error_count; i++) {
        const trouble_t *error = &batch->errors[i];
        PyObject *one = Py_BuildValue("(iLiLy#)", error->code, (long long)(intptr_t)error->topic, (int)error->partition,
                                      (long long)error->offset, error->said, (Py_ssize_t)error->said_bytes);
        if (!one)
            Py_CLEAR(told);
        else
            PyTuple_SET_ITEM(told, (Py_ssize_t)i, one);
    }
    return told;
}

static PyObject *columns_of(const batch_t *batch)
{
    Py_ssize_t n = (Py_ssize_t)batch->count;
    return Py_BuildValue("(y#y#y#y#y#y#y#)", batch->values ? batch->values : "", (Py_ssize_t)batch->value_bytes,
                         (const char *)batch->sizes, n * 8, (const char *)batch->topics, n * 8,
                         (const char *)batch->partitions, n * 4, (const char *)batch->offsets, n * 8,
                         (const char *)batch->times, n * 8, (const char *)batch->kinds, n);
}

/* take(batch, consume, queue, most, timeout_ms) -> None | (errors, None | tuple of blocks) */
static PyObject *take(PyObject *module, PyObject *args)
{
    PyObject *capsule;
    unsigned long long consume_at, queue_at;
    int most, timeout_ms;
    (void)module;
    if (!PyArg_ParseTuple(args, "OKKii", &capsule, &consume_at, &queue_at, &most, &timeout_ms))
        return NULL;
    batch_t *batch = PyCapsule_GetPointer(capsule, BATCH);
    if (!batch)
        return NULL;
    if (most < 1 || most > MOST)
        return PyErr_Format(PyExc_ValueError, "between 1 and %d records at a time", MOST);
    consume_fn consume = (consume_fn)(uintptr_t)consume_at;
    batch->most = (size_t)most;
    batch->count = batch->error_count = batch->value_bytes = 0;
    batch->no_memory = 0;
    Py_BEGIN_ALLOW_THREADS
    /* Waits for the first, then takes what is already there. */
    consume((void *)(uintptr_t)queue_at, timeout_ms, keep, batch);
    Py_END_ALLOW_THREADS
    if (batch->no_memory)
        return PyErr_NoMemory();
    if (batch->count == 0 && batch->error_count == 0)
        Py_RETURN_NONE;
    PyObject *errors = errors_of(batch);
    PyObject *columns = batch->count ? columns_of(batch) : Py_NewRef(Py_None);
    if (!errors || !columns) {
        Py_XDECREF(errors);
        Py_XDECREF(columns);
        return NULL;
    }
    return Py_BuildValue("(NN)", errors, columns);
}

static void free_batch(PyObject *capsule)
{
    batch_t *batch = PyCapsule_GetPointer(capsule, BATCH);
    if (batch) {
        free(batch->values);
        free(batch);
    }
}

/* batch(message_timestamp, yield) -> what `take` gathers in, for one thread at a time */
static PyObject *new_batch(PyObject *module, PyObject *args)
{
    unsigned long long timestamp_at, yield_at;
    (void)module;
    if (!PyArg_ParseTuple(args, "KK", &timestamp_at, &yield_at))
        return NULL;
    batch_t *batch = calloc(1, sizeof(batch_t));
    if (!batch)
        return PyErr_NoMemory();
    batch->timestamp = (timestamp_fn)(uintptr_t)timestamp_at;
    batch->yield = (yield_fn)(uintptr_t)yield_at;
    PyObject *capsule = PyCapsule_New(batch, BATCH, free_batch);
    if (!capsule)
        free(batch);
    return capsule;
}

static PyMethodDef methods[] = {
    {"batch", new_batch, METH_VARARGS, "Memory for `take`; one a queue."},
    {"take", take, METH_VARARGS, "What is there, in columns; wait for the first record as long as timeout_ms."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_rdkafka_batches", NULL, 0, methods,
                                    NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__rdkafka_batches(void)
{
    PyObject *made = PyModule_Create(&module);
    if (made && PyModule_AddIntConstant(made, "INTERFACE", INTERFACE) < 0)
        Py_CLEAR(made);
    return made;
}
