/* A swarm of WebSocket sessions: what one keeps between two reads, and what is told of them. */
#ifndef STREAMGAUGE_SWARM_H
#define STREAMGAUGE_SWARM_H

#include "loops.h"

#include <sys/epoll.h>

#define MOST_CONTROL_BYTES 125
#define READ_BYTES 65536
#define LEAST_ROW_BYTES 37 /* an update that makes a row: "U,1,1,", a stamp, the end of the line */
#define ROWS_OF_A_READ (READ_BYTES / LEAST_ROW_BYTES + 2)
#define MOST_WAITING 256 /* things to be told; then Python has its turn */
#define READY 512

/* What is done with the lines of a session. Until it is subscribed, all are told. */
enum { AWAY, JOINING, COUNTING, STAMPING, TELLING };
/* What is told: a line; the time's field, and what it was before; control frames; that a connection has ended. */
enum { LINE, BEFORE, FIELD, PING, CLOSE, END, BROKEN };
/* The rest of a line that is passed over, and whether it was an update. */
enum { WANTED_LINE, PASSED_UPDATE, PASSED_LINE };

typedef struct {
    int fd;
    uint8_t mode, joined_mode;
    uint8_t head_bytes, opcode, is_last_frame, control_bytes;
    uint8_t in_message, passing, last_byte, has_update;
    unsigned char head[10];
    unsigned char control[MOST_CONTROL_BYTES];
    uint64_t left;          /* bytes to come of this frame */
    uint64_t message_bytes; /* of the message so far, all of this frame's */
    char *line;             /* the beginning of one that was cut */
    size_t line_bytes, line_room;
    char *field; /* what the one that has the time was last, as it came */
    size_t field_bytes, field_room;
} session_t;

typedef struct {
    int32_t place;
    int32_t kind;
    int64_t received_ns;
    size_t at, size;
} told_t;

typedef struct {
    int epoll;
    int is_busy, has_no_memory;
    size_t count;
    session_t *sessions;
    Py_buffer counts_view;
    int64_t *counts;
    size_t field, fields; /* which one of an update's has the time, and how many there are */
    uint64_t most_message_bytes, most_told_bytes;
    char *buffer;
    struct epoll_event ready[READY];
    int ready_count, ready_at;
    int counted, has_many; /* found ready within a ms, and whether that was much the last time */
    int64_t counted_since_ns;
    size_t rows, most_rows;
    int32_t *row_place;
    int64_t *row_stamp, *row_received;
    told_t *told;
    size_t told_count, told_room;
    char *said;
    size_t said_bytes, said_room;
    char minute[17]; /* of the last stamp, and when it began: stamps of a run share it */
    int64_t minute_s;
} swarm_t;

void tell(swarm_t *swarm, session_t *session, int kind, int64_t received_ns, const char *bytes, size_t size);
/* Ends a session, and tells why. */
void break_off(swarm_t *swarm, session_t *session, const char *why);
/* Room for more bytes, or 0 and `has_no_memory`. */
int make_room(swarm_t *swarm, char **bytes, size_t *room, size_t wanted);
/* What has come for a session, cut anywhere. */
void feed(swarm_t *swarm, session_t *session, const unsigned char *bytes, size_t size, int64_t received_ns);
/* An update's fields: a row where its time can be read here, else Python is told of the field that has it. */
void take_update(swarm_t *swarm, session_t *session, const char *body, size_t size, int64_t received_ns);

#endif
