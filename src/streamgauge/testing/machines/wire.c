/* What joins the machines of the test bed: an Ethernet switch whose cables have delay, jitter, loss and a
 * bandwidth, and can be cut.
 *
 *   wire SEED PID...        one process of each machine; makes eth0 there
 *
 * Says "ready", then does as it is told on its standard input, one line an answer, until that ends:
 *   link N DELAY_US JITTER_US LOSS_PPM BYTES_PER_S     what happens to all that machine N sends; 0 bytes: no limit
 *   cut N | heal N                                     nothing comes from or gets to machine N
 *   count N                                            frames sent, lost at random, lost to a cut or a full queue
 *
 * Frames from one machine to another stay in their order, as on a cable: jitter delays, and does not overtake.
 * It is in user space since kernels come without netem; with one frame a system call it carries some
 * 100,000 frames a second. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000LL
#define MOST_MACHINES 64
#define MOST_BYTES 2048
#define MOST_FRAMES 65536 /* under way at once */
#define MOST_QUEUE_NS (200 * 1000000LL) /* a sender's queue holds what its bandwidth carries in this time */
#define AT_ONCE 64

struct frame {
    int64_t due_ns;
    uint64_t number;
    int from, to, size;
    unsigned char bytes[];
};

struct machine {
    int tap, is_cut;
    int64_t delay_ns, jitter_ns, bytes_per_s, free_ns;
    uint32_t loss_ppm;
    int64_t last_due_ns[MOST_MACHINES];
    long long sent, lost, dropped;
};

static struct machine machines[MOST_MACHINES];
static int count;
static struct frame *heap[MOST_FRAMES];
static int waiting;
static uint64_t numbered, seed;

static void fail(const char *what)
{
    fprintf(stderr, "wire: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static uint64_t drawn(void)
{
    seed ^= seed >> 12;
    seed ^= seed << 25;
    seed ^= seed >> 27;
    return seed * 0x2545F4914F6CDD1DULL;
}

static int earlier(const struct frame *a, const struct frame *b)
{
    return a->due_ns < b->due_ns || (a->due_ns == b->due_ns && a->number < b->number);
}

static void swap(int a, int b)
{
    struct frame *kept = heap[a];
    heap[a] = heap[b];
    heap[b] = kept;
}

static void push(struct frame *frame)
{
    int at = waiting++;
    heap[at] = frame;
    for (; at && earlier(heap[at], heap[(at - 1) / 2]); at = (at - 1) / 2)
        swap(at, (at - 1) / 2);
}

static struct frame *pop(void)
{
    struct frame *first = heap[0];
    heap[0] = heap[--waiting];
    for (int at = 0, least;; at = least) {
        least = at;
        for (int child = 2 * at + 1; child <= 2 * at + 2; child++)
            if (child < waiting && earlier(heap[child], heap[least]))
                least = child;
        if (least == at)
            return first;
        swap(at, least);
    }
}

static void send_on(int from, int to, const unsigned char *bytes, int size, int64_t sent_ns)
{
    struct machine *sender = &machines[from];
    if (sender->loss_ppm && drawn() % 1000000 < sender->loss_ppm) {
        sender->lost++;
        return;
    }
    if (waiting == MOST_FRAMES) {
        sender->dropped++;
        return;
    }
    int64_t due_ns = sent_ns + sender->delay_ns;
    if (sender->jitter_ns)
        due_ns += (int64_t)(drawn() % (2 * sender->jitter_ns + 1)) - sender->jitter_ns;
    if (due_ns < sender->last_due_ns[to])
        due_ns = sender->last_due_ns[to];
    sender->last_due_ns[to] = due_ns;
    struct frame *frame = malloc(sizeof *frame + size);
    if (!frame)
        fail("memory");
    *frame = (struct frame){due_ns, numbered++, from, to, size};
    memcpy(frame->bytes, bytes, size);
    push(frame);
}

static void take(int from, const unsigned char *bytes, int size)
{
    struct machine *sender = &machines[from];
    int64_t sent_ns = now_ns();
    sender->sent++;
    if (sender->bytes_per_s) {
        int64_t begins_ns = sender->free_ns > sent_ns ? sender->free_ns : sent_ns;
        if (begins_ns - sent_ns > MOST_QUEUE_NS) {
            sender->dropped++;
            return;
        }
        sent_ns = sender->free_ns = begins_ns + size * NS_PER_S / sender->bytes_per_s;
    }
    if (sender->is_cut) {
        sender->dropped++;
        return;
    }
    if (bytes[0] & 1) { /* for everybody */
        for (int to = 0; to < count; to++)
            if (to != from)
                send_on(from, to, bytes, size, sent_ns);
    } else if (bytes[5] >= 1 && bytes[5] <= count && bytes[5] - 1 != from) {
        send_on(from, bytes[5] - 1, bytes, size, sent_ns);
    }
}

static void deliver(void)
{
    while (waiting && heap[0]->due_ns <= now_ns()) {
        struct frame *frame = pop();
        int is_cut = machines[frame->to].is_cut || machines[frame->from].is_cut;
        if (is_cut || write(machines[frame->to].tap, frame->bytes, frame->size) != frame->size)
            machines[frame->from].dropped++; /* a machine that is switched off has no cable either */
        free(frame);
    }
}

static int plugged_in(const char *pid, int number)
{
    char path[64];
    struct ifreq device = {.ifr_flags = IFF_TAP | IFF_NO_PI};
    snprintf(path, sizeof path, "/proc/%s/ns/net", pid);
    int space = open(path, O_RDONLY | O_CLOEXEC);
    if (space < 0 || setns(space, CLONE_NEWNET))
        fail(path);
    close(space);
    int tap = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (tap < 0)
        fail("/dev/net/tun");
    strcpy(device.ifr_name, "eth0");
    if (ioctl(tap, TUNSETIFF, &device))
        fail("eth0");
    const unsigned char address[] = {0x02, 's', 'g', 0, 0, (unsigned char)number};
    memset(&device, 0, sizeof device);
    strcpy(device.ifr_name, "eth0");
    device.ifr_hwaddr.sa_family = ARPHRD_ETHER;
    memcpy(device.ifr_hwaddr.sa_data, address, sizeof address);
    if (ioctl(tap, SIOCSIFHWADDR, &device))
        fail("the address of eth0");
    return tap;
}

static void obey(const char *line)
{
    long long number, delay_us, jitter_us, loss_ppm, bytes_per_s;
    char word[8];
    if (sscanf(line, "%7s %lld", word, &number) != 2 || number < 0 || number >= count) {
        printf("not understood: %s\n", line);
        return;
    }
    struct machine *machine = &machines[number];
    const char *form = "%*s %*d %lld %lld %lld %lld";
    if (!strcmp(word, "cut") || !strcmp(word, "heal")) {
        machine->is_cut = word[0] == 'c';
        printf("ok\n");
    } else if (!strcmp(word, "count")) {
        printf("%lld %lld %lld\n", machine->sent, machine->lost, machine->dropped);
    } else if (!strcmp(word, "link") &&
               sscanf(line, form, &delay_us, &jitter_us, &loss_ppm, &bytes_per_s) == 4) {
        machine->delay_ns = delay_us * 1000;
        machine->jitter_ns = jitter_us * 1000;
        machine->loss_ppm = (uint32_t)loss_ppm;
        machine->bytes_per_s = bytes_per_s;
        printf("ok\n");
    } else {
        printf("not understood: %s\n", line);
    }
}

static int has_heard(void)
{
    static char said[4096];
    static int length;
    ssize_t more = read(0, said + length, sizeof said - 1 - length);
    if (more == 0 || (more < 0 && errno != EAGAIN && errno != EINTR))
        return 0;
    length += more > 0 ? (int)more : 0;
    said[length] = 0;
    char *line = said, *end;
    for (; (end = strchr(line, '\n')); line = end + 1) {
        *end = 0;
        obey(line);
    }
    length = (int)strlen(line);
    memmove(said, line, length + 1);
    fflush(stdout);
    return length < (int)sizeof said - 1;
}

static void listen_to(int from)
{
    unsigned char bytes[MOST_BYTES];
    for (int i = 0; i < AT_ONCE; i++) {
        ssize_t size = read(machines[from].tap, bytes, sizeof bytes);
        if (size < 14)
            return;
        take(from, bytes, (int)size);
    }
}

int main(int words, char **said)
{
    struct pollfd looked[MOST_MACHINES + 1] = {{.fd = 0, .events = POLLIN}};
    if (words < 3 || words - 2 > MOST_MACHINES) {
        fprintf(stderr, "wire SEED PID...: 1 to %d machines\n", MOST_MACHINES);
        return 2;
    }
    seed = strtoull(said[1], NULL, 10) * 2 + 1;
    count = words - 2;
    for (int i = 0; i < count; i++) {
        machines[i].tap = plugged_in(said[i + 2], i + 1);
        looked[i + 1] = (struct pollfd){.fd = machines[i].tap, .events = POLLIN};
    }
    prctl(PR_SET_TIMERSLACK, 1);
    setpriority(PRIO_PROCESS, 0, -15); /* what it adds to the delays it was asked for is to be small */
    puts("ready");
    fflush(stdout);
    for (;;) {
        int64_t wait_ns = waiting ? heap[0]->due_ns - now_ns() : NS_PER_S;
        if (wait_ns < 0)
            wait_ns = 0;
        struct timespec wait = {wait_ns / NS_PER_S, wait_ns % NS_PER_S};
        if (ppoll(looked, count + 1, &wait, NULL) < 0 && errno != EINTR)
            fail("poll");
        if (looked[0].revents && !has_heard())
            return 0;
        for (int i = 0; i < count; i++) {
            if (looked[i + 1].revents & POLLIN)
                listen_to(i);
            if (looked[i + 1].revents & (POLLERR | POLLHUP))
                looked[i + 1].fd = -1; /* the machine is switched off */
        }
        deliver();
    }
}
