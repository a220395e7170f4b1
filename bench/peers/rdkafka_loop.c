/* The least a client can do on librdkafka: hand over the same bytes again and again, or count what comes.
 *
 *   rdkafka_loop LIBRARY produce|consume TOPIC BYTES MESSAGES NAME=VALUE …
 *   rdkafka_loop LIBRARY RATE TOPIC BYTES MESSAGES NAME=VALUE …
 *
 * No stamps, no headers, no checks, no records on disk. Four times a second it prints how many messages have been
 * acknowledged or received by then. With a rate it sleeps until each message is due, and prints instead how late each
 * one was handed over, in ns. The library is the very file that confluent-kafka brings along.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WINDOW_NS 250000000
#define IDLE_NS 60000000000
#define EVENT_DELIVERY 1
#define FLAG_COPY 2
#define LOOK_EVERY 64

static void *library;

static void *function(const char *name)
{
    void *found = dlsym(library, name);
    if (!found) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return found;
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static long counted, wanted;
static int64_t printed_ns, changed_ns;

/* Whether to go on. */
static int report(void)
{
    static long last;
    int64_t at_ns = now_ns();
    if (counted != last) {
        last = counted;
        changed_ns = at_ns;
    } else if (at_ns - changed_ns > IDLE_NS) {
        fprintf(stderr, "nothing has come for a minute, %ld of %ld\n", counted, wanted);
        exit(1);
    }
    if (at_ns - printed_ns >= WINDOW_NS || counted >= wanted) {
        printed_ns = at_ns;
        printf("%ld\n", counted);
        fflush(stdout);
    }
    return counted < wanted;
}

static void *client_of(int kind, int count, char **settings)
{
    char why[512];
    void *(*conf_new)(void) = function("rd_kafka_conf_new");
    int (*conf_set)(void *, const char *, const char *, char *, size_t) = function("rd_kafka_conf_set");
    void (*set_events)(void *, int) = function("rd_kafka_conf_set_events");
    void *(*new)(int, void *, char *, size_t) = function("rd_kafka_new");
    void *conf = conf_new();
    for (int i = 0; i < count; i++) {
        char *value = strchr(settings[i], '=');
        if (value)
            *value++ = 0;
        if (!value || conf_set(conf, settings[i], value, why, sizeof why)) {
            fprintf(stderr, "%s: %s\n", settings[i], value ? why : "no value");
            exit(1);
        }
    }
    if (kind == 0)
        set_events(conf, EVENT_DELIVERY);
    void *client = new(kind, conf, why, sizeof why);
    if (!client) {
        fprintf(stderr, "%s\n", why);
        exit(1);
    }
    return client;
}

static void look(void *queue, int timeout_ms)
{
    static void *(*poll)(void *, int);
    static size_t (*message_count)(void *);
    static void (*destroy)(void *);
    if (!poll) {
        poll = function("rd_kafka_queue_poll");
        message_count = function("rd_kafka_event_message_count");
        destroy = function("rd_kafka_event_destroy");
    }
    void *event;
    while ((event = poll(queue, timeout_ms))) {
        counted += (long)message_count(event);
        destroy(event);
        timeout_ms = 0;
    }
}

static void produce(void *client, void *topic, size_t size)
{
    int (*hand_over)(void *, int32_t, int, void *, size_t, const void *, size_t, void *) = function("rd_kafka_produce");
    void *(*main_queue)(void *) = function("rd_kafka_queue_get_main");
    void *queue = main_queue(client);
    char *value = malloc(size);
    memset(value, 'x', size);
    for (long sent = 0; sent < wanted;) {
        if (hand_over(topic, -1, FLAG_COPY, value, size, NULL, 0, NULL) == 0) {
            if (++sent % LOOK_EVERY == 0) {
                look(queue, 0);
                report();
            }
        } else {
            look(queue, 1); /* it is full */
            report();
        }
    }
    while (report())
        look(queue, 10);
}

static void sleep_until(int64_t due_ns)
{
    struct timespec due = {due_ns / 1000000000, due_ns % 1000000000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
}

static void pace(void *client, void *topic, size_t size, double rate)
{
    int (*hand_over)(void *, int32_t, int, void *, size_t, const void *, size_t, void *) = function("rd_kafka_produce");
    void *(*main_queue)(void *) = function("rd_kafka_queue_get_main");
    void *queue = main_queue(client);
    int64_t *late_ns = malloc((size_t)wanted * sizeof *late_ns);
    char *value = malloc(size);
    memset(value, 'x', size);
    int64_t start_ns = now_ns() + 1000000000;
    for (long sent = 0; sent < wanted;) {
        int64_t due_ns = start_ns + (int64_t)((double)sent / rate * 1e9), at_ns = now_ns();
        if (at_ns < due_ns) {
            look(queue, 0);
            sleep_until(due_ns);
        } else if (hand_over(topic, -1, FLAG_COPY, value, size, NULL, 0, NULL) == 0)
            late_ns[sent++] = at_ns - due_ns;
        else
            look(queue, 1); /* it is full */
    }
    while (counted < wanted && now_ns() - start_ns < IDLE_NS)
        look(queue, 10);
    for (long i = 0; i < wanted; i++)
        printf("%lld\n", (long long)late_ns[i]);
    fflush(stdout);
}

static void count_record(void *message, void *opaque)
{
    (void)opaque;
    counted += *(int *)message == 0;
}

static void consume(void *topic)
{
    int (*start)(void *, int32_t, int64_t) = function("rd_kafka_consume_start");
    int (*serve)(void *, int32_t, int, void (*)(void *, void *), void *) = function("rd_kafka_consume_callback");
    if (start(topic, 0, 0)) {
        fprintf(stderr, "cannot begin to read\n");
        exit(1);
    }
    while (report())
        serve(topic, 0, 100, count_record, NULL);
}

int main(int count, char **words)
{
    if (count < 6 || !(library = dlopen(words[1], RTLD_NOW))) {
        fprintf(stderr, "usage: rdkafka_loop LIBRARY produce|consume|RATE TOPIC BYTES MESSAGES NAME=VALUE …\n");
        return 1;
    }
    int kind = strcmp(words[2], "consume") == 0;
    wanted = atol(words[5]);
    changed_ns = now_ns();
    void *client = client_of(kind, count - 6, words + 6);
    void *(*topic_new)(void *, const char *, void *) = function("rd_kafka_topic_new");
    void *topic = topic_new(client, words[3], NULL);
    if (kind)
        consume(topic);
    else if (atof(words[2]) > 0)
        pace(client, topic, (size_t)atol(words[4]), atof(words[2]));
    else
        produce(client, topic, (size_t)atol(words[4]));
    _Exit(0);
}
