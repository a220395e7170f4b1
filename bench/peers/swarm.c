/* Many WebSocket clients in one process, for measuring servers that push the same message to all.
 *
 *   swarm PORT SESSIONS PROTOCOL STALLED ITEMS  PROTOCOL: tlcp, centrifuge or bare
 *
 * A message carries "@<10 digits: number>,<19 digits: when it was due, CLOCK_MONOTONIC ns>@". Frames are not
 * parsed: that mark is looked for in the bytes, so a message costs the same whatever protocol brings it.
 * Says "connected N" when all sessions are subscribed. Then reads lines "measure BEGIN_NS END_NS" and answers
 * each, after END_NS and a pause for stragglers, with one line of JSON. Ends with its input.
 * The first STALLED sessions subscribe and then never read. Sessions follow one of ITEMS items, in turns; each item
 * numbers its messages.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MARK_BYTES 32 /* @ 10 , 19 @ */
#define IN_FLIGHT 256
#define STRAGGLERS_NS 1500000000LL
#define SUB_BUCKETS 64
#define BUCKETS (64 * SUB_BUCKETS)

struct session {
  int fd;
  int state; /* 0 connecting, 1 upgrading, 2 joined */
  int stalled;
  int carried;
  int64_t next;     /* number of the next message expected; -1 before the first */
  int64_t received; /* in the time measured */
  char carry[MARK_BYTES];
};

static struct session *sessions;
static int count, stalled_count, connected, open_count, port, epoll, items;
static const char *protocol;
static int64_t begin_ns, end_ns, deliveries, lost, repeated, latency_sum_ns, latency_max_ns, bytes, closed;
static int64_t histogram[BUCKETS];
static char buffer[1 << 20];

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static void send_text(int fd, const char *text) {
  size_t size = strlen(text);
  unsigned char frame[1024];
  size_t head = 2;
  frame[0] = 0x81;
  if (size < 126) {
    frame[1] = 0x80 | size;
  } else {
    frame[1] = 0x80 | 126;
    frame[2] = size >> 8;
    frame[3] = size & 255;
    head = 4;
  }
  memset(frame + head, 0, 4); /* a mask of zeros */
  memcpy(frame + head + 4, text, size);
  if (write(fd, frame, head + 4 + size) < 0) fail("write");
}

static void start_session(struct session *s) {
  struct sockaddr_in from = {.sin_family = AF_INET}, to = {.sin_family = AF_INET, .sin_port = htons(port)};
  int one = 1;
  s->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  if (s->fd < 0) fail("socket");
  setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  /* Who is to stall must not hide it for long in buffers of this side. */
  int few = 4096;
  if (s->stalled) setsockopt(s->fd, SOL_SOCKET, SO_RCVBUF, &few, sizeof few);
  /* Source addresses 127.0.0.1, .2 …: one has ports for 28,000 connections. */
  setsockopt(s->fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof one);
  from.sin_addr.s_addr = htonl(INADDR_LOOPBACK + (s - sessions) / 20000);
  if (bind(s->fd, (struct sockaddr *)&from, sizeof from) < 0) fail("bind");
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(s->fd, (struct sockaddr *)&to, sizeof to) < 0 && errno != EINPROGRESS) fail("connect");
  struct epoll_event e = {.events = EPOLLIN | EPOLLOUT, .data.ptr = s};
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, s->fd, &e) < 0) fail("epoll_ctl");
  s->next = -1;
}

static void upgrade(struct session *s) {
  char request[600];
  const char *path = strcmp(protocol, "centrifuge") ? "/lightstreamer" : "/connection/websocket";
  const char *sub = strcmp(protocol, "tlcp") ? "" : "Sec-WebSocket-Protocol: TLCP-2.5.0.lightstreamer.com\r\n";
  int size = snprintf(request, sizeof request,
                      "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n%s\r\n",
                      path, port, sub);
  if (write(s->fd, request, size) != size) fail("write");
  struct epoll_event e = {.events = EPOLLIN, .data.ptr = s};
  epoll_ctl(epoll, EPOLL_CTL_MOD, s->fd, &e);
  s->state = 1;
}

static void join(struct session *s) {
  if (!strcmp(protocol, "tlcp")) {
    send_text(s->fd, "wsok");
    send_text(s->fd, "create_session\r\nLS_adapter_set=BENCH&LS_cid=mgQkwtwdysogQz2BJ4Ji%20kOj2Bg&LS_send_sync=false");
    char control[300];
    snprintf(control, sizeof control,
             "control\r\nLS_reqId=1&LS_op=add&LS_subId=1&LS_group=bench%d&LS_schema=message&LS_mode=MERGE"
             "&LS_snapshot=false&LS_requested_max_frequency=unfiltered&LS_ack=false",
             (int)((s - sessions) % items));
    send_text(s->fd, control);
  } else if (!strcmp(protocol, "centrifuge")) {
    send_text(s->fd, "{\"id\":1,\"connect\":{}}\n{\"id\":2,\"subscribe\":{\"channel\":\"bench\"}}");
  } else {
    connected++;
  }
  s->state = 2;
}

static int is_mark(const char *p) {
  if (p[0] != '@' || p[11] != ',' || p[31] != '@') return 0;
  for (int i = 1; i < 31; i++)
    if (i != 11 && (p[i] < '0' || p[i] > '9')) return 0;
  return 1;
}

static int64_t number_at(const char *p, int digits) {
  int64_t n = 0;
  while (digits--) n = n * 10 + (*p++ - '0');
  return n;
}

static void take_message(struct session *s, const char *mark, int64_t now) {
  int64_t number = number_at(mark + 1, 10), due_ns = number_at(mark + 12, 19);
  if (due_ns >= begin_ns && due_ns < end_ns) {
    int64_t latency = now - due_ns;
    if (latency < 0) latency = 0;
    deliveries++;
    s->received++;
    latency_sum_ns += latency;
    if (latency > latency_max_ns) latency_max_ns = latency;
    uint64_t us = latency / 1000 + 1;
    int log = 63 - __builtin_clzll(us);
    int sub = log >= 6 ? (us >> (log - 6)) & (SUB_BUCKETS - 1) : 0;
    histogram[log * SUB_BUCKETS + sub]++;
  }
  if (s->next >= 0 && number != s->next) {
    if (number > s->next) lost += number - s->next;
    else repeated++;
  }
  if (number >= s->next) s->next = number + 1;
}

/* Look for marks; the bytes of one that is not whole yet are carried over to the next read. */
static void scan(struct session *s, char *from, size_t size, int64_t now) {
  char *p = from, *end = from + size;
  while (p < end && (p = memchr(p, '@', end - p))) {
    if (end - p < MARK_BYTES) {
      s->carried = end - p;
      memcpy(s->carry, p, s->carried);
      return;
    }
    if (is_mark(p)) {
      take_message(s, p, now);
      p += MARK_BYTES;
    } else {
      p++;
    }
  }
  s->carried = 0;
}

static void subscribed(struct session *s) {
  connected++;
  if (s->stalled) epoll_ctl(epoll, EPOLL_CTL_DEL, s->fd, NULL);
}

static void take_bytes(struct session *s) {
  for (;;) {
    size_t room = sizeof buffer - MARK_BYTES;
    char *start = buffer + MARK_BYTES - s->carried;
    ssize_t got = recv(s->fd, buffer + MARK_BYTES, room, 0);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (got <= 0) {
      closed++;
      close(s->fd);
      return;
    }
    if (s->state == 1) {
      if (!memmem(buffer + MARK_BYTES, got, " 101 ", 5)) {
        fprintf(stderr, "no WebSocket: %.*s\n", (int)(got < 200 ? got : 200), buffer + MARK_BYTES);
        exit(1);
      }
      join(s);
    }
    if (s->next < 0 && connected < count) {
      /* The last thing said before messages come. */
      if (memmem(buffer + MARK_BYTES, got, "CONF,1", 6) || memmem(buffer + MARK_BYTES, got, "\"subscribe\"", 11))
        subscribed(s);
    }
    bytes += got;
    memcpy(start, s->carry, s->carried);
    scan(s, start, got + s->carried, now_ns());
    if ((size_t)got < room) return;
  }
}

static void report(void) {
  int64_t seen = 0, least = INT64_MAX;
  double wanted[] = {0.5, 0.9, 0.99, 0.999}, found[4] = {0};
  int at = 0;
  for (int b = 0; b < BUCKETS && at < 4; b++) {
    seen += histogram[b];
    while (at < 4 && deliveries && seen >= wanted[at] * deliveries) {
      int log = b / SUB_BUCKETS, sub = b % SUB_BUCKETS;
      found[at++] = log >= 6 ? ((double)(SUB_BUCKETS + sub + 0.5)) * (1LL << (log - 6)) : (double)(1LL << log);
    }
  }
  for (int i = stalled_count; i < count; i++)
    if (sessions[i].received < least) least = sessions[i].received;
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  printf("{\"deliveries\": %ld, \"least_of_a_session\": %ld, \"lost\": %ld, \"repeated\": %ld, \"closed\": %ld, "
         "\"bytes\": %ld, \"mean_ms\": %.4f, \"p50_ms\": %.4f, \"p90_ms\": %.4f, \"p99_ms\": %.4f, "
         "\"p999_ms\": %.4f, \"max_ms\": %.4f, \"cpu_s\": %.3f}\n",
         deliveries, least, lost, repeated, closed, bytes, deliveries ? latency_sum_ns / 1e6 / deliveries : 0,
         found[0] / 1e3, found[1] / 1e3, found[2] / 1e3, found[3] / 1e3, latency_max_ns / 1e6,
         used.ru_utime.tv_sec + used.ru_stime.tv_sec + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6);
  fflush(stdout);
  deliveries = lost = repeated = latency_sum_ns = latency_max_ns = bytes = 0;
  begin_ns = end_ns = 0;
  memset(histogram, 0, sizeof histogram);
  for (int i = 0; i < count; i++) sessions[i].received = 0;
}

static void read_order(void) {
  static char line[200];
  static size_t filled;
  ssize_t got = read(0, line + filled, sizeof line - 1 - filled);
  if (got <= 0) exit(0);
  filled += got;
  line[filled] = 0;
  if (strchr(line, '\n')) {
    if (sscanf(line, "measure %ld %ld", &begin_ns, &end_ns) != 2) exit(2);
    filled = 0;
  }
}

int main(int argc, char **argv) {
  if (argc != 6 || atoi(argv[5]) < 1) {
    fprintf(stderr, "usage: swarm PORT SESSIONS PROTOCOL STALLED ITEMS\n");
    return 2;
  }
  port = atoi(argv[1]);
  count = atoi(argv[2]);
  protocol = argv[3];
  stalled_count = atoi(argv[4]);
  items = atoi(argv[5]);
  sessions = calloc(count, sizeof *sessions);
  for (int i = 0; i < stalled_count; i++) sessions[i].stalled = 1;
  struct rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  epoll = epoll_create1(0);
  struct epoll_event orders = {.events = EPOLLIN, .data.ptr = NULL}, events[512];
  epoll_ctl(epoll, EPOLL_CTL_ADD, 0, &orders);
  int told = 0;
  for (;;) {
    while (open_count < count && open_count - connected < IN_FLIGHT) start_session(&sessions[open_count++]);
    if (connected == count && !told) {
      printf("connected %d\n", connected);
      fflush(stdout);
      told = 1;
    }
    if (end_ns && now_ns() > end_ns + STRAGGLERS_NS) report();
    int n = epoll_wait(epoll, events, 512, 100);
    for (int i = 0; i < n; i++) {
      struct session *s = events[i].data.ptr;
      if (!s) read_order();
      else if (s->state == 0) upgrade(s);
      else take_bytes(s);
    }
  }
}
