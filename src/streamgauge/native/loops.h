/* What the compiled loops share: the module's functions, the clock, the checksum, errors that are kept. */
#ifndef STREAMGAUGE_LOOPS_H
#define STREAMGAUGE_LOOPS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "rdkafka.h"

typedef int64_t (*clock_fn)(void);

static inline int64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The message header, as payload/header.py has it: four words, the last one is the checksum. */
#define HEADER_BYTES 32
#define HEADER_WORDS 4
#define LENGTH_WEIGHT 0x9E3779B97F4A7C15u
#define INTACT 0
#define CORRUPT 1
#define UNEXPECTED 2

#define READY_WEIGHTS 4096
extern uint64_t ready_weights[READY_WEIGHTS];
void make_weights(void);
uint64_t body_sum(const unsigned char *body, size_t size);

static inline uint64_t word_at(const void *from)
{
    uint64_t word;
    memcpy(&word, from, sizeof word);
    return word;
}

static inline uint64_t mixed(uint64_t word) { return word ^ (word >> 29); }

static inline uint64_t header_sum(uint64_t owner, uint64_t sequence, uint64_t intended_ns)
{
    return mixed(owner) * ready_weights[0] + mixed(sequence) * ready_weights[1] + mixed(intended_ns) * ready_weights[2];
}

/* Whose a message is, and whether it is whole. */
typedef struct {
    int state;
    int32_t producer;
    int64_t sequence, intended_ns;
} identity_t;

identity_t identity_of(const unsigned char *value, size_t size, uint32_t tag);

/* Errors that came instead of records. */
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

typedef struct {
    size_t count;
    trouble_t each[MOST_ERRORS];
} troubles_t;

/* Keeps one; yields when there is no room for another. */
void keep_trouble(troubles_t *troubles, const record_t *record, yield_fn yield);
PyObject *troubles_told(const troubles_t *troubles);

/* Buffers of columns that are given as a tuple, each for `rows` rows at least; 0 and an exception when not. */
typedef struct {
    Py_ssize_t width;
    const char *name;
} column_t;

int get_columns(PyObject *given, const column_t *wanted, size_t count, Py_ssize_t rows, Py_buffer *views);
void release_columns(Py_buffer *views, size_t count);

PyObject *batch_new(PyObject *module, PyObject *args);
PyObject *batch_take(PyObject *module, PyObject *args);
PyObject *rows_new(PyObject *module, PyObject *args);
PyObject *rows_take(PyObject *module, PyObject *args);
PyObject *sender_new(PyObject *module, PyObject *args);
PyObject *sender_send(PyObject *module, PyObject *args);
PyObject *sender_send_one(PyObject *module, PyObject *args);
PyObject *sender_poll(PyObject *module, PyObject *args);
PyObject *sender_told(PyObject *module, PyObject *args);
PyObject *sender_counts(PyObject *module, PyObject *args);
PyObject *sender_close(PyObject *module, PyObject *args);
PyObject *pacer_new(PyObject *module, PyObject *args);
PyObject *pacer_stop(PyObject *module, PyObject *args);
PyObject *message_of(PyObject *module, PyObject *args);
PyObject *identified(PyObject *module, PyObject *args);
PyObject *checksum_of(PyObject *module, PyObject *args);
PyObject *broadcast(PyObject *module, PyObject *args);
PyObject *swarm_new(PyObject *module, PyObject *args);
PyObject *swarm_add(PyObject *module, PyObject *args);
PyObject *swarm_drop(PyObject *module, PyObject *args);
PyObject *swarm_serve(PyObject *module, PyObject *args);
PyObject *swarm_fd(PyObject *module, PyObject *args);
PyObject *swarm_close(PyObject *module, PyObject *args);

#endif
