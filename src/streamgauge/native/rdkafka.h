/* What is used of librdkafka's public interface. It is not linked: the addresses of its functions are handed
 * in, from the very library that confluent-kafka has loaded.
 */
#ifndef STREAMGAUGE_RDKAFKA_H
#define STREAMGAUGE_RDKAFKA_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    int err;
    void *topic;
    int32_t partition;
    void *payload;
    size_t len;
    void *key;
    size_t key_len;
    int64_t offset;
    void *opaque;
} record_t;

#define ERR_QUEUE_FULL (-184)
#define FLAG_FREE 0x1 /* librdkafka frees the value */
#define FLAG_COPY 0x2
#define EVENT_DELIVERY 0x1
#define EVENT_LOG 0x4
#define EVENT_ERROR 0x8

typedef int (*consume_fn)(void *queue, int timeout_ms, void (*each)(record_t *record, void *opaque), void *opaque);
typedef int64_t (*timestamp_fn)(const record_t *record, int *kind);
typedef void (*yield_fn)(void *client);
typedef int (*produce_fn)(void *topic, int32_t partition, int flags, void *value, size_t len, const void *key,
                          size_t key_len, void *opaque);
typedef int (*last_error_fn)(void);
typedef void *(*queue_poll_fn)(void *queue, int timeout_ms);
typedef int (*event_type_fn)(const void *event);
typedef const record_t *(*event_message_fn)(void *event);
typedef void (*event_destroy_fn)(void *event);
typedef const char *(*event_words_fn)(void *event);
typedef int (*event_log_fn)(void *event, const char **facility, const char **words, int *level);

#endif
