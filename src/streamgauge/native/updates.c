/* The field of an update that has its time, and the time in it: `2026-01-31 12:00:00.123456789`, UTC.
 *
 * A value that stands there is read here. Of anything else, a difference or a text that is no time, Python is told, from
 * then on of every update of that session: to apply a difference it has to know the value before. The twins are
 * drivers/push/sessions.py and families/fanout/stamps.py.
 */
#ifdef __linux__
#include "swarm.h"

#define STAMP_BYTES 29
#define MINUTE_BYTES 17
#define NS_PER_S 1000000000

static int is_digit(char c) { return c >= '0' && c <= '9'; }

static int number(const char *at, int digits)
{
    int found = 0;
    for (int i = 0; i < digits; i++) {
        if (!is_digit(at[i]))
            return -1;
        found = found * 10 + at[i] - '0';
    }
    return found;
}

/* Since 1970, by the calendar that goes on for ever. */
static int64_t days_since_1970(int year, int month, int day)
{
    int64_t y = month <= 2 ? year - 1 : year;
    int64_t era = y / 400, of_era = y - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static int days_of(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && is_leap);
}

/* "2026-01-31 12:00:" */
static int read_minute(swarm_t *swarm, const char *at)
{
    if (!memcmp(at, swarm->minute, MINUTE_BYTES))
        return 1;
    int year = number(at, 4), month = number(at + 5, 2), day = number(at + 8, 2);
    int hour = number(at + 11, 2), minute = number(at + 14, 2);
    if (at[4] != '-' || at[7] != '-' || at[10] != ' ' || at[13] != ':' || at[16] != ':')
        return 0;
    if (year < 1 || month < 1 || month > 12 || day < 1 || day > days_of(year, month) || hour < 0 || hour > 23 ||
        minute < 0 || minute > 59)
        return 0;
    memcpy(swarm->minute, at, MINUTE_BYTES);
    swarm->minute_s = days_since_1970(year, month, day) * 86400 + hour * 3600 + minute * 60;
    return 1;
}

static int read_stamp(swarm_t *swarm, const char *at, size_t size, int64_t *stamp_ns)
{
    if (size < STAMP_BYTES || !read_minute(swarm, at))
        return 0;
    int second = number(at + 17, 2), fraction = number(at + 20, 9);
    if (second < 0 || at[19] != '.' || fraction < 0)
        return 0;
    /* As Python has it, where it fits: a year beyond 2262 is Python's to refuse. */
    int64_t seconds = swarm->minute_s + second;
    if (seconds > INT64_MAX / NS_PER_S - 1 || seconds < INT64_MIN / NS_PER_S + 1)
        return 0;
    *stamp_ns = seconds * NS_PER_S + fraction;
    return 1;
}

/* How many fields a token leaves as they were; 0: it is a value, or a difference; -1: of no known form. */
static int run_length(const char *token, size_t size)
{
    if (!size)
        return 1;
    if (token[0] != '^' || (size > 1 && (token[1] == 'P' || token[1] == 'T')))
        return 0;
    if (size < 2 || size > 10 || token[1] == '0')
        return -1;
    return number(token + 1, (int)size - 1);
}

/* Finds the field that has the time: nothing where it is as it was; 0 where the update is none. */
static int find_field(const swarm_t *swarm, const session_t *session, const char *body, size_t size, const char **field,
                      size_t *field_bytes)
{
    const char *at = body, *end = body + size;
    size_t done = 0;
    *field = body;
    *field_bytes = 0;
    for (;;) {
        const char *bar = at < end ? memchr(at, '|', (size_t)(end - at)) : NULL;
        size_t token_bytes = (size_t)((bar ? bar : end) - at);
        int run = run_length(at, token_bytes);
        if (run < 0)
            return 0;
        if (run > 0) {
            if (!session->has_update || done + (size_t)run > swarm->fields)
                return 0;
            done += (size_t)run;
        } else if (done < swarm->fields) {
            if (done == swarm->field) {
                *field = at;
                *field_bytes = token_bytes;
            }
            done++;
        } else {
            break;
        }
        if (!bar)
            break;
        at = bar + 1;
    }
    return done == swarm->fields;
}

static void add_row(swarm_t *swarm, const session_t *session, int64_t stamp_ns, int64_t received_ns)
{
    size_t place = (size_t)(session - swarm->sessions), row = swarm->rows++;
    swarm->row_place[row] = (int32_t)place;
    swarm->row_stamp[row] = stamp_ns;
    swarm->row_received[row] = received_ns;
    swarm->counts[place]++;
}

void take_update(swarm_t *swarm, session_t *session, const char *body, size_t size, int64_t received_ns)
{
    const char *field;
    size_t field_bytes;
    int64_t stamp_ns;
    if (!find_field(swarm, session, body, size, &field, &field_bytes)) {
        break_off(swarm, session, "an update whose fields are not those asked for");
        return;
    }
    session->has_update = 1;
    if (session->mode == STAMPING) {
        int is_same = !field_bytes;
        if (swarm->rows < swarm->most_rows &&
            (is_same ? read_stamp(swarm, session->field, session->field_bytes, &stamp_ns)
                     : read_stamp(swarm, field, field_bytes, &stamp_ns))) {
            add_row(swarm, session, stamp_ns, received_ns);
            if (!is_same && make_room(swarm, &session->field, &session->field_room, field_bytes)) {
                memcpy(session->field, field, field_bytes);
                session->field_bytes = field_bytes;
            }
            return;
        }
        session->mode = TELLING;
        if (session->field_bytes)
            tell(swarm, session, BEFORE, received_ns, session->field, session->field_bytes);
    }
    tell(swarm, session, FIELD, received_ns, field, field_bytes);
}

#endif
