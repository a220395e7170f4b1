/* Thousands of sockets read by epoll, or by io_uring: which costs less?
 *
 *   readers epoll|ring SESSIONS BYTES DELIVERIES_PER_S SECONDS
 *
 * A process of its own sends BYTES to each of SESSIONS in turn, at that pace. The reader looks for line ends in what
 * comes and counts; while many come it looks every 50 µs, as the swarm's reader does. Both ways end by printing
 *
 *   deliveries reader_us_per_delivery sender_us_per_delivery
 *
 * io_uring: one multishot receive a socket, buffers from a ring the kernel picks from, one thread that submits.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BUFFER_BYTES 4096
#define BUFFERS 8192 /* a power of two */
#define COMPLETIONS 32768
#define MANY 50
#define GROUP 7

typedef struct {
    volatile int is_over;
    volatile double sender_us;
} shared_t;

static uint64_t bytes_read, lines_read;

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double cpu_us(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e6 +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static void take(const char *data, size_t length)
{
    bytes_read += length;
    for (const char *end = data + length; (data = memchr(data, '\n', (size_t)(end - data))); data++)
        lines_read++;
}

static void rest(void)
{
    struct timespec some = {0, 50000};
    nanosleep(&some, NULL);
}

/* ---- who sends ---- */

static void send_all(int listening, int sessions, int bytes, double per_s, shared_t *shared)
{
    int *sockets = calloc((size_t)sessions, sizeof *sockets), on = 1;
    char *frame = malloc((size_t)bytes);
    memset(frame, 'x', (size_t)bytes);
    frame[bytes - 1] = '\n';
    for (int i = 0; i < sessions; i++) {
        if ((sockets[i] = accept(listening, NULL, NULL)) < 0)
            die("accept");
        setsockopt(sockets[i], IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    double period_s = sessions / per_s, due_s = now_s() + 0.2, before_us = cpu_us();
    while (!shared->is_over) {
        while (now_s() < due_s)
            usleep(200);
        for (int i = 0; i < sessions && !shared->is_over; i++)
            if (send(sockets[i], frame, (size_t)bytes, MSG_NOSIGNAL) != bytes)
                break; /* the reader has gone */
        due_s += period_s;
        shared->sender_us = cpu_us() - before_us;
    }
    _exit(0);
}

/* ---- by epoll ---- */

static void read_by_epoll(int *sockets, int sessions, double end_s)
{
    static char buffer[1 << 16];
    static struct epoll_event ready[1024];
    int poll = epoll_create1(0);
    for (int i = 0; i < sessions; i++) {
        struct epoll_event wanted = {.events = EPOLLIN | EPOLLET, .data.fd = sockets[i]};
        if (epoll_ctl(poll, EPOLL_CTL_ADD, sockets[i], &wanted) < 0)
            die("epoll_ctl");
    }
    while (now_s() < end_s) {
        int count = epoll_wait(poll, ready, 1024, 100);
        for (int i = 0; i < count; i++)
            for (;;) {
                ssize_t got = recv(ready[i].data.fd, buffer, sizeof buffer, MSG_DONTWAIT);
                if (got > 0)
                    take(buffer, (size_t)got);
                if (got < (ssize_t)sizeof buffer)
                    break; /* edge-triggered: what comes later is told anew */
            }
        if (count > 0 && count < MANY)
            rest();
    }
}

/* ---- by io_uring ---- */

typedef struct {
    int fd;
    unsigned *sq_tail, *sq_mask, *cq_head, *cq_tail, *cq_mask, *sq_array;
    struct io_uring_sqe *sqes;
    struct io_uring_cqe *cqes;
    unsigned to_submit;
} ring_t;

static ring_t make_ring(void)
{
    struct io_uring_params p = {.flags = IORING_SETUP_CQSIZE | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,
                                .cq_entries = COMPLETIONS};
    ring_t ring = {.fd = (int)syscall(SYS_io_uring_setup, 1024, &p)};
    if (ring.fd < 0)
        die("io_uring_setup");
    size_t sq_bytes = p.sq_off.array + p.sq_entries * sizeof(unsigned);
    size_t cq_bytes = p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe);
    size_t bytes = sq_bytes > cq_bytes ? sq_bytes : cq_bytes;
    char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring.fd, IORING_OFF_SQ_RING);
    ring.sqes = mmap(NULL, p.sq_entries * sizeof(struct io_uring_sqe), PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_POPULATE, ring.fd, IORING_OFF_SQES);
    if (at == MAP_FAILED || ring.sqes == MAP_FAILED)
        die("mmap");
    ring.sq_tail = (unsigned *)(at + p.sq_off.tail);
    ring.sq_mask = (unsigned *)(at + p.sq_off.ring_mask);
    ring.sq_array = (unsigned *)(at + p.sq_off.array);
    ring.cq_head = (unsigned *)(at + p.cq_off.head);
    ring.cq_tail = (unsigned *)(at + p.cq_off.tail);
    ring.cq_mask = (unsigned *)(at + p.cq_off.ring_mask);
    ring.cqes = (struct io_uring_cqe *)(at + p.cq_off.cqes);
    return ring;
}

static void enter(ring_t *ring, unsigned at_least)
{
    struct __kernel_timespec most = {.tv_nsec = 100000000};
    struct io_uring_getevents_arg wait = {.ts = (uint64_t)(uintptr_t)&most};
    long done = syscall(SYS_io_uring_enter, ring->fd, ring->to_submit, at_least,
                        IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, &wait, sizeof wait);
    if (done < 0 && errno != ETIME && errno != EINTR)
        die("io_uring_enter");
    if (done > 0)
        ring->to_submit -= (unsigned)done;
}

static void receive_on(ring_t *ring, int *sockets, int session)
{
    if (ring->to_submit == 1024)
        enter(ring, 0);
    unsigned tail = *ring->sq_tail, place = tail & *ring->sq_mask;
    struct io_uring_sqe *sqe = &ring->sqes[place];
    memset(sqe, 0, sizeof *sqe);
    sqe->opcode = IORING_OP_RECV;
    sqe->fd = sockets[session];
    sqe->ioprio = IORING_RECV_MULTISHOT;
    sqe->flags = IOSQE_BUFFER_SELECT;
    sqe->buf_group = GROUP;
    sqe->user_data = (uint64_t)session;
    ring->sq_array[place] = place;
    __atomic_store_n(ring->sq_tail, tail + 1, __ATOMIC_RELEASE);
    ring->to_submit++;
}

static void read_by_ring(int *sockets, int sessions, double end_s)
{
    ring_t ring = make_ring();
    struct io_uring_buf_ring *given = mmap(NULL, BUFFERS * sizeof(struct io_uring_buf), PROT_READ | PROT_WRITE,
                                           MAP_ANONYMOUS | MAP_PRIVATE, -1, 0);
    char *buffers = malloc((size_t)BUFFERS * BUFFER_BYTES);
    struct io_uring_buf_reg told = {
        .ring_addr = (uint64_t)(uintptr_t)given, .ring_entries = BUFFERS, .bgid = GROUP};
    if (syscall(SYS_io_uring_register, ring.fd, IORING_REGISTER_PBUF_RING, &told, 1) < 0)
        die("io_uring_register");
    uint16_t tail = 0;
    for (int i = 0; i < BUFFERS; i++, tail++)
        given->bufs[tail & (BUFFERS - 1)] = (struct io_uring_buf){
            .addr = (uint64_t)(uintptr_t)(buffers + (size_t)i * BUFFER_BYTES), .len = BUFFER_BYTES, .bid = (uint16_t)i};
    __atomic_store_n(&given->tail, tail, __ATOMIC_RELEASE);
    for (int i = 0; i < sessions; i++)
        receive_on(&ring, sockets, i);
    while (now_s() < end_s) {
        enter(&ring, 1);
        unsigned head = *ring.cq_head, end = __atomic_load_n(ring.cq_tail, __ATOMIC_ACQUIRE), count = end - head;
        for (; head != end; head++) {
            struct io_uring_cqe *cqe = &ring.cqes[head & *ring.cq_mask];
            if (cqe->res > 0 && (cqe->flags & IORING_CQE_F_BUFFER)) {
                unsigned id = cqe->flags >> IORING_CQE_BUFFER_SHIFT;
                char *data = buffers + (size_t)id * BUFFER_BYTES;
                take(data, (size_t)cqe->res);
                given->bufs[tail & (BUFFERS - 1)] = (struct io_uring_buf){
                    .addr = (uint64_t)(uintptr_t)data, .len = BUFFER_BYTES, .bid = (uint16_t)id};
                __atomic_store_n(&given->tail, ++tail, __ATOMIC_RELEASE);
            } else if (cqe->res < 0 && cqe->res != -ENOBUFS) {
                errno = -cqe->res;
                die("receive");
            }
            if (!(cqe->flags & IORING_CQE_F_MORE) && cqe->res != 0)
                receive_on(&ring, sockets, (int)cqe->user_data);
        }
        __atomic_store_n(ring.cq_head, end, __ATOMIC_RELEASE);
        if (count && count < MANY)
            rest();
    }
}

int main(int argc, char **argv)
{
    if (argc != 6 || (strcmp(argv[1], "epoll") && strcmp(argv[1], "ring"))) {
        fprintf(stderr, "usage: readers epoll|ring SESSIONS BYTES DELIVERIES_PER_S SECONDS\n");
        return 2;
    }
    int sessions = atoi(argv[2]), bytes = atoi(argv[3]);
    double per_s = atof(argv[4]), seconds = atof(argv[5]);
    struct rlimit files = {(rlim_t)sessions + 100, (rlim_t)sessions + 100}, now;
    getrlimit(RLIMIT_NOFILE, &now);
    if (now.rlim_cur < files.rlim_cur && setrlimit(RLIMIT_NOFILE, &files) < 0)
        die("setrlimit");
    shared_t *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof here;
    int listening = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listening, (struct sockaddr *)&here, length) < 0 || listen(listening, 4096) < 0)
        die("listen");
    getsockname(listening, (struct sockaddr *)&here, &length);
    pid_t sender = fork();
    if (sender < 0)
        die("fork");
    if (!sender)
        send_all(listening, sessions, bytes, per_s, shared);
    int *sockets = calloc((size_t)sessions, sizeof *sockets);
    for (int i = 0; i < sessions; i++) {
        sockets[i] = socket(AF_INET, SOCK_STREAM, 0);
        if (sockets[i] < 0 || connect(sockets[i], (struct sockaddr *)&here, sizeof here) < 0)
            die("connect");
    }
    double before_us = cpu_us(), end_s = now_s() + seconds;
    (strcmp(argv[1], "ring") ? read_by_epoll : read_by_ring)(sockets, sessions, end_s);
    double used_us = cpu_us() - before_us, sender_us = shared->sender_us;
    shared->is_over = 1;
    for (int i = 0; i < sessions; i++)
        close(sockets[i]); /* a sender that waits for room is told */
    waitpid(sender, NULL, 0);
    double deliveries = (double)bytes_read / bytes;
    if (lines_read < 1 || deliveries < 1) {
        fprintf(stderr, "nothing came\n");
        return 1;
    }
    printf("%.0f %.3f %.3f\n", deliveries, used_us / deliveries, sender_us / deliveries);
    return 0;
}
