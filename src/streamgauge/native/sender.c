/* Sends messages when they are due: header, checksum and body, a stamp each, and what became of them as columns.
 *
 * The client is one of our own (drivers/kafka/confluent/native_producer.py), whose delivery reports come as
 * events: no callback of anybody's is ever called. The twin is agents/sending.py with payload/making.py,
 * agents/slices.py and drivers/kafka/confluent/producer.py.
 */
#include "loops.h" /* first: Python's header says which of the system's functions there are */

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#define LOOK_EVERY 64         /* messages, between two looks for delivery reports */
#define CLOCK_EVERY 16        /* reports that came together, and take 2 µs to be kept */
#define TURN_MESSAGES 1000    /* as many go to one topic, when all are due */
#define FULL_WAIT_NS 1000000  /* when the client is full, at most, unless a report comes */
#define UNTOLD_WAIT_NS 1000000 /* between two looks for reports, where nobody says that one has come */
#define HAND_OVER_BYTES 4096  /* values above are made once and handed over; below, librdkafka copies them */
#define MOST_TOPICS 1024
#define MOST_NOTES 32
#define MOST_WORDS 512

typedef struct {
    int level;
    char words[MOST_WORDS];
} note_t;

enum { BODIES, STARTS, SIZES, SUMS, KEYS, KEY_STARTS, POOL };
enum { ACK_SEQUENCE, ACK_PARTITION, ACK_OFFSET, ACK_NS, ACK_CODE, ACKS };
enum { ROW_TOPIC, ROW_SIZE, ROW_INTENDED, ROW_SENT, ROW_ACKED, ROWS };

static const column_t OF_ACKS[ACKS] = {{8, "sequence"}, {4, "partition"}, {8, "offset"}, {8, "acked_ns"}, {4, "code"}};
static const column_t OF_ROWS[ROWS] = {
    {4, "topic"}, {4, "size_bytes"}, {8, "intended_ns"}, {8, "sent_ns"}, {8, "acked_ns"}};

typedef struct {
    produce_fn produce;
    last_error_fn last_error;
    queue_poll_fn queue_poll;
    event_type_fn event_type;
    event_message_fn event_message;
    event_destroy_fn event_destroy;
    event_words_fn event_words;
    event_log_fn event_log;
    clock_fn clock;
    void *queue;
    int wake_fd; /* readable when something has come into an empty queue; -1: nobody says */
    pid_t owner_pid;
    uint64_t owner;
    int in_key, is_busy, is_closed;
    int32_t partition;
    size_t topic_count, turn, in_turn;
    void *topics[MOST_TOPICS];
    int32_t topic_numbers[MOST_TOPICS];
    Py_buffer pool[POOL], acks[ACKS];
    int64_t body_count, key_count;
    size_t ack_room, ack_count, note_count;
    int64_t taken, told;
    void *event; /* a delivery report that there was no room for yet */
    char *value;
    note_t notes[MOST_NOTES];
} sender_t;

typedef struct {
    int64_t first_sequence, until_ns;
    const int64_t *due, *key_numbers;
    size_t most, done;
    int waits;
    int32_t *topic, *size;
    int64_t *intended, *sent, *acked;
} job_t;

enum { ALL_SENT, TIME_UP, NOT_DUE, FULL, TOLD_ENOUGH, SIGNALLED, NO_MEMORY, BAD_KEY };
enum { HANDED_OVER, REFUSED_FULL, WITHOUT_MEMORY, WITHOUT_KEY };

static const char SENDER[] = "streamgauge.sender";

/* ---- what became of messages */

static void tell(sender_t *s, int64_t sequence, int32_t partition, int64_t offset, int code, int64_t now_ns)
{
    size_t i = s->ack_count++;
    ((int64_t *)s->acks[ACK_SEQUENCE].buf)[i] = sequence;
    ((int32_t *)s->acks[ACK_PARTITION].buf)[i] = code ? -1 : partition;
    ((int64_t *)s->acks[ACK_OFFSET].buf)[i] = code ? -1 : offset;
    ((int64_t *)s->acks[ACK_NS].buf)[i] = now_ns;
    ((int32_t *)s->acks[ACK_CODE].buf)[i] = code;
}

/* Whose it was stands in the message itself: an opaque pointer could be taken for somebody else's. */
static void keep_report(sender_t *s, const record_t *message, int64_t now_ns)
{
    const unsigned char *head = s->in_key ? message->key : message->payload;
    size_t size = s->in_key ? message->key_len : message->len;
    s->told++;
    if (head && size >= HEADER_BYTES && word_at(head) == s->owner)
        tell(s, (int64_t)word_at(head + 8), message->partition, message->offset, message->err, now_ns);
}

static void note(sender_t *s, int level, const char *facility, const char *words)
{
    if (s->note_count == MOST_NOTES)
        return; /* a client without brokers says the same thing for ever */
    note_t *kept = &s->notes[s->note_count++];
    kept->level = level;
    snprintf(kept->words, MOST_WORDS, "%s: %s", facility ? facility : "", words ? words : "");
}

static void keep_note(sender_t *s, void *event, int type)
{
    const char *facility = NULL, *words = NULL;
    int level = 6;
    if (type == EVENT_LOG && s->event_log(event, &facility, &words, &level) == 0)
        note(s, level, facility, words);
    else if (type == EVENT_ERROR)
        note(s, 4, "ERROR", s->event_words(event));
}

/* Takes what is there, as far as there is room for it; waits for the first as long as `timeout_ms`. */
static void look(sender_t *s, int timeout_ms)
{
    while (s->ack_count < s->ack_room) {
        if (!s->event) {
            s->event = s->queue_poll(s->queue, timeout_ms);
            if (!s->event)
                return;
            timeout_ms = 0;
        }
        int type = s->event_type(s->event);
        if (type == EVENT_DELIVERY) {
            const record_t *message;
            int64_t now_ns = 0;
            for (size_t i = 0; s->ack_count < s->ack_room && (message = s->event_message(s->event)); i++) {
                if (i % CLOCK_EVERY == 0)
                    now_ns = s->clock();
                keep_report(s, message, now_ns);
            }
            if (s->ack_count == s->ack_room)
                return; /* there may be more in this event */
        } else
            keep_note(s, s->event, type);
        s->event_destroy(s->event);
        s->event = NULL;
    }
}

/* As long, or until something has come, if anybody says so: 1 then, 0 when the time is up, -1 for a signal. */
static int pause_for(sender_t *s, int64_t left_ns)
{
    if (s->wake_fd < 0 && left_ns > UNTOLD_WAIT_NS)
        left_ns = UNTOLD_WAIT_NS;
    struct timespec left = {left_ns / 1000000000, left_ns % 1000000000};
#ifdef __linux__
    struct pollfd wake = {s->wake_fd, POLLIN, 0};
    int ready = ppoll(&wake, s->wake_fd >= 0 ? 1 : 0, &left, NULL);
#else
    int ready = nanosleep(&left, NULL);
#endif
    if (ready < 0)
        return errno == EINTR ? -1 : 0;
    return ready > 0 || s->wake_fd < 0;
}

/* Until then, or until something has come; 0: a signal wants to be seen to. */
static int wait_until(sender_t *s, int64_t until_ns)
{
    int64_t left_ns = until_ns - s->clock();
    if (left_ns <= 0)
        return 1;
    int woken = pause_for(s, left_ns);
    if (woken > 0) {
        uint64_t count;
        if (s->wake_fd >= 0 && read(s->wake_fd, &count, sizeof count) < 0 && errno == EINTR)
            return 0;
        look(s, 0);
    }
    return woken >= 0;
}

/* ---- sending */

static int64_t place_of(int64_t sequence, int64_t count)
{
    int64_t place = sequence % count;
    return place < 0 ? place + count : place;
}

static char *room_for_value(sender_t *s, size_t size)
{
    if (size > HAND_OVER_BYTES)
        return malloc(size);
    return s->value;
}

static int hand_over(sender_t *s, job_t *job, int64_t now_ns)
{
    size_t i = job->done, topic = s->turn % s->topic_count;
    int64_t sequence = job->first_sequence + (int64_t)i, at = place_of(sequence, s->body_count);
    const char *body = (const char *)s->pool[BODIES].buf + ((const int64_t *)s->pool[STARTS].buf)[at];
    size_t body_size = (size_t)((const int64_t *)s->pool[SIZES].buf)[at], size = body_size, key_size = 0;
    uint64_t intended_ns = (uint64_t)(job->due ? job->due[i] : now_ns);
    uint64_t head[HEADER_WORDS] = {s->owner, (uint64_t)sequence, intended_ns,
                                   header_sum(s->owner, (uint64_t)sequence, intended_ns) +
                                       ((const uint64_t *)s->pool[SUMS].buf)[at]};
    const void *key = NULL;
    char *value = (char *)body;
    int flags = FLAG_COPY;
    if (s->in_key) {
        key = head;
        key_size = HEADER_BYTES;
    } else {
        size += HEADER_BYTES;
        value = room_for_value(s, size);
        if (!value)
            return WITHOUT_MEMORY;
        if (value != s->value)
            flags = FLAG_FREE;
        memcpy(value, head, HEADER_BYTES);
        memcpy(value + HEADER_BYTES, body, body_size);
        if (job->key_numbers) {
            const int64_t *starts = s->pool[KEY_STARTS].buf;
            int64_t number = job->key_numbers[i];
            if (number < 0 || number >= s->key_count) {
                if (flags == FLAG_FREE)
                    free(value);
                return WITHOUT_KEY;
            }
            key = (const char *)s->pool[KEYS].buf + starts[number];
            key_size = (size_t)(starts[number + 1] - starts[number]);
        }
    }
    /* Before it is handed over: its report can be faster than what comes after. */
    job->topic[i] = s->topic_numbers[topic];
    job->size[i] = (int32_t)size;
    job->intended[i] = (int64_t)intended_ns;
    job->sent[i] = now_ns;
    job->acked[i] = 0;
    if (s->produce(s->topics[topic], s->partition, flags, value, size, key, key_size, NULL) != 0) {
        int code = s->last_error();
        if (flags == FLAG_FREE)
            free(value); /* what was refused is still ours */
        if (code == ERR_QUEUE_FULL)
            return REFUSED_FULL;
        s->told++;
        tell(s, sequence, -1, -1, code, now_ns);
    }
    s->taken++;
    return HANDED_OVER;
}

static void next_turn(sender_t *s)
{
    s->in_turn = 0;
    s->turn++;
}

static int64_t earlier(int64_t one, int64_t other) { return one < other ? one : other; }

/* The loop. Nothing in it waits longer than `until_ns`. */
static int send_rows(sender_t *s, job_t *job)
{
    size_t since_look = 0;
    while (job->done < job->most) {
        int64_t now_ns = s->clock();
        if (now_ns >= job->until_ns)
            return TIME_UP;
        if (s->ack_count == s->ack_room)
            return TOLD_ENOUGH;
        if (job->due && job->due[job->done] > now_ns) {
            if (s->in_turn)
                next_turn(s);
            if (!job->waits)
                return NOT_DUE;
            if (!wait_until(s, earlier(job->due[job->done], job->until_ns)))
                return SIGNALLED;
            continue;
        }
        int outcome = hand_over(s, job, now_ns);
        if (outcome == WITHOUT_MEMORY)
            return NO_MEMORY;
        if (outcome == WITHOUT_KEY)
            return BAD_KEY;
        if (outcome == REFUSED_FULL) {
            look(s, 0);
            if (!job->waits)
                return FULL;
            if (!wait_until(s, earlier(now_ns + FULL_WAIT_NS, job->until_ns)))
                return SIGNALLED;
            continue;
        }
        job->done++;
        if (++s->in_turn == TURN_MESSAGES)
            next_turn(s);
        if (++since_look == LOOK_EVERY) {
            look(s, 0);
            since_look = 0;
        }
    }
    return ALL_SENT;
}

/* ---- for Python */

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
    look(s, 0);
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
    look(s, s->ack_count ? 0 : timeout_ms);
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

/* counts(sender) -> (messages taken, of which it is known what became, of which `told` has not told yet) */
PyObject *sender_counts(PyObject *module, PyObject *args)
{
    PyObject *capsule;
    (void)module;
    if (!PyArg_ParseTuple(args, "O", &capsule))
        return NULL;
    sender_t *s = PyCapsule_GetPointer(capsule, SENDER);
    return s ? Py_BuildValue("(LLn)", (long long)s->taken, (long long)s->told, (Py_ssize_t)s->ack_count) : NULL;
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

/* sender(functions, queue, wake_fd, owner, in_key, partition, ((topic, number), …), pool, acks) */
PyObject *sender_new(PyObject *module, PyObject *args)
{
    unsigned long long at[9], queue_at, owner;
    int wake_fd, in_key, partition;
    PyObject *topics, *pool, *acks;
    (void)module;
    if (!PyArg_ParseTuple(args, "(KKKKKKKKK)KiKpiO!OO", &at[0], &at[1], &at[2], &at[3], &at[4], &at[5], &at[6], &at[7],
                          &at[8], &queue_at, &wake_fd, &owner, &in_key, &partition, &PyTuple_Type, &topics, &pool,
                          &acks))
        return NULL;
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
