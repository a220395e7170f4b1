/* The clock of a machine of the test bed, for whatever is linked with libc: by LD_PRELOAD.
 *
 * A time namespace shifts the monotonic clock by a constant; no kernel gives a machine a wall clock or a drift of
 * its own. So these are added here, by the law in the file that STREAMGAUGE_MACHINE_CLOCK names, which may
 * change at any moment (a clock that jumps). Who waits until a time waits until that time of this clock. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000LL
#define COND_IS_MONOTONIC 2u /* glibc since 2.25: a flag in the condition variable itself */

struct law {
    int64_t since_ns; /* by the kernel's monotonic clock, as this machine has it */
    int64_t drift_ppb;
    int64_t monotonic_shift_ns;
    int64_t wall_shift_ns;
};

static const struct law true_clock;
static const volatile struct law *law = &true_clock;
static int (*kernel_clock)(clockid_t, struct timespec *);

#define THE_REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("STREAMGAUGE_MACHINE_CLOCK");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file >= 0) {
        void *found = mmap(NULL, sizeof(struct law), PROT_READ, MAP_SHARED, file, 0);
        if (found != MAP_FAILED)
            law = found;
        close(file);
    }
    kernel_clock = THE_REAL(clock_gettime);
}

static int64_t kernel_ns(clockid_t clock)
{
    struct timespec now;
    if (!kernel_clock)
        kernel_clock = THE_REAL(clock_gettime);
    kernel_clock(clock, &now);
    return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static int64_t added_ns(clockid_t clock, int64_t monotonic_ns)
{
    int64_t drift_ns = (int64_t)((__int128)(monotonic_ns - law->since_ns) * law->drift_ppb / NS_PER_S);
    switch (clock) {
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_BOOTTIME:
        return drift_ns + law->monotonic_shift_ns;
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_TAI:
        return drift_ns + law->wall_shift_ns;
    default:
        return 0; /* CPU time and the like */
    }
}

static struct timespec as_timespec(int64_t ns)
{
    struct timespec at = {ns / NS_PER_S, ns % NS_PER_S};
    if (at.tv_nsec < 0) {
        at.tv_sec -= 1;
        at.tv_nsec += NS_PER_S;
    }
    return at;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    if (!kernel_clock)
        kernel_clock = THE_REAL(clock_gettime);
    int failed = kernel_clock(clock, now);
    if (failed)
        return failed;
    int64_t kernel = now->tv_sec * NS_PER_S + now->tv_nsec;
    int is_monotonic = clock == CLOCK_MONOTONIC;
    int64_t added = added_ns(clock, is_monotonic ? kernel : kernel_ns(CLOCK_MONOTONIC));
    if (added)
        *now = as_timespec(kernel + added);
    return 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    struct timespec at;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &at);
    now->tv_sec = at.tv_sec;
    now->tv_usec = at.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *now)
{
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    if (now)
        *now = at.tv_sec;
    return at.tv_sec;
}

int timespec_get(struct timespec *now, int base)
{
    return base == TIME_UTC && !clock_gettime(CLOCK_REALTIME, now) ? base : 0;
}

/* A time of this clock, as the kernel has to be told it. */
static struct timespec for_kernel(clockid_t clock, const struct timespec *until)
{
    int64_t shown = until->tv_sec * NS_PER_S + until->tv_nsec;
    return as_timespec(shown - added_ns(clock, kernel_ns(CLOCK_MONOTONIC)));
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *until, struct timespec *left)
{
    struct timespec at = flags & TIMER_ABSTIME ? for_kernel(clock, until) : *until;
    return THE_REAL(clock_nanosleep)(clock, flags, &at, left);
}

int pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock,
                           const struct timespec *until)
{
    struct timespec at = for_kernel(clock, until);
    return THE_REAL(pthread_cond_clockwait)(cond, mutex, clock, &at);
}

int pthread_cond_timedwait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict until)
{
    clockid_t clock = cond->__data.__wrefs & COND_IS_MONOTONIC ? CLOCK_MONOTONIC : CLOCK_REALTIME;
    return pthread_cond_clockwait(cond, mutex, clock, until);
}

int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *until)
{
    struct timespec at = for_kernel(clock, until);
    return THE_REAL(sem_clockwait)(semaphore, clock, &at);
}

int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict until)
{
    return sem_clockwait(semaphore, CLOCK_REALTIME, until);
}

int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until)
{
    struct timespec at = for_kernel(clock, until);
    return THE_REAL(pthread_mutex_clocklock)(mutex, clock, &at);
}

int pthread_mutex_timedlock(pthread_mutex_t *restrict mutex, const struct timespec *restrict until)
{
    return pthread_mutex_clocklock(mutex, CLOCK_REALTIME, until);
}

int timerfd_settime(int timer, int flags, const struct itimerspec *when, struct itimerspec *before)
{
    struct itimerspec at = *when;
    int is_set = at.it_value.tv_sec || at.it_value.tv_nsec;
    if (flags & TFD_TIMER_ABSTIME && is_set) /* of a wall clock's timers nobody here makes use */
        at.it_value = for_kernel(CLOCK_MONOTONIC, &at.it_value);
    return THE_REAL(timerfd_settime)(timer, flags, &at, before);
}
