/* What the machine itself does to whoever waits for a time: a thread that sleeps until the next is due, and does
 * nothing else but to write down how late it woke. It stands beside a load whose messages are due as often or more.
 * It has no twin: what an interpreter adds is what it is to be told apart from.
 */
#include "loops.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#define MOST_ROOM (1 << 24)

typedef struct {
    pthread_t thread;
    pid_t owner_pid;
    int is_running;
    int64_t start_ns, period_ns;
    size_t room;
    int64_t *late_ns; /* of due time k at k modulo room: the newest are kept */
    atomic_size_t count;
    atomic_int is_over;
} pacer_t;

static const char PACER[] = "streamgauge.pacer";

static void sleep_until(int64_t due_ns)
{
#ifdef __linux__
    struct timespec due = {due_ns / 1000000000, due_ns % 1000000000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
#else
    int64_t left_ns = due_ns - monotonic_ns();
    struct timespec left = {left_ns / 1000000000, left_ns % 1000000000};
    if (left_ns > 0)
        nanosleep(&left, NULL);
#endif
}

static void *pace(void *given)
{
    pacer_t *pacer = given;
#ifdef __linux__
    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0); /* as the loops have it */
#endif
    while (!atomic_load(&pacer->is_over)) {
        size_t count = atomic_load(&pacer->count);
        int64_t due_ns = pacer->start_ns + (int64_t)count * pacer->period_ns, now_ns = monotonic_ns();
        if (now_ns < due_ns) {
            sleep_until(due_ns);
            continue;
        }
        pacer->late_ns[count % pacer->room] = now_ns - due_ns;
        atomic_store(&pacer->count, count + 1);
    }
    return NULL;
}

static void end(pacer_t *pacer)
{
    if (!pacer->is_running)
        return;
    pacer->is_running = 0;
    if (pacer->owner_pid != getpid())
        return; /* after a fork there is no such thread */
    atomic_store(&pacer->is_over, 1);
    Py_BEGIN_ALLOW_THREADS /* it wakes when its next is due */
    pthread_join(pacer->thread, NULL);
    Py_END_ALLOW_THREADS
}

static void free_pacer(PyObject *capsule)
{
    pacer_t *pacer = PyCapsule_GetPointer(capsule, PACER);
    if (!pacer)
        return;
    end(pacer);
    free(pacer->late_ns);
    free(pacer);
}

/* pacer(rate_per_s, room) -> one that runs; the newest `room` delays are kept */
PyObject *pacer_new(PyObject *module, PyObject *args)
{
    double rate_per_s;
    Py_ssize_t room;
    (void)module;
    if (!PyArg_ParseTuple(args, "dn", &rate_per_s, &room))
        return NULL;
    if (!(rate_per_s >= 1 && rate_per_s <= 1e6) || room < 1 || room > MOST_ROOM)
        return PyErr_Format(PyExc_ValueError, "a rate between 1 and 1,000,000 a second, and room for 1 to %d", MOST_ROOM);
    pacer_t *pacer = calloc(1, sizeof *pacer);
    if (!pacer || !(pacer->late_ns = calloc((size_t)room, sizeof(int64_t)))) {
        free(pacer);
        return PyErr_NoMemory();
    }
    pacer->room = (size_t)room;
    pacer->period_ns = (int64_t)(1e9 / rate_per_s);
    pacer->start_ns = monotonic_ns() + pacer->period_ns;
    pacer->owner_pid = getpid();
    sigset_t all, before;
    sigfillset(&all); /* signals are for Python's threads */
    pthread_sigmask(SIG_BLOCK, &all, &before);
    int failed = pthread_create(&pacer->thread, NULL, pace, pacer);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pacer->is_running = !failed;
    PyObject *capsule = failed ? NULL : PyCapsule_New(pacer, PACER, free_pacer);
    if (!capsule) {
        end(pacer);
        free(pacer->late_ns);
        free(pacer);
        return failed ? PyErr_Format(PyExc_RuntimeError, "no thread could be started: %d", failed) : NULL;
    }
    return capsule;
}

/* pacer_stop(pacer) -> (when the first kept was due, ns between two, how late each was as int64s) */
PyObject *pacer_stop(PyObject *module, PyObject *args)
{
    PyObject *capsule;
    (void)module;
    if (!PyArg_ParseTuple(args, "O", &capsule))
        return NULL;
    pacer_t *pacer = PyCapsule_GetPointer(capsule, PACER);
    if (!pacer)
        return NULL;
    end(pacer);
    size_t count = atomic_load(&pacer->count), kept = count < pacer->room ? count : pacer->room;
    PyObject *late = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(kept * sizeof(int64_t)));
    if (!late)
        return NULL;
    int64_t *to = (int64_t *)PyBytes_AS_STRING(late);
    for (size_t i = 0; i < kept; i++)
        to[i] = pacer->late_ns[(count - kept + i) % pacer->room];
    int64_t first_ns = pacer->start_ns + (int64_t)(count - kept) * pacer->period_ns;
    return Py_BuildValue("(LLN)", (long long)first_ns, (long long)pacer->period_ns, late);
}
