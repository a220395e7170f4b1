/* Reads records off a librdkafka queue a whole batch at a time, into columns.
 *
 * confluent-kafka makes a Python object a record, which is most of the work of reading small ones.
 * This copies values and fields into a few blocks of memory instead, without the interpreter's lock.
 * librdkafka is not linked: the addresses of its functions are handed in, from the very library that
 * confluent-kafka has loaded. The record's layout below is part of librdkafka's public interface.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stddef.h>
#include <stdint.h>
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

typedef record_t *(*consume_one_fn)(void *queue, int timeout_ms);
typedef ptrdiff_t (*consume_batch_fn)(void *queue, int timeout_ms, record_t **records, size_t size);
typedef int64_t (*timestamp_fn)(const record_t *record, int *kind);
typedef void (*destroy_fn)(record_t *record);

#define MOST 4000

/* Sizes, partitions, offsets, times and kinds, one block each, so that numpy can view them. */
enum { VALUES, SIZES, TOPICS, PARTITIONS, OFFSETS, TIMES, KINDS, BLOCKS };

static const size_t WIDTHS[BLOCKS] = {1, 8, 8, 4, 8, 8, 1};

static char *begin_of(PyObject *const *blocks, int block) { return PyBytes_AS_STRING(blocks[block]); }

static void copy_records(record_t **records, size_t count, PyObject *const *blocks, timestamp_fn timestamp)
{
    char *value = begin_of(blocks, VALUES);
    int64_t *sizes = (int64_t *)begin_of(blocks, SIZES);
    int64_t *topics = (int64_t *)begin_of(blocks, TOPICS);
    int32_t *partitions = (int32_t *)begin_of(blocks, PARTITIONS);
    int64_t *offsets = (int64_t *)begin_of(blocks, OFFSETS);
    int64_t *times = (int64_t *)begin_of(blocks, TIMES);
    int8_t *kinds = (int8_t *)begin_of(blocks, KINDS);
    for (size_t i = 0; i < count; i++) {
        const record_t *record = records[i];
        int kind = 0;
        if (record->len)
            memcpy(value, record->payload, record->len);
        value += record->len;
        sizes[i] = (int64_t)record->len;
        topics[i] = (int64_t)(intptr_t)record->topic;
        partitions[i] = record->partition;
        offsets[i] = record->offset;
        times[i] = timestamp(record, &kind);
        kinds[i] = (int8_t)kind;
    }
}

/* take(functions, queue, most, timeout_ms) -> None | int (an error's number) | tuple of blocks */
static PyObject *take(PyObject *module, PyObject *args)
{
    unsigned long long one_at, batch_at, timestamp_at, destroy_at, queue_at;
    int most, timeout_ms;
    (void)module;
    if (!PyArg_ParseTuple(args, "(KKKK)Kii", &one_at, &batch_at, &timestamp_at, &destroy_at, &queue_at, &most,
                          &timeout_ms))
        return NULL;
    if (most < 1 || most > MOST)
        return PyErr_Format(PyExc_ValueError, "between 1 and %d records at a time", MOST);
    consume_one_fn consume_one = (consume_one_fn)(uintptr_t)one_at;
    consume_batch_fn consume_batch = (consume_batch_fn)(uintptr_t)batch_at;
    timestamp_fn timestamp = (timestamp_fn)(uintptr_t)timestamp_at;
    destroy_fn destroy = (destroy_fn)(uintptr_t)destroy_at;
    void *queue = (void *)(uintptr_t)queue_at;

    record_t *records[MOST];
    size_t count = 0, value_bytes = 0;
    int failure = 0;
    Py_BEGIN_ALLOW_THREADS
    /* A batch call waits until it is full: wait for the first, then take what is already there. */
    records[0] = consume_one(queue, timeout_ms);
    if (records[0]) {
        ptrdiff_t more = most > 1 ? consume_batch(queue, 0, records + 1, (size_t)most - 1) : 0;
        size_t taken = 1 + (more > 0 ? (size_t)more : 0);
        for (size_t i = 0; i < taken; i++) {
            if (records[i]->err) {
                /* No record but an event: told once, and those behind it are kept. */
                failure = failure ? failure : records[i]->err;
                destroy(records[i]);
                continue;
            }
            value_bytes += records[i]->len;
            records[count++] = records[i];
        }
    }
    Py_END_ALLOW_THREADS
    if (count == 0)
        return failure ? Py_BuildValue("(i)", failure) : Py_NewRef(Py_None);

    PyObject *blocks[BLOCKS] = {NULL};
    int whole = 1;
    for (int block = 0; block < BLOCKS && whole; block++) {
        size_t bytes = block == VALUES ? value_bytes : count * WIDTHS[block];
        blocks[block] = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)bytes);
        whole = blocks[block] != NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    if (whole)
        copy_records(records, count, blocks, timestamp);
    for (size_t i = 0; i < count; i++)
        destroy(records[i]);
    Py_END_ALLOW_THREADS
    PyObject *result = NULL;
    if (whole)
        result = Py_BuildValue("(iOOOOOOO)", failure, blocks[VALUES], blocks[SIZES], blocks[TOPICS],
                               blocks[PARTITIONS], blocks[OFFSETS], blocks[TIMES], blocks[KINDS]);
    for (int block = 0; block < BLOCKS; block++)
        Py_XDECREF(blocks[block]);
    return result;
}

static PyMethodDef methods[] = {
    {"take", take, METH_VARARGS, "What is there, in columns; wait for the first record as long as timeout_ms."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_rdkafka_batches", NULL, 0, methods,
                                    NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__rdkafka_batches(void) { return PyModule_Create(&module); }
