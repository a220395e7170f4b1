/* Reads records off a librdkafka queue a whole batch at a time, into columns.
 *
 * confluent-kafka makes a Python object a record, which is most of the work of reading small ones.
 * This copies values and fields into a few blocks of memory instead, without the interpreter's lock.
 *
 * Only rd_kafka_consume_callback_queue will do. Its sisters that return records serve what else is in
 * the queue by the client's callbacks, and those are confluent-kafka's: they abort the process when
 * they are not called from inside one of its own methods. This one hands everything to us, errors too.
 */
#include <stdlib.h>

#include "loops.h"

#define MOST 4000
#define MOST_BYTES (16u << 20) /* of values; the rest stays in the queue for the next call */
#define FIRST_BYTES (256u << 10)

/* What is being gathered; kept between calls, so that its memory is there already. */
typedef struct {
    timestamp_fn timestamp;
    yield_fn yield;
    size_t most, count, value_bytes, room;
    int no_memory;
    char *values;
    int64_t sizes[MOST], topics[MOST], offsets[MOST], times[MOST];
    int32_t partitions[MOST];
    int8_t kinds[MOST];
    troubles_t troubles;
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

static void keep(record_t *record, void *opaque)
{
    batch_t *batch = opaque;
    if (record->err) {
        keep_trouble(&batch->troubles, record, batch->yield);
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

static PyObject *columns_of(const batch_t *batch)
{
    Py_ssize_t n = (Py_ssize_t)batch->count;
    return Py_BuildValue("(y#y#y#y#y#y#y#)", batch->values ? batch->values : "", (Py_ssize_t)batch->value_bytes,
                         (const char *)batch->sizes, n * 8, (const char *)batch->topics, n * 8,
                         (const char *)batch->partitions, n * 4, (const char *)batch->offsets, n * 8,
                         (const char *)batch->times, n * 8, (const char *)batch->kinds, n);
}

/* take(batch, consume, queue, most, timeout_ms) -> None | (errors, None | tuple of blocks) */
PyObject *batch_take(PyObject *module, PyObject *args)
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
    batch->count = batch->troubles.count = batch->value_bytes = 0;
    batch->no_memory = 0;
    Py_BEGIN_ALLOW_THREADS
    /* Waits for the first, then takes what is already there. */
    consume((void *)(uintptr_t)queue_at, timeout_ms, keep, batch);
    Py_END_ALLOW_THREADS
    if (batch->no_memory)
        return PyErr_NoMemory();
    if (batch->count == 0 && batch->troubles.count == 0)
        Py_RETURN_NONE;
    PyObject *errors = troubles_told(&batch->troubles);
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
PyObject *batch_new(PyObject *module, PyObject *args)
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
