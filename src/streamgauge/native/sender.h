/* One producer's messages, the client that they go to, and what became of them: for the loop, and for Python. */
#ifndef STREAMGAUGE_SENDER_H
#define STREAMGAUGE_SENDER_H

#include "loops.h" /* first: Python's header says which of the system's functions there are */

#include <unistd.h>

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
    int64_t spin_ns, spin_share; /* before a due time, and at most so many thousandths of the time since the start */
    int64_t begun_ns, spun_ns;
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

/* Takes what is there, as far as there is room for it; waits for the first as long as `timeout_ms`. */
void look_for_reports(sender_t *s, int timeout_ms);
/* The loop: until all are sent, or one of the reasons above. Nothing in it waits longer than `until_ns`. */
int send_rows(sender_t *s, job_t *job);

#endif
