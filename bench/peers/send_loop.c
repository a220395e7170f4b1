/* The least a server can do: accept WebSockets, and write the same frame to all of them, again and again.
 *
 *   send_loop PORT SESSIONS RATE_PER_S BYTES ITEMS
 *
 * Waits until SESSIONS clients are there and a line comes in, and sends until it is ended. Each of ITEMS messages has
 * RATE_PER_S, and goes to every ITEMS-th client. A socket that does
 * not take a whole frame is an error: nothing is queued here. It answers every handshake as if its key were the
 * one that swarm.c sends.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
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

static const char ACCEPTED[] =
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int argc, char **argv) {
  if (argc != 6) return 2;
  int port = atoi(argv[1]), wanted = atoi(argv[2]), size = atoi(argv[4]), one = 1, upgraded = 0;
  int items = atoi(argv[5]);
  double rate = atof(argv[3]) * items;
  int *fds = calloc(wanted, sizeof *fds);
  struct rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port)};
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(listener, (struct sockaddr *)&at, sizeof at) < 0 || listen(listener, 4096) < 0) {
    perror("listen");
    return 1;
  }
  int epoll = epoll_create1(0);
  struct epoll_event e = {.events = EPOLLIN, .data.fd = listener}, events[256];
  epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &e);
  char request[4096];
  while (upgraded < wanted) {
    int n = epoll_wait(epoll, events, 256, -1);
    for (int i = 0; i < n; i++) {
      int fd = events[i].data.fd;
      if (fd == listener) {
        int client = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
        if (client < 0) continue;
        setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        struct epoll_event c = {.events = EPOLLIN, .data.fd = client};
        epoll_ctl(epoll, EPOLL_CTL_ADD, client, &c);
      } else if (read(fd, request, sizeof request) > 0 && upgraded < wanted) {
        if (write(fd, ACCEPTED, sizeof ACCEPTED - 1) < 0) return 1;
        epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL);
        fds[upgraded++] = fd;
      }
    }
  }
  if (getchar() == EOF) return 0;
  unsigned char *frame = malloc(size + 4);
  frame[0] = 0x81;
  frame[1] = 126;
  frame[2] = size >> 8;
  frame[3] = size & 255;
  memset(frame + 4, 'x', size);
  int64_t start = now_ns(), number = 0;
  for (;; number++) {
    int64_t due = start + (int64_t)(number * 1e9 / rate);
    struct timespec until = {due / 1000000000LL, due % 1000000000LL};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
    }
    char mark[48];
    snprintf(mark, sizeof mark, "@%010ld,%019ld@", number / items, due);
    memcpy(frame + 4, mark, 32);
    for (int i = number % items; i < wanted; i += items)
      if (send(fds[i], frame, size + 4, MSG_DONTWAIT | MSG_NOSIGNAL) != size + 4) {
        fprintf(stderr, "a socket is full\n");
        return 1;
      }
  }
}
