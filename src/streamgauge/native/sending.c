/* Sends messages when they are due: header, checksum and body, a stamp each, and what became of them as columns.
 *
 * The client is one of our own (drivers/kafka/confluent/native_producer.py), whose delivery reports come as
 * events: no callback of anybody's is ever called. The twin is agents/sending.py with payload/making.py,
 * agents/slices.py and drivers/kafka/confluent/producer.py.
 */
#include "sender.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#define LOOK_EVERY 64         /* messages, between two looks for delivery reports */
#define CLOCK_EVERY 16        /* reports that came together, and take 2 µs to be kept */
#define TURN_MESSAGES 1000    /* as many go to one topic, when all are due */
#define FULL_WAIT_NS 1000000  /* when the client is full, at most, unless a report comes */
#define UNTOLD_WAIT_NS 1000000 /* between two looks for reports, where nobody says that one has come */

enum { HANDED_OVER, REFUSED_FULL, WITHOUT_MEMORY, WITHOUT_KEY };

/* ---- what became of messages */

static void tell(sender_t *s, int64_t sequence, int32_t partition, int64_t offset, int code, int64_t now_ns)
{
    size_t i = s->ack_count++;
    ((int64_t *)s->acks[ACK_SEQUENCE].buf)[i] = sequence;
    ((int32_t *)s->acks[ACK_PARTITION].buf)[i] = code ? -1 : partition;
    ((int64_t *)s->acks[ACK_OFFSET].buf)[i] = code ? -1 : offset;
    ((int64_t *)s->acks[ACK_NS].buf)[i] = now_ns;
    ((int32_t *)s->acks[ACK_CODE].buf)[i] = code;
}

/* Whose it was stands in the message itself: an opaque pointer could be taken for somebody else's. */
static void keep_report(sender_t *s, const record_t *message, int64_t now_ns)
{
    const unsigned char *head = s->in_key ? message->key : message->payload;
    size_t size = s->in_key ? message->key_len : message->len;
    s->told++;
    if (head && size >= HEADER_BYTES && word_at(head) == s->owner)
        tell(s, (int64_t)word_at(head + 8), message->partition, message->offset, message->err, now_ns);
}

static void note(sender_t *s, int level, const char *facility, const char *words)
{
    if (s->note_count == MOST_NOTES)
        return; /* a client without brokers says the same thing for ever */
    note_t *kept = &s->notes[s->note_count++];
    kept->level = level;
    snprintf(kept->words, MOST_WORDS, "%s: %s", facility ? facility : "", words ? words : "");
}

static void keep_note(sender_t *s, void *event, int type)
{
    const char *facility = NULL, *words = NULL;
    int level = 6;
    if (type == EVENT_LOG && s->event_log(event, &facility, &words, &level) == 0)
        note(s, level, facility, words);
    else if (type == EVENT_ERROR)
        note(s, 7, "ERROR", s->event_words(event)); /* what there is to know of it is logged beside it */
}

void look_for_reports(sender_t *s, int timeout_ms)
{
    while (s->ack_count < s->ack_room) {
        if (!s->event) {
            s->event = s->queue_poll(s->queue, timeout_ms);
            if (!s->event)
                return;
            timeout_ms = 0;
        }
        int type = s->event_type(s->event);
        if (type == EVENT_DELIVERY) {
            const record_t *message;
            int64_t now_ns = 0;
            for (size_t i = 0; s->ack_count < s->ack_room && (message = s->event_message(s->event)); i++) {
                if (i % CLOCK_EVERY == 0)
                    now_ns = s->clock();
                keep_report(s, message, now_ns);
            }
            if (s->ack_count == s->ack_room)
                return; /* there may be more in this event */
        } else
            keep_note(s, s->event, type);
        s->event_destroy(s->event);
        s->event = NULL;
    }
}

/* As long, or until something has come, if anybody says so: 1 then, 0 when the time is up, -1 for a signal. */
static int pause_for(sender_t *s, int64_t left_ns)
{
    if (s->wake_fd < 0 && left_ns > UNTOLD_WAIT_NS)
        left_ns = UNTOLD_WAIT_NS;
    struct timespec left = {left_ns / 1000000000, left_ns % 1000000000};
#ifdef __linux__
    struct pollfd wake = {s->wake_fd, POLLIN, 0};
    int ready = ppoll(&wake, s->wake_fd >= 0 ? 1 : 0, &left, NULL);
#else
    int ready = nanosleep(&left, NULL);
#endif
    if (ready < 0)
        return errno == EINTR ? -1 : 0;
    return ready > 0 || s->wake_fd < 0;
}

static int may_spin(sender_t *s, int64_t now_ns)
{
    if (!s->begun_ns)
        s->begun_ns = now_ns;
    return s->spin_ns && s->spun_ns * 1000 <= (now_ns - s->begun_ns) * s->spin_share;
}

/* Until then, or until something has come; 0: a signal wants to be seen to. Who sleeps is woken some ten µs late:
 * so it sleeps until shortly before, and looks at the clock from then on, as long as that stays a small part of a core. */
static int wait_until(sender_t *s, int64_t until_ns, int exactly)
{
    int64_t now_ns = s->clock(), left_ns = until_ns - now_ns;
    if (left_ns <= 0)
        return 1;
    if (exactly && may_spin(s, now_ns)) {
        if (left_ns <= s->spin_ns) {
            int64_t begun_ns = now_ns;
            while (now_ns < until_ns)
                now_ns = s->clock();
            s->spun_ns += now_ns - begun_ns;
            return 1;
        }
        left_ns -= s->spin_ns;
    }
    int woken = pause_for(s, left_ns);
    if (woken > 0) {
        uint64_t count;
        if (s->wake_fd >= 0 && read(s->wake_fd, &count, sizeof count) < 0 && errno == EINTR)
            return 0;
        look_for_reports(s, 0);
    }
    return woken >= 0;
}

/* ---- sending */

static int64_t place_of(int64_t sequence, int64_t count)
{
    int64_t place = sequence % count;
    return place < 0 ? place + count : place;
}

static char *room_for_value(sender_t *s, size_t size)
{
    if (size > HAND_OVER_BYTES)
        return malloc(size);
    return s->value;
}

static int hand_over(sender_t *s, job_t *job, int64_t now_ns)
{
    size_t i = job->done, topic = s->turn % s->topic_count;
    int64_t sequence = job->first_sequence + (int64_t)i, at = place_of(sequence, s->body_count);
    const char *body = (const char *)s->pool[BODIES].buf + ((const int64_t *)s->pool[STARTS].buf)[at];
    size_t body_size = (size_t)((const int64_t *)s->pool[SIZES].buf)[at], size = body_size, key_size = 0;
    uint64_t intended_ns = (uint64_t)(job->due ? job->due[i] : now_ns);
    uint64_t head[HEADER_WORDS] = {s->owner, (uint64_t)sequence, intended_ns,
                                   header_sum(s->owner, (uint64_t)sequence, intended_ns) +
                                       ((const uint64_t *)s->pool[SUMS].buf)[at]};
    const void *key = NULL;
    char *value = (char *)body;
    int flags = FLAG_COPY;
    if (s->in_key) {
        key = head;
        key_size = HEADER_BYTES;
    } else {
        size += HEADER_BYTES;
        value = room_for_value(s, size);
        if (!value)
            return WITHOUT_MEMORY;
        if (value != s->value)
            flags = FLAG_FREE;
        memcpy(value, head, HEADER_BYTES);
        memcpy(value + HEADER_BYTES, body, body_size);
        if (job->key_numbers) {
            const int64_t *starts = s->pool[KEY_STARTS].buf;
            int64_t number = job->key_numbers[i];
            if (number < 0 || number >= s->key_count) {
                if (flags == FLAG_FREE)
                    free(value);
                return WITHOUT_KEY;
            }
            key = (const char *)s->pool[KEYS].buf + starts[number];
            key_size = (size_t)(starts[number + 1] - starts[number]);
        }
    }
    /* Before it is handed over: its report can be faster than what comes after. */
    job->topic[i] = s->topic_numbers[topic];
    job->size[i] = (int32_t)size;
    job->intended[i] = (int64_t)intended_ns;
    job->sent[i] = now_ns;
    job->acked[i] = 0;
    if (s->produce(s->topics[topic], s->partition, flags, value, size, key, key_size, NULL) != 0) {
        int code = s->last_error();
        if (flags == FLAG_FREE)
            free(value); /* what was refused is still ours */
        if (code == ERR_QUEUE_FULL)
            return REFUSED_FULL;
        s->told++;
        tell(s, sequence, -1, -1, code, now_ns);
    }
    s->taken++;
    return HANDED_OVER;
}

static void next_turn(sender_t *s)
{
    s->in_turn = 0;
    s->turn++;
}

static int64_t earlier(int64_t one, int64_t other) { return one < other ? one : other; }

int send_rows(sender_t *s, job_t *job)
{
    size_t since_look = 0;
    while (job->done < job->most) {
        int64_t now_ns = s->clock();
        if (now_ns >= job->until_ns)
            return TIME_UP;
        if (s->ack_count == s->ack_room)
            return TOLD_ENOUGH;
        if (job->due && job->due[job->done] > now_ns) {
            if (s->in_turn)
                next_turn(s);
            if (!job->waits)
                return NOT_DUE;
            if (!wait_until(s, earlier(job->due[job->done], job->until_ns), 1))
                return SIGNALLED;
            continue;
        }
        int outcome = hand_over(s, job, now_ns);
        if (outcome == WITHOUT_MEMORY)
            return NO_MEMORY;
        if (outcome == WITHOUT_KEY)
            return BAD_KEY;
        if (outcome == REFUSED_FULL) {
            look_for_reports(s, 0);
            if (!job->waits)
                return FULL;
            if (!wait_until(s, earlier(now_ns + FULL_WAIT_NS, job->until_ns), 0))
                return SIGNALLED;
            continue;
        }
        job->done++;
        if (++s->in_turn == TURN_MESSAGES)
            next_turn(s);
        if (++since_look == LOOK_EVERY) {
            look_for_reports(s, 0);
            since_look = 0;
        }
    }
    return ALL_SENT;
}
