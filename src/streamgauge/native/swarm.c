/* Thousands of WebSocket sessions on one epoll: read, parsed, counted and stamped without the interpreter.
 *
 * What is not counted or put into a row is told to Python, in the order in which it came, by kind: nothing is passed
 * over. A connection's file descriptor is Python's: here it is only read from.
 */
#ifdef __linux__
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "swarm.h"

#define MOST_SAID_BYTES (1 << 20) /* at one time, beside what is told last; more memory than that is given back */
#define ENDS (EPOLLRDHUP | EPOLLHUP | EPOLLERR)
#define NS_PER_MS 1000000
#define PAUSE_NS 50000 /* while so many sessions have something that a look finds few of them: see `gather` */
#define MANY_A_MS 50

static const char SWARM[] = "streamgauge.swarm";
enum { PLACE, STAMP, RECEIVED, COLUMNS };
static const column_t WANTED[COLUMNS] = {{4, "client"}, {8, "stamp_ns"}, {8, "received_ns"}};

void tell(swarm_t *swarm, session_t *session, int kind, int64_t received_ns, const char *bytes, size_t size)
{
    if (kind == LINE && size > swarm->most_told_bytes)
        size = swarm->most_told_bytes;
    if (swarm->told_count == swarm->told_room) {
        size_t more = swarm->told_room ? 2 * swarm->told_room : 64;
        told_t *moved = realloc(swarm->told, more * sizeof *moved);
        if (!moved) {
            swarm->has_no_memory = 1;
            return;
        }
        swarm->told = moved;
        swarm->told_room = more;
    }
    if (size && !make_room(swarm, &swarm->said, &swarm->said_room, swarm->said_bytes + size))
        return;
    told_t *told = &swarm->told[swarm->told_count++];
    told->place = (int32_t)(session - swarm->sessions);
    told->kind = kind;
    told->received_ns = received_ns;
    told->at = swarm->said_bytes;
    told->size = size;
    if (size)
        memcpy(swarm->said + told->at, bytes, size);
    swarm->said_bytes += size;
}

static void let_go(swarm_t *swarm, session_t *session)
{
    if (session->fd >= 0)
        epoll_ctl(swarm->epoll, EPOLL_CTL_DEL, session->fd, NULL);
    free(session->line);
    free(session->field);
    session->line = session->field = NULL;
    session->line_bytes = session->line_room = session->field_bytes = session->field_room = 0;
    session->fd = -1;
    session->mode = AWAY;
}

void break_off(swarm_t *swarm, session_t *session, const char *why)
{
    tell(swarm, session, BROKEN, 0, why, strlen(why));
    session->mode = AWAY; /* let go where nobody looks into it any more */
}

/* Whether Python has to have its turn before a session is read. */
static int is_full(const swarm_t *swarm, const session_t *session)
{
    return swarm->has_no_memory || swarm->told_count >= MOST_WAITING || swarm->said_bytes > MOST_SAID_BYTES ||
           (session->mode == STAMPING && swarm->most_rows - swarm->rows < ROWS_OF_A_READ);
}

/* One read; whether there may be more. */
static int read_once(swarm_t *swarm, session_t *session, uint32_t events)
{
    ssize_t got = recv(session->fd, swarm->buffer, READ_BYTES, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR)
        return 1;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return 0;
    if (got <= 0) {
        const char *why = got ? strerror(errno) : "";
        tell(swarm, session, END, 0, why, strlen(why));
        let_go(swarm, session);
        return 0;
    }
    int64_t received_ns = session->mode == COUNTING ? 0 : monotonic_ns();
    feed(swarm, session, (const unsigned char *)swarm->buffer, (size_t)got, received_ns);
    if (session->mode == AWAY)
        let_go(swarm, session);
    /* Told of once only: where the end has come, too, nothing will tell of it again. */
    return session->fd >= 0 && (got == READ_BYTES || events & ENDS);
}

/* What epoll has told of; stops, to go on there, when Python has to have its turn. */
static int serve_ready(swarm_t *swarm)
{
    for (; swarm->ready_at < swarm->ready_count; swarm->ready_at++) {
        const struct epoll_event *event = &swarm->ready[swarm->ready_at];
        session_t *session = &swarm->sessions[event->data.u32];
        do {
            if (session->fd < 0)
                break;
            if (is_full(swarm, session))
                return 0;
        } while (read_once(swarm, session, event->events));
    }
    return 1;
}

/* Who sends to thousands sends to one after another, slower than they are read here: a thread that looks at once is put to
 * sleep and woken for nearly each of them, which costs both sides more than the read. So while many come it looks every
 * 50 µs, and finds several; a single one is never waited with. */
static void gather(swarm_t *swarm, int64_t now_ns)
{
    if (now_ns - swarm->counted_since_ns >= NS_PER_MS) {
        swarm->has_many = swarm->counted >= MANY_A_MS && now_ns - swarm->counted_since_ns < 2 * NS_PER_MS;
        swarm->counted_since_ns = now_ns;
        swarm->counted = 0;
    }
    swarm->counted += swarm->ready_count;
    if (swarm->has_many && swarm->ready_count > 0 && swarm->ready_count < MANY_A_MS) {
        struct timespec pause = {0, PAUSE_NS};
        nanosleep(&pause, NULL);
    }
}

static void run(swarm_t *swarm, int64_t until_ns)
{
    for (;;) {
        if (!serve_ready(swarm) || swarm->told_count)
            return;
        int64_t now_ns = monotonic_ns();
        int64_t left_ns = until_ns - now_ns;
        gather(swarm, now_ns);
        int wait_ms = left_ns > 0 ? (int)((left_ns + NS_PER_MS - 1) / NS_PER_MS) : 0;
        int found = epoll_wait(swarm->epoll, swarm->ready, READY, wait_ms);
        swarm->ready_at = swarm->ready_count = 0;
        if (found < 0)
            return; /* a signal: Python's to look at */
        swarm->ready_count = found;
        if (left_ns <= 0) {
            serve_ready(swarm);
            return;
        }
    }
}

static swarm_t *swarm_of(PyObject *capsule)
{
    swarm_t *swarm = PyCapsule_GetPointer(capsule, SWARM);
    if (swarm && swarm->is_busy) {
        PyErr_Format(PyExc_RuntimeError, "somebody else is serving this swarm");
        return NULL;
    }
    if (swarm && swarm->epoll < 0) {
        PyErr_Format(PyExc_RuntimeError, "this swarm is closed");
        return NULL;
    }
    return swarm;
}

static PyObject *all_told(swarm_t *swarm)
{
    PyObject *told = PyTuple_New((Py_ssize_t)swarm->told_count);
    for (size_t i = 0; told && i < swarm->told_count; i++) {
        const told_t *each = &swarm->told[i];
        PyObject *one = Py_BuildValue("(iiLy#)", (int)each->place, (int)each->kind, (long long)each->received_ns,
                                      each->size ? swarm->said + each->at : "", (Py_ssize_t)each->size);
        if (!one)
            Py_CLEAR(told);
        else
            PyTuple_SET_ITEM(told, (Py_ssize_t)i, one);
    }
    swarm->told_count = swarm->said_bytes = 0;
    if (swarm->said_room > MOST_SAID_BYTES) {
        free(swarm->said);
        swarm->said = NULL;
        swarm->said_room = 0;
    }
    return told;
}

/* serve(swarm, until_ns, most_rows, columns) -> (rows, told) */
PyObject *swarm_serve(PyObject *module, PyObject *args)
{
    PyObject *capsule, *columns;
    long long until_ns;
    Py_ssize_t most;
    Py_buffer views[COLUMNS];
    (void)module;
    if (!PyArg_ParseTuple(args, "OLnO", &capsule, &until_ns, &most, &columns))
        return NULL;
    swarm_t *swarm = swarm_of(capsule);
    if (!swarm)
        return NULL;
    if (most < ROWS_OF_A_READ)
        return PyErr_Format(PyExc_ValueError, "room for %zd rows: at least %d", most, ROWS_OF_A_READ);
    if (!get_columns(columns, WANTED, COLUMNS, most, views))
        return NULL;
    swarm->row_place = views[PLACE].buf;
    swarm->row_stamp = views[STAMP].buf;
    swarm->row_received = views[RECEIVED].buf;
    swarm->most_rows = (size_t)most;
    swarm->rows = 0;
    swarm->is_busy = 1;
    Py_BEGIN_ALLOW_THREADS
    run(swarm, until_ns);
    Py_END_ALLOW_THREADS
    swarm->is_busy = 0;
    release_columns(views, COLUMNS);
    size_t rows = swarm->rows;
    swarm->rows = swarm->most_rows = 0;
    if (swarm->has_no_memory)
        return PyErr_NoMemory();
    PyObject *told = all_told(swarm);
    return told ? Py_BuildValue("(nN)", (Py_ssize_t)rows, told) : NULL;
}

static session_t *session_at(swarm_t *swarm, Py_ssize_t place)
{
    if (place < 0 || (size_t)place >= swarm->count) {
        PyErr_Format(PyExc_IndexError, "there is no place %zd in a swarm of %zu", place, swarm->count);
        return NULL;
    }
    return &swarm->sessions[place];
}

/* swarm_add(swarm, place, fd, joined_mode, received): read it from now on; `received`: what came of it before */
PyObject *swarm_add(PyObject *module, PyObject *args)
{
    PyObject *capsule;
    Py_ssize_t place, size;
    int fd, mode;
    const char *received;
    (void)module;
    if (!PyArg_ParseTuple(args, "Oniiy#", &capsule, &place, &fd, &mode, &received, &size))
        return NULL;
    swarm_t *swarm = swarm_of(capsule);
    session_t *session = swarm ? session_at(swarm, place) : NULL;
    if (!session)
        return NULL;
    if (session->fd >= 0 || mode < COUNTING || mode > TELLING)
        return PyErr_Format(PyExc_ValueError, "place %zd is taken, or its mode %d is none", place, mode);
    memset(session, 0, sizeof *session);
    session->fd = -1;
    struct epoll_event wanted = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data.u32 = (uint32_t)place};
    if (epoll_ctl(swarm->epoll, EPOLL_CTL_ADD, fd, &wanted) < 0)
        return PyErr_SetFromErrno(PyExc_OSError);
    session->fd = fd;
    session->mode = JOINING;
    session->joined_mode = (uint8_t)mode;
    /* There is no room for rows now: what would be one is told. */
    feed(swarm, session, (const unsigned char *)received, (size_t)size, monotonic_ns());
    if (session->mode == AWAY)
        let_go(swarm, session);
    Py_RETURN_NONE;
}

/* swarm_drop(swarm, place): before its connection is closed */
PyObject *swarm_drop(PyObject *module, PyObject *args)
{
    PyObject *capsule;
    Py_ssize_t place;
    (void)module;
    if (!PyArg_ParseTuple(args, "On", &capsule, &place))
        return NULL;
    swarm_t *swarm = swarm_of(capsule);
    session_t *session = swarm ? session_at(swarm, place) : NULL;
    if (!session)
        return NULL;
    let_go(swarm, session);
    Py_RETURN_NONE;
}

/* swarm_fd(swarm) -> a file descriptor that is readable when there is something to serve */
PyObject *swarm_fd(PyObject *module, PyObject *args)
{
    PyObject *capsule;
    (void)module;
    if (!PyArg_ParseTuple(args, "O", &capsule))
        return NULL;
    swarm_t *swarm = swarm_of(capsule);
    return swarm ? PyLong_FromLong(swarm->epoll) : NULL;
}

static void close_all(swarm_t *swarm)
{
    for (size_t place = 0; place < swarm->count; place++)
        let_go(swarm, &swarm->sessions[place]);
    if (swarm->epoll >= 0)
        close(swarm->epoll);
    swarm->epoll = -1;
}

/* swarm_close(swarm): read no more; connections stay Python's to close */
PyObject *swarm_close(PyObject *module, PyObject *args)
{
    PyObject *capsule;
    (void)module;
    if (!PyArg_ParseTuple(args, "O", &capsule))
        return NULL;
    swarm_t *swarm = PyCapsule_GetPointer(capsule, SWARM);
    if (!swarm)
        return NULL;
    if (swarm->is_busy)
        return PyErr_Format(PyExc_RuntimeError, "somebody is serving this swarm");
    close_all(swarm);
    Py_RETURN_NONE;
}

static void free_swarm(PyObject *capsule)
{
    swarm_t *swarm = PyCapsule_GetPointer(capsule, SWARM);
    close_all(swarm);
    free(swarm->sessions);
    free(swarm->buffer);
    free(swarm->told);
    free(swarm->said);
    PyBuffer_Release(&swarm->counts_view);
    free(swarm);
}

static const column_t COUNTS[] = {{8, "counts"}};

/* swarm((counts,), count, field, fields, most_message_bytes, most_told_bytes) -> what the others need */
PyObject *swarm_new(PyObject *module, PyObject *args)
{
    PyObject *counts;
    Py_ssize_t count, field, fields;
    unsigned long long most_message_bytes, most_told_bytes;
    (void)module;
    if (!PyArg_ParseTuple(args, "OnnnKK", &counts, &count, &field, &fields, &most_message_bytes, &most_told_bytes))
        return NULL;
    if (count < 1 || count > INT32_MAX || field < 0 || field >= fields)
        return PyErr_Format(PyExc_ValueError, "%zd sessions, field %zd of %zd", count, field, fields);
    swarm_t *swarm = calloc(1, sizeof *swarm);
    if (!swarm)
        return PyErr_NoMemory();
    swarm->epoll = -1;
    if (!get_columns(counts, COUNTS, 1, count, &swarm->counts_view)) {
        free(swarm);
        return NULL;
    }
    PyObject *capsule = PyCapsule_New(swarm, SWARM, free_swarm);
    if (!capsule) {
        PyBuffer_Release(&swarm->counts_view);
        free(swarm);
        return NULL;
    }
    swarm->counts = swarm->counts_view.buf;
    swarm->field = (size_t)field;
    swarm->fields = (size_t)fields;
    swarm->most_message_bytes = most_message_bytes;
    swarm->most_told_bytes = (size_t)most_told_bytes;
    swarm->sessions = calloc((size_t)count, sizeof *swarm->sessions);
    swarm->buffer = malloc(READ_BYTES);
    if (!swarm->sessions || !swarm->buffer) {
        Py_DECREF(capsule);
        return PyErr_NoMemory();
    }
    swarm->count = (size_t)count;
    for (size_t place = 0; place < swarm->count; place++)
        swarm->sessions[place].fd = -1;
    swarm->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (swarm->epoll < 0) {
        Py_DECREF(capsule);
        return PyErr_SetFromErrno(PyExc_OSError);
    }
    return capsule;
}

#endif
