/* The disk of a member of a system, for whatever is linked with libc: by LD_PRELOAD.
 *
 * What the member writes below STREAMGAUGE_DISK_FOLDER is refused as by a full disk, or takes longer, while the file
 * that STREAMGAUGE_DISK_STATE names says so. That is mapped: whoever changes it is heard at the next write, and reads
 * there how many were hit. While nothing is wrong with the disk, a write costs two loads more. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000LL

/* As systems/disks.py has it. */
struct state {
    _Atomic int64_t is_full;
    _Atomic int64_t write_delay_ns;
    _Atomic int64_t sync_delay_ns;
    _Atomic uint64_t refused_count;
    _Atomic uint64_t delayed_count;
};

static struct state *state;
static char folder[PATH_MAX]; /* with a slash at its end */
static size_t folder_length;

#define THE_REAL(name)                                                                                                 \
    ({                                                                                                                 \
        static _Atomic(__typeof__(&name)) found;                                                                       \
        if (!found)                                                                                                    \
            found = (__typeof__(&name))dlsym(RTLD_NEXT, #name);                                                        \
        found;                                                                                                         \
    })

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("STREAMGAUGE_DISK_STATE"), *below = getenv("STREAMGAUGE_DISK_FOLDER");
    int file = path && below ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0)
        return;
    folder_length = (size_t)snprintf(folder, sizeof folder, "%s/", below);
    void *found = mmap(NULL, sizeof(struct state), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (found != MAP_FAILED && folder_length < sizeof folder)
        state = found;
}

/* Sockets and logs go through the same functions. Asked only while something is wrong with the disk. */
static int is_on_disk(int file)
{
    char link[32], path[PATH_MAX];
    int before = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path);
    errno = before;
    return length > (ssize_t)folder_length && !memcmp(path, folder, folder_length);
}

static void wait_for(int64_t delay_ns)
{
    struct timespec left = {delay_ns / NS_PER_S, delay_ns % NS_PER_S};
    int before = errno;
    while (nanosleep(&left, &left) && errno == EINTR)
        ;
    errno = before;
    atomic_fetch_add(&state->delayed_count, 1);
}

/* Whether there is no room for it; else it has waited as long as it takes. */
static int is_refused(int file)
{
    if (!state)
        return 0;
    int64_t is_full = atomic_load_explicit(&state->is_full, memory_order_relaxed);
    int64_t delay_ns = atomic_load_explicit(&state->write_delay_ns, memory_order_relaxed);
    if ((!is_full && !delay_ns) || !is_on_disk(file))
        return 0;
    if (delay_ns)
        wait_for(delay_ns);
    if (!is_full)
        return 0;
    atomic_fetch_add(&state->refused_count, 1);
    return 1;
}

static void before_sync(int file)
{
    int64_t delay_ns = state ? atomic_load_explicit(&state->sync_delay_ns, memory_order_relaxed) : 0;
    if (delay_ns && is_on_disk(file))
        wait_for(delay_ns);
}

#define WRITES(name, parameters, ...)                                                                                  \
    ssize_t name parameters                                                                                            \
    {                                                                                                                  \
        if (is_refused(file)) {                                                                                        \
            errno = ENOSPC;                                                                                            \
            return -1;                                                                                                 \
        }                                                                                                              \
        return THE_REAL(name)(__VA_ARGS__);                                                                            \
    }

WRITES(write, (int file, const void *data, size_t size), file, data, size)
WRITES(pwrite, (int file, const void *data, size_t size, off_t at), file, data, size, at)
WRITES(pwrite64, (int file, const void *data, size_t size, off64_t at), file, data, size, at)
WRITES(writev, (int file, const struct iovec *parts, int count), file, parts, count)
WRITES(pwritev, (int file, const struct iovec *parts, int count, off_t at), file, parts, count, at)
WRITES(pwritev64, (int file, const struct iovec *parts, int count, off64_t at), file, parts, count, at)
WRITES(pwritev2, (int file, const struct iovec *parts, int count, off_t at, int flags), file, parts, count, at, flags)
WRITES(pwritev64v2, (int file, const struct iovec *parts, int count, off64_t at, int flags), file, parts, count, at,
       flags)

int fsync(int file)
{
    before_sync(file);
    return THE_REAL(fsync)(file);
}

int fdatasync(int file)
{
    before_sync(file);
    return THE_REAL(fdatasync)(file);
}
