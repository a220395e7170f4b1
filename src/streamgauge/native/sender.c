/* The sending loop for Python: everything that it is given is checked here, once, before it runs. */
#include "sender.h"

#include <stdlib.h>

static const column_t OF_ACKS[ACKS] = {{8, "sequence"}, {4, "partition"}, {8, "offset"}, {8, "acked_ns"}, {4, "code"}};
static const column_t OF_ROWS[ROWS] = {
    {4, "topic"}, {4, "size_bytes"}, {8, "intended_ns"}, {8, "sent_ns"}, {8, "acked_ns"}};

static const char SENDER[] = "streamgauge.sender";

static sender_t *sender_of(PyObject *capsule)
{
    sender_t *s = PyCapsule_GetPointer(capsule, SENDER);
    if (s && s->is_closed) {
        PyErr_SetString(PyExc_RuntimeError, "this sender is closed");
        return NULL;
    }
    if (s && s->is_busy) {
        PyErr_SetString(PyExc_RuntimeError, "somebody else is using this sender");
        return NULL;
    }
    return s;
}

static int get_numbers(PyObject *given, Py_ssize_t least, Py_buffer *view, const int64_t **numbers)
{
    memset(view, 0, sizeof *view);
    *numbers = NULL;
    if (given == Py_None)
        return 1;
    if (PyObject_GetBuffer(given, view, PyBUF_C_CONTIGUOUS) < 0)
        return 0;
    if (view->itemsize != 8 || view->len / 8 < least) {
        PyErr_Format(PyExc_ValueError, "%zd numbers of 8 bytes are wanted", least);
        PyBuffer_Release(view);
        return 0;
    }
    *numbers = view->buf;
    return 1;
}

/* send(sender, first_sequence, most, due_ns | None, key_numbers | None, columns, until_ns, waits) -> (sent, why) */
PyObject *sender_send(PyObject *module, PyObject *args)
{
    PyObject *capsule, *due, *keys, *columns;
    Py_ssize_t most;
    long long first_sequence, until_ns;
    int waits, why;
    Py_buffer rows[ROWS], due_view, key_view;
    job_t job = {0};
    (void)module;
    if (!PyArg_ParseTuple(args, "OLnOOOLp", &capsule, &first_sequence, &most, &due, &keys, &columns, &until_ns, &waits))
        return NULL;
    sender_t *s = sender_of(capsule);
    if (!s)
        return NULL;
    if (most < 0)
        return PyErr_Format(PyExc_ValueError, "%zd messages", most);
    if (s->key_count == 0 && keys != Py_None)
        return PyErr_Format(PyExc_ValueError, "this sender has no keys");
    if (!get_columns(columns, OF_ROWS, ROWS, most, rows))
        return NULL;
    if (!get_numbers(due, most, &due_view, &job.due)) {
        release_columns(rows, ROWS);
        return NULL;
    }
    if (!get_numbers(keys, most, &key_view, &job.key_numbers)) {
        PyBuffer_Release(&due_view);
        release_columns(rows, ROWS);
        return NULL;
    }
    job.first_sequence = first_sequence;
    job.until_ns = until_ns;
    job.most = (size_t)most;
    job.waits = waits;
    job.topic = rows[ROW_TOPIC].buf;
    job.size = rows[ROW_SIZE].buf;
    job.intended = rows[ROW_INTENDED].buf;
    job.sent = rows[ROW_SENT].buf;
    job.acked = rows[ROW_ACKED].buf;
    s->is_busy = 1;
    Py_BEGIN_ALLOW_THREADS
    look_for_reports(s, 0);
    why = send_rows(s, &job);
    Py_END_ALLOW_THREADS
    s->is_busy = 0;
    PyBuffer_Release(&key_view);
    PyBuffer_Release(&due_view);
    release_columns(rows, ROWS);
    if (why == NO_MEMORY)
        return PyErr_NoMemory();
    if (why == BAD_KEY)
        return PyErr_Format(PyExc_ValueError, "message %lld has a key that is not there", first_sequence + (long long)job.done);
    return Py_BuildValue("(ni)", (Py_ssize_t)job.done, why);
}

/* send_one(sender, topic, value, key | None) -> code: 0 when it was taken */
PyObject *sender_send_one(PyObject *module, PyObject *args)
{
    PyObject *capsule;
    Py_ssize_t topic, value_size, key_size = 0;
    const char *value, *key = NULL;
    (void)module;
    if (!PyArg_ParseTuple(args, "Ony#z#", &capsule, &topic, &value, &value_size, &key, &key_size))
        return NULL;
    sender_t *s = sender_of(capsule);
    if (!s)
        return NULL;
    if (topic < 0 || (size_t)topic >= s->topic_count)
        return PyErr_Format(PyExc_ValueError, "there is no topic %zd", topic);
    int code = 0;
    if (s->produce(s->topics[topic], s->partition, FLAG_COPY, (void *)value, (size_t)value_size, key, (size_t)key_size,
                   NULL) != 0)
        code = s->last_error();
    else
        s->taken++;
    return PyLong_FromLong(code);
}

/* poll(sender, timeout_ms): look for what became of messages; wait for the first as long */
PyObject *sender_poll(PyObject *module, PyObject *args)
{
    PyObject *capsule;
    int timeout_ms;
    (void)module;
    if (!PyArg_ParseTuple(args, "Oi", &capsule, &timeout_ms))
        return NULL;
    sender_t *s = sender_of(capsule);
    if (!s)
        return NULL;
    s->is_busy = 1;
    Py_BEGIN_ALLOW_THREADS
    look_for_reports(s, s->ack_count ? 0 : timeout_ms);
    Py_END_ALLOW_THREADS
    s->is_busy = 0;
    Py_RETURN_NONE;
}

/* told(sender) -> (rows of the acks' columns that are filled, notes); they are free again at the next call */
PyObject *sender_told(PyObject *module, PyObject *args)
{
    PyObject *capsule;
    (void)module;
    if (!PyArg_ParseTuple(args, "O", &capsule))
        return NULL;
    sender_t *s = sender_of(capsule);
    if (!s)
        return NULL;
    PyObject *notes = PyTuple_New((Py_ssize_t)s->note_count);
    for (size_t i = 0; notes && i < s->note_count; i++) {
        const char *words = s->notes[i].words;
        PyObject *text = PyUnicode_DecodeUTF8(words, (Py_ssize_t)strlen(words), "replace");
        PyObject *one = text ? Py_BuildValue("(iN)", s->notes[i].level, text) : NULL;
        if (!one)
            Py_CLEAR(notes);
        else
            PyTuple_SET_ITEM(notes, (Py_ssize_t)i, one);
    }
    if (!notes)
        return NULL;
    PyObject *told = Py_BuildValue("(nN)", (Py_ssize_t)s->ack_count, notes);
    s->ack_count = s->note_count = 0;
    return told;
}

/* counts(sender) -> (messages taken, of which it is known what became, of which `told` has not told yet, ns spent on spinning) */
PyObject *sender_counts(PyObject *module, PyObject *args)
{
    PyObject *capsule;
    (void)module;
    if (!PyArg_ParseTuple(args, "O", &capsule))
        return NULL;
    sender_t *s = PyCapsule_GetPointer(capsule, SENDER);
    return s ? Py_BuildValue("(LLnL)", (long long)s->taken, (long long)s->told, (Py_ssize_t)s->ack_count,
                             (long long)s->spun_ns)
             : NULL;
}

static void let_go(sender_t *s)
{
    /* librdkafka does not live through a fork: there its memory is left alone. */
    if (s->event && s->owner_pid == getpid())
        s->event_destroy(s->event);
    s->event = NULL;
    release_columns(s->pool, POOL);
    release_columns(s->acks, ACKS);
    s->is_closed = 1;
}

/* close(sender): before the client is destroyed */
PyObject *sender_close(PyObject *module, PyObject *args)
{
    PyObject *capsule;
    (void)module;
    if (!PyArg_ParseTuple(args, "O", &capsule))
        return NULL;
    sender_t *s = PyCapsule_GetPointer(capsule, SENDER);
    if (!s)
        return NULL;
    if (s->is_busy)
        return PyErr_Format(PyExc_RuntimeError, "somebody else is using this sender");
    if (!s->is_closed)
        let_go(s);
    Py_RETURN_NONE;
}

static void free_sender(PyObject *capsule)
{
    sender_t *s = PyCapsule_GetPointer(capsule, SENDER);
    if (!s)
        return;
    if (!s->is_closed)
        let_go(s);
    free(s->value);
    free(s);
}

static int get_topics(sender_t *s, PyObject *given)
{
    Py_ssize_t count = PyTuple_Size(given);
    if (count < 1 || count > MOST_TOPICS) {
        PyErr_Format(PyExc_ValueError, "between 1 and %d topics", MOST_TOPICS);
        return 0;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        unsigned long long handle;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(given, i), "Ki", &handle, &s->topic_numbers[i]))
            return 0;
        s->topics[i] = (void *)(uintptr_t)handle;
    }
    s->topic_count = (size_t)count;
    return 1;
}

/* Each body and each key lies within its block: nothing else is looked at later. */
static int check_pool(sender_t *s)
{
    const int64_t *starts = s->pool[STARTS].buf, *sizes = s->pool[SIZES].buf, *key_starts = s->pool[KEY_STARTS].buf;
    s->body_count = s->pool[STARTS].len / 8;
    s->key_count = s->pool[KEY_STARTS].len / 8 - 1;
    int fits = s->body_count > 0 && s->pool[SIZES].len / 8 >= s->body_count && s->pool[SUMS].len / 8 >= s->body_count;
    for (int64_t i = 0; fits && i < s->body_count; i++)
        fits = starts[i] >= 0 && sizes[i] >= 0 && sizes[i] <= INT32_MAX - HEADER_BYTES &&
               starts[i] + sizes[i] <= s->pool[BODIES].len;
    fits = fits && s->key_count >= 0 && key_starts[0] >= 0;
    for (int64_t i = 0; fits && i < s->key_count; i++)
        fits = key_starts[i] <= key_starts[i + 1] && key_starts[i + 1] <= s->pool[KEYS].len;
    if (!fits)
        PyErr_SetString(PyExc_ValueError, "bodies or keys that are not where they should be");
    return fits;
}

static int get_pool(sender_t *s, PyObject *given)
{
    static const Py_ssize_t widths[POOL] = {1, 8, 8, 8, 1, 8};
    if (!PyTuple_Check(given) || PyTuple_GET_SIZE(given) != POOL) {
        PyErr_Format(PyExc_TypeError, "a tuple of %d blocks", POOL);
        return 0;
    }
    for (Py_ssize_t i = 0; i < POOL; i++) {
        if (PyObject_GetBuffer(PyTuple_GET_ITEM(given, i), &s->pool[i], PyBUF_C_CONTIGUOUS) < 0)
            return 0;
        if (widths[i] != s->pool[i].itemsize) {
            PyErr_Format(PyExc_ValueError, "block %zd: values of %zd bytes are wanted", i, widths[i]);
            return 0;
        }
    }
    return check_pool(s);
}

/* sender(functions, queue, wake_fd, owner, in_key, partition, ((topic, number), …), pool, acks, (spin_ns, spin_share)) */
PyObject *sender_new(PyObject *module, PyObject *args)
{
    unsigned long long at[9], queue_at, owner;
    int wake_fd, in_key, partition;
    long long spin_ns, spin_share;
    PyObject *topics, *pool, *acks;
    (void)module;
    if (!PyArg_ParseTuple(args, "(KKKKKKKKK)KiKpiO!OO(LL)", &at[0], &at[1], &at[2], &at[3], &at[4], &at[5], &at[6], &at[7],
                          &at[8], &queue_at, &wake_fd, &owner, &in_key, &partition, &PyTuple_Type, &topics, &pool,
                          &acks, &spin_ns, &spin_share))
        return NULL;
    if (spin_ns < 0 || spin_ns > 1000000 || spin_share < 0 || spin_share > 1000)
        return PyErr_Format(PyExc_ValueError, "spins for 0 to 1,000,000 ns, and 0 to 1,000 thousandths of a core");
    sender_t *s = calloc(1, sizeof(sender_t));
    if (!s || !(s->value = malloc(HAND_OVER_BYTES))) {
        free(s);
        return PyErr_NoMemory();
    }
    s->produce = (produce_fn)(uintptr_t)at[0];
    s->last_error = (last_error_fn)(uintptr_t)at[1];
    s->queue_poll = (queue_poll_fn)(uintptr_t)at[2];
    s->event_type = (event_type_fn)(uintptr_t)at[3];
    s->event_message = (event_message_fn)(uintptr_t)at[4];
    s->event_destroy = (event_destroy_fn)(uintptr_t)at[5];
    s->event_words = (event_words_fn)(uintptr_t)at[6];
    s->event_log = (event_log_fn)(uintptr_t)at[7];
    s->clock = at[8] ? (clock_fn)(uintptr_t)at[8] : monotonic_ns;
    s->queue = (void *)(uintptr_t)queue_at;
    s->wake_fd = wake_fd;
    s->owner_pid = getpid();
    s->owner = owner;
    s->in_key = in_key;
    s->partition = partition;
    s->spin_ns = spin_ns;
    s->spin_share = spin_share;
    PyObject *capsule = PyCapsule_New(s, SENDER, free_sender);
    if (!capsule) {
        free(s->value);
        free(s);
        return NULL;
    }
    if (!get_topics(s, topics) || !get_pool(s, pool) || !get_columns(acks, OF_ACKS, ACKS, 1, s->acks)) {
        Py_DECREF(capsule);
        return NULL;
    }
    s->ack_room = (size_t)(s->acks[ACK_SEQUENCE].len / 8);
    for (size_t i = 0; i < ACKS; i++)
        if ((size_t)(s->acks[i].len / OF_ACKS[i].width) < s->ack_room)
            s->ack_room = (size_t)(s->acks[i].len / OF_ACKS[i].width);
    return capsule;
}
