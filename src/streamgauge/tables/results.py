"""Result tables: what analysis computes from events.

A row speaks for a *scope*: the whole case, one topic, one partition, or one second.
`topic`, `partition` and `second` are null where the scope does not name them. Seconds
count from the case's agreed start (the first measured or warm-up message), by intended time.
"""

from __future__ import annotations

from streamgauge.tables.column import Column, Table

WARM_UP, MEASURE = "warm_up", "measure"
CASE, TOPIC, PARTITION, SECOND = "case", "topic", "partition", "second"

LEGS = (
    "intended_to_received",
    "sent_to_received",
    "sent_to_acked",
    "sent_to_broker",
    "broker_to_received",
    "intended_to_sent",
)
"""Legs of a message's way. `intended_to_sent` is the schedule lag."""

PERCENTILES: dict[str, float] = {
    "p25": 0.25,
    "p50": 0.50,
    "p75": 0.75,
    "p90": 0.90,
    "p95": 0.95,
    "p98": 0.98,
    "p99": 0.99,
    "p99_9": 0.999,
}

_CASE = Column("case", "string", "id of the case")
_SCOPE = (
    _CASE,
    Column("scope", "string", "case, topic, partition or second"),
    Column("topic", "string", "name of the topic", nullable=True),
    Column("partition", "int32", "partition", nullable=True),
    Column("second", "int32", "second since the start, by intended time", nullable=True),
)

MESSAGES = Table(
    "messages",
    "a message that a producer sent, with all its times on the reference clock",
    (
        _CASE,
        Column("phase", "string", "warm_up or measure"),
        Column("producer", "int32", "number of the producer"),
        Column("sequence", "int64", "the producer's count"),
        Column("topic", "string", "name of the topic"),
        Column("partition", "int32", "partition; null when it was neither acked nor received", nullable=True),
        Column("offset", "int64", "offset; null when not known", nullable=True),
        Column("size_bytes", "int32", "length of the value"),
        Column("second", "int32", "second since the start, by intended time"),
        Column("intended_ns", "int64", "due time"),
        Column("sent_ns", "int64", "handed over (sent)"),
        Column("acked_ns", "int64", "acknowledged", nullable=True),
        Column("broker_ns", "int64", "the record's own timestamp, whole ms", nullable=True),
        Column(
            "broker_is_append", "bool", "true: the broker's append time; false: the client's", nullable=True
        ),
        Column("received_ns", "int64", "first receipt of an intact copy", nullable=True),
        Column("received_count", "int32", "how many intact copies came"),
        Column("out_of_order", "bool", "first copy came after a later message of its producer and partition"),
        Column("corrupt_count", "int32", "how many damaged copies came at its offset"),
        Column("error", "string", "why delivery failed", nullable=True),
    ),
)

ACCOUNTING = Table(
    "accounting",
    "counts of messages of one scope and phase",
    (
        *_SCOPE,
        Column("phase", "string", "warm_up or measure"),
        Column("sent", "int64", "handed to the client library"),
        Column("acked", "int64", "acknowledged without error"),
        Column("failed", "int64", "reported as not delivered"),
        Column("aborted", "int64", "in transactions that were aborted as planned", is_new=True),
        Column("received", "int64", "messages of which at least one intact copy arrived"),
        Column("lost_write", "int64", "acked, never seen, although a later offset of its partition was"),
        Column("unseen", "int64", "acked, never seen, and nothing later in its partition was either"),
        Column("duplicate", "int64", "intact copies beyond the first"),
        Column("out_of_order", "int64", "messages whose first copy came after a later one"),
        Column("corrupt", "int64", "damaged records"),
        Column("unexpected", "int64", "records that do not belong to this case"),
    ),
)

LATENCY = Table(
    "latency",
    "latency of one leg in one scope, measured phase only, in ms",
    (
        *_SCOPE,
        Column("leg", "string", "from which time to which"),
        Column("count", "int64", "messages that have both times"),
        Column("negative_count", "int64", "of these, how many came out below zero: kept, not dropped"),
        Column("mean", "float64", "ms"),
        Column("sd", "float64", "ms; null below two messages", nullable=True),
        Column("min", "float64", "ms"),
        *(Column(name, "float64", "ms") for name in PERCENTILES),
        Column("max", "float64", "ms"),
    ),
)

HISTOGRAM = Table(
    "histogram",
    "a bucket of the latencies of one leg in one case, measured phase only",
    (
        _CASE,
        Column("leg", "string", "from which time to which"),
        Column("value_ms", "float64", "middle of the bucket, within 0.05% of every value in it"),
        Column("count", "int64", "messages in it"),
    ),
)

RANGES = Table(
    "ranges",
    "last minus first of each of the four times in one scope, in s",
    (
        *_SCOPE,
        *(
            Column(f"{name}_s", "float64", "last − first; null when there is none", nullable=True)
            for name in ("sent", "acked", "broker", "received")
        ),
    ),
)

THROUGHPUT = Table(
    "throughput",
    "messages and bytes a second in one scope, measured phase only",
    (
        *_SCOPE,
        *(
            Column(f"{name}_{unit}_per_s", "float64", "count over its own range", nullable=True)
            for name in ("sent", "acked", "received")
            for unit in ("messages", "bytes")
        ),
    ),
)

RUNTIMES = Table(
    "runtimes",
    "how long messages took to go through, measured phase only; scopes case, topic and partition",
    (
        *_SCOPE,
        Column("partitions", "int64", "partitions through which something came"),
        Column("messages", "int64", "messages received"),
        Column("bytes", "int64", "bytes of their values"),
        Column("runtime_s", "float64", "sum of the partitions' own times: first sent to last received"),
        Column("wall_s", "float64", "first sent to last received of all together"),
        Column("messages_per_s", "float64", "messages × partitions ÷ runtime_s", nullable=True),
        Column("kib_per_s", "float64", "KiB × partitions ÷ runtime_s", nullable=True),
    ),
)

RESOURCES = Table(
    "resources",
    "use of one process or machine over one interval between two samples",
    (
        _CASE,
        Column("source", "string", "producer-0, consumer-1, broker-1, machine …"),
        Column("kind", "string", "producer, consumer, broker or machine"),
        Column("host", "string", "name of the clock's host"),
        Column("at_s", "float64", "end of the interval, seconds since the start"),
        Column("cores", "int32", "logical cores of the host"),
        Column("cpu_cores", "float64", "cores kept busy"),
        Column("rss_bytes", "int64", "resident memory"),
        *(
            Column(name, "float64", "bytes a second", nullable=True)
            for name in (
                "net_sent_bytes_per_s",
                "net_received_bytes_per_s",
                "disk_read_bytes_per_s",
                "disk_written_bytes_per_s",
            )
        ),
        Column("swapped_bytes_per_s", "float64", "swapped in and out; machine only", True, True),
        Column("throttled_per_s", "float64", "times its cgroup had no CPU left; machine only", True, True),
    ),
)

CPU = Table(
    "cpu",
    "CPU used by all processes of one kind during the measured phase",
    (
        _CASE,
        Column("kind", "string", "producer, consumer or broker"),
        Column("processes", "int32", "how many"),
        Column("cpu_s", "float64", "CPU seconds"),
        Column("busiest_cores", "float64", "cores kept busy by the busiest of them"),
        Column("cpu_us_per_message", "float64", "CPU µs a message sent (consumer: received)", nullable=True),
    ),
)

CLOCKS = Table(
    "clocks",
    "the clock of one agent against the reference",
    (
        _CASE,
        Column("agent", "string", "producer-0, consumer-1 …"),
        Column("hostname", "string", "name of its machine"),
        Column("offset_ms", "float64", "what was added to its times at the start"),
        Column("error_ms", "float64", "how far off that can be"),
        Column("drift_ppm", "float64", "by how much it ran slow, in µs a second; part of what was added"),
        Column("readings", "int64", "how often it was read; 0: it is the reference's own clock"),
        Column("jump_ms", "float64", "by how much it jumped ahead at once; null: not at all", True, True),
        Column("wall_jump_ms", "float64", "the same of the host's wall clock", True, True),
        Column("silent_ms", "float64", "the longest that the launcher gave its host no answer", True, True),
    ),
)

VERDICTS = Table(
    "verdicts",
    "what is to be said of one case",
    (
        _CASE,
        Column("status", "string", "how it ended: ok, failed or partial"),
        Column("integrity", "string", "is every message accounted for: ok, or the worst that became of one"),
        Column("validity", "string", "may its figures be quoted: valid, invalid or not_measured"),
        Column("bottleneck", "string", "client_cpu, generator, broker, machine_cpu or none"),
        Column("drift_ms_per_s", "float64", "slope of the per-second median latency", nullable=True),
        Column("noise_floor_p99_ms", "float64", "how late a bare pacer woke beside the load", True, True),
    ),
)

CAUSES = Table(
    "causes",
    "a figure of one reason for a verdict, or the reason alone when it has none",
    (
        _CASE,
        Column("subject", "string", "what of the case it is about; empty: all of it"),
        Column("verdict", "string", "integrity, validity, bottleneck; warning or note: of no verdict"),
        Column("place", "int32", "its place among the reasons of this verdict, from 0"),
        Column("code", "string", "which reason; core/verdicts has them all"),
        Column("about", "string", "which of several it is of: a library, an agent", nullable=True),
        Column("text", "string", "what somebody else said", nullable=True),
        Column("figure", "string", "name of the figure, with its unit", nullable=True),
        Column("value", "float64", "the figure", nullable=True),
    ),
)

RESULT_TABLES = (
    MESSAGES,
    ACCOUNTING,
    LATENCY,
    HISTOGRAM,
    RANGES,
    THROUGHPUT,
    RUNTIMES,
    RESOURCES,
    CPU,
    CLOCKS,
    VERDICTS,
    CAUSES,
)
