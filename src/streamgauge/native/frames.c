/* WebSocket frames and the lines in them, as they come: cut anywhere, and by anybody.
 *
 * A session keeps a head that is not whole, and of a line that was cut what is still wanted: of one that is only
 * counted, nothing. The twin is drivers/push/sessions.py on picows.
 */
#ifdef __linux__
#include <stdlib.h>

#include "swarm.h"

#define FIN 0x80
#define RESERVED 0x70
#define MASKED 0x80
enum { CONTINUATION = 0, TEXT = 1, CLOSING = 8, PINGING = 9, PONGING = 10 };

#define LEAST_LINE_ROOM 256
#define KEPT_ROOM 4096 /* of a line's; more than that is given back */

static const char UPDATE[] = "U,1,1,";
#define UPDATE_BYTES (sizeof UPDATE - 1)

static int begins(const char *line, size_t size, const char *with)
{
    size_t wanted = strlen(with);
    return size >= wanted && !memcmp(line, with, wanted);
}

int make_room(swarm_t *swarm, char **bytes, size_t *room, size_t wanted)
{
    if (wanted <= *room)
        return 1;
    size_t more = *room ? *room : LEAST_LINE_ROOM;
    while (more < wanted)
        more *= 2;
    char *moved = realloc(*bytes, more);
    if (!moved) {
        swarm->has_no_memory = 1;
        return 0;
    }
    *bytes = moved;
    *room = more;
    return 1;
}

static void forget_line(session_t *session)
{
    session->line_bytes = 0;
    if (session->line_room > KEPT_ROOM) {
        free(session->line);
        session->line = NULL;
        session->line_room = 0;
    }
}

static void take_line(swarm_t *swarm, session_t *session, const char *line, size_t size, int64_t received_ns)
{
    if (session->mode == JOINING) {
        tell(swarm, session, LINE, received_ns, line, size);
        if (begins(line, size, "SUBOK,1,") || begins(line, size, "SUBCMD,1,"))
            session->mode = session->joined_mode;
    } else if (begins(line, size, UPDATE)) {
        if (session->mode == COUNTING)
            swarm->counts[session - swarm->sessions]++;
        else
            take_update(swarm, session, line + UPDATE_BYTES, size - UPDATE_BYTES, received_ns);
    } else if (size && !(size == 5 && begins(line, size, "PROBE"))) {
        tell(swarm, session, LINE, received_ns, line, size);
    }
}

/* The end of a line that has come to `from`: behind CR LF, of which the CR may have come before. NULL: not yet. */
static const char *end_of_line(const char *from, const char *end, unsigned char before)
{
    const char *at = from;
    while (at < end && (at = memchr(at, '\n', (size_t)(end - at)))) {
        if ((at > from ? (unsigned char)at[-1] : before) == '\r')
            return at + 1;
        at++;
    }
    return NULL;
}

/* The beginning of a line of which there is no more yet: kept as far as it will be wanted. */
static void keep_beginning(swarm_t *swarm, session_t *session, const char *bytes, size_t size)
{
    if (!make_room(swarm, &session->line, &session->line_room, session->line_bytes + size))
        return;
    memcpy(session->line + session->line_bytes, bytes, size);
    session->line_bytes += size;
    session->last_byte = (uint8_t)bytes[size - 1];
    int is_update = session->mode != JOINING && begins(session->line, session->line_bytes, UPDATE);
    if (is_update && session->mode == COUNTING) {
        session->passing = PASSED_UPDATE;
        forget_line(session);
    } else if (!is_update && session->line_bytes > swarm->most_told_bytes) {
        take_line(swarm, session, session->line, session->line_bytes, 0);
        session->passing = PASSED_LINE;
        forget_line(session);
    }
}

static void line_is_over(swarm_t *swarm, session_t *session, size_t end_bytes, int64_t received_ns)
{
    if (session->passing == PASSED_UPDATE)
        swarm->counts[session - swarm->sessions]++;
    else if (session->passing == WANTED_LINE && session->line_bytes)
        take_line(swarm, session, session->line, session->line_bytes - end_bytes, received_ns);
    session->passing = WANTED_LINE;
    session->last_byte = 0;
    forget_line(session);
}

static void take_text(swarm_t *swarm, session_t *session, const char *at, size_t size, int64_t received_ns)
{
    const char *end = at + size;
    while (at < end && session->mode != AWAY && !swarm->has_no_memory) {
        const char *next = end_of_line(at, end, session->last_byte);
        if (session->passing) {
            if (next)
                line_is_over(swarm, session, 0, received_ns);
            else
                session->last_byte = (uint8_t)end[-1];
        } else if (next && !session->line_bytes) {
            take_line(swarm, session, at, (size_t)(next - at) - 2, received_ns);
        } else {
            keep_beginning(swarm, session, at, (size_t)((next ? next : end) - at));
            if (next && session->mode != AWAY)
                line_is_over(swarm, session, session->line_bytes >= 2 ? 2 : 0, received_ns);
        }
        at = next ? next : end;
    }
}

/* What a frame's head says; 0: not whole yet, or broken off. */
static int read_head(swarm_t *swarm, session_t *session)
{
    const unsigned char *head = session->head;
    if (session->head_bytes < 2)
        return 0;
    unsigned char length = head[1] & 0x7F, opcode = head[0] & 0x0F;
    if (head[0] & RESERVED || head[1] & MASKED) {
        break_off(swarm, session, "a frame with bits that no server may set");
        return 0;
    }
    if (session->head_bytes < (length == 127 ? 10 : length == 126 ? 4 : 2))
        return 0;
    uint64_t left = length;
    if (length >= 126) {
        left = 0;
        for (int i = 2; i < session->head_bytes; i++)
            left = left << 8 | head[i];
    }
    if (opcode >= CLOSING ? opcode > PONGING || left > MOST_CONTROL_BYTES || !(head[0] & FIN)
                          : opcode != (session->in_message ? CONTINUATION : TEXT)) {
        break_off(swarm, session, "a frame that is no part of a text message");
        return 0;
    }
    if (opcode < CLOSING) {
        if (left > swarm->most_message_bytes || session->message_bytes + left > swarm->most_message_bytes) {
            break_off(swarm, session, "a message longer than any that is expected");
            return 0;
        }
        session->message_bytes += left;
        session->in_message = 1;
        session->is_last_frame = head[0] & FIN ? 1 : 0;
    } else {
        session->control_bytes = 0;
    }
    session->opcode = opcode;
    session->left = left;
    return 1;
}

static void frame_is_over(swarm_t *swarm, session_t *session, int64_t received_ns)
{
    session->head_bytes = 0;
    if (session->opcode < CLOSING) {
        if (session->is_last_frame) {
            line_is_over(swarm, session, 0, received_ns);
            session->in_message = 0;
            session->message_bytes = 0;
        }
    } else if (session->opcode != PONGING) {
        int kind = session->opcode == PINGING ? PING : CLOSE;
        tell(swarm, session, kind, received_ns, (const char *)session->control, session->control_bytes);
        if (kind == CLOSE)
            session->mode = AWAY;
    }
}

void feed(swarm_t *swarm, session_t *session, const unsigned char *bytes, size_t size, int64_t received_ns)
{
    int has_head = session->head_bytes && session->left;
    while (size && session->mode != AWAY && !swarm->has_no_memory) {
        if (!has_head) {
            session->head[session->head_bytes++] = *bytes++;
            size--;
            has_head = read_head(swarm, session);
            if (!has_head)
                continue;
        }
        size_t part = session->left < size ? (size_t)session->left : size;
        if (session->opcode < CLOSING) {
            take_text(swarm, session, (const char *)bytes, part, received_ns);
        } else {
            memcpy(session->control + session->control_bytes, bytes, part);
            session->control_bytes = (uint8_t)(session->control_bytes + part);
        }
        bytes += part;
        size -= part;
        session->left -= part;
        if (!session->left && session->mode != AWAY) {
            frame_is_over(swarm, session, received_ns);
            has_head = 0;
        }
    }
}

#endif
