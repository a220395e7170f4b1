/* Reads records off a librdkafka queue straight into columns: whose each is, whether it is whole, when it came.
 *
 * Nothing is copied but what a row holds, and no Python object is made. The twin is
 * drivers/kafka/confluent/batches.py (`take`) with payload/reading.py (`MessageReader`).
 * Why only rd_kafka_consume_callback_queue will do: docs/decisions/0025.
 */
#include <stdlib.h>

#include "loops.h"

#define CLOCK_EVERY 8 /* records that were there already, and take 2 µs together; the first of a call has its own */

enum { STATE, PRODUCER, SEQUENCE, PARTITION, OFFSET, SIZE, BROKER_MS, BROKER_TIME, RECEIVED, TOPIC, INTENDED, COLUMNS };

static const column_t WANTED[COLUMNS] = {
    {1, "state"},      {4, "producer"},    {8, "sequence"},    {4, "partition"}, {8, "offset"},     {4, "size_bytes"},
    {8, "broker_ms"},  {1, "broker_time"}, {8, "received_ns"}, {8, "topic"},     {8, "intended_ns"},
};

typedef struct {
    consume_fn consume;
    timestamp_fn timestamp;
    yield_fn yield;
    clock_fn clock;
    void *queue;
    uint32_t tag;
    int is_busy;
    size_t most, count, in_call, passed_over;
    int8_t *state, *broker_time;
    int32_t *producer, *partition, *size;
    int64_t *sequence, *offset, *broker_ms, *received, *topic, *intended;
    troubles_t troubles;
} rows_t;

static const char ROWS[] = "streamgauge.rows";

static void identify(const rows_t *rows, const record_t *record, size_t i)
{
    identity_t found = identity_of(record->payload, record->len, rows->tag);
    rows->state[i] = (int8_t)found.state;
    rows->producer[i] = found.producer;
    rows->sequence[i] = found.sequence;
    rows->intended[i] = found.intended_ns;
}

static void keep_row(record_t *record, void *opaque)
{
    rows_t *rows = opaque;
    if (record->err) {
        keep_trouble(&rows->troubles, record, rows->yield);
        return;
    }
    if (rows->count >= rows->most) {
        rows->passed_over++; /* cannot be: whoever yielded is not called again */
        return;
    }
    size_t i = rows->count++;
    int kind = 0;
    rows->received[i] = rows->in_call++ % CLOCK_EVERY ? rows->received[i - 1] : rows->clock();
    identify(rows, record, i);
    rows->partition[i] = record->partition;
    rows->offset[i] = record->offset;
    rows->size[i] = record->payload ? (int32_t)record->len : 0;
    rows->topic[i] = (int64_t)(intptr_t)record->topic;
    rows->broker_ms[i] = rows->timestamp(record, &kind);
    rows->broker_time[i] = (int8_t)kind;
    if (rows->count == rows->most)
        rows->yield(NULL); /* what was not served goes back to the head of the queue */
}

static PyObject *taken(rows_t *rows)
{
    if (rows->passed_over)
        return PyErr_Format(PyExc_RuntimeError, "%zu records came after librdkafka was told to stop", rows->passed_over);
    PyObject *errors = troubles_told(&rows->troubles);
    return errors ? Py_BuildValue("(nN)", (Py_ssize_t)rows->count, errors) : NULL;
}

/* Waits for the first, and takes what is already there; then goes on for a while, so that at low rates the
 * interpreter is needed now and then only, not for every record. An error is told at once. */
static void take(rows_t *rows, int timeout_ms, int linger_ms)
{
    int64_t until_ns = 0;
    for (;;) {
        rows->in_call = 0;
        rows->consume(rows->queue, timeout_ms, keep_row, rows);
        if (!linger_ms || !rows->count || rows->count == rows->most || rows->troubles.count)
            return;
        int64_t now_ns = rows->clock();
        if (!until_ns)
            until_ns = now_ns + (int64_t)linger_ms * 1000000;
        if (now_ns >= until_ns)
            return;
        timeout_ms = (int)((until_ns - now_ns + 999999) / 1000000);
    }
}

/* take_rows(rows, most, timeout_ms, linger_ms, columns) -> (count, errors) */
PyObject *rows_take(PyObject *module, PyObject *args)
{
    PyObject *capsule, *columns;
    Py_ssize_t most;
    int timeout_ms, linger_ms;
    Py_buffer views[COLUMNS];
    (void)module;
    if (!PyArg_ParseTuple(args, "OniiO", &capsule, &most, &timeout_ms, &linger_ms, &columns))
        return NULL;
    rows_t *rows = PyCapsule_GetPointer(capsule, ROWS);
    if (!rows)
        return NULL;
    if (most < 1)
        return PyErr_Format(PyExc_ValueError, "room for %zd records: at least 1", most);
    if (rows->is_busy)
        return PyErr_Format(PyExc_RuntimeError, "somebody else is reading these rows");
    if (!get_columns(columns, WANTED, COLUMNS, most, views))
        return NULL;
    rows->is_busy = 1;
    rows->state = views[STATE].buf;
    rows->producer = views[PRODUCER].buf;
    rows->sequence = views[SEQUENCE].buf;
    rows->partition = views[PARTITION].buf;
    rows->offset = views[OFFSET].buf;
    rows->size = views[SIZE].buf;
    rows->broker_ms = views[BROKER_MS].buf;
    rows->broker_time = views[BROKER_TIME].buf;
    rows->received = views[RECEIVED].buf;
    rows->topic = views[TOPIC].buf;
    rows->intended = views[INTENDED].buf;
    rows->most = (size_t)most;
    rows->count = rows->passed_over = rows->troubles.count = 0;
    Py_BEGIN_ALLOW_THREADS
    take(rows, timeout_ms, linger_ms);
    Py_END_ALLOW_THREADS
    rows->is_busy = 0;
    release_columns(views, COLUMNS);
    return taken(rows);
}

static void free_rows(PyObject *capsule) { free(PyCapsule_GetPointer(capsule, ROWS)); }

/* rows((consume, timestamp, yield, clock), queue, tag) -> what `take_rows` needs, for one thread at a time */
PyObject *rows_new(PyObject *module, PyObject *args)
{
    unsigned long long consume_at, timestamp_at, yield_at, clock_at, queue_at;
    unsigned int tag;
    (void)module;
    if (!PyArg_ParseTuple(args, "(KKKK)KI", &consume_at, &timestamp_at, &yield_at, &clock_at, &queue_at, &tag))
        return NULL;
    rows_t *rows = calloc(1, sizeof(rows_t));
    if (!rows)
        return PyErr_NoMemory();
    rows->consume = (consume_fn)(uintptr_t)consume_at;
    rows->timestamp = (timestamp_fn)(uintptr_t)timestamp_at;
    rows->yield = (yield_fn)(uintptr_t)yield_at;
    rows->clock = clock_at ? (clock_fn)(uintptr_t)clock_at : monotonic_ns;
    rows->queue = (void *)(uintptr_t)queue_at;
    rows->tag = tag;
    PyObject *capsule = PyCapsule_New(rows, ROWS, free_rows);
    if (!capsule)
        free(rows);
    return capsule;
}
