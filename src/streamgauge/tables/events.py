"""Event tables: what agents write while they measure.

`*_ns` is CLOCK_MONOTONIC of the agent's host. The case is in the folder's name
(`case=<id>`), not in a column. Producers, consumers and topics are numbers: their
place in the plan.
"""

from __future__ import annotations

from streamgauge.tables.column import Column, Table

INTACT, CORRUPT, UNEXPECTED = 0, 1, 2
"""What a consumer found: one of ours and whole; damaged; whole but not of this case, or not ours."""

BROKER_TIME_NONE, BROKER_TIME_CREATE, BROKER_TIME_APPEND = 0, 1, 2
"""What a record's timestamp says: nothing; when the client made it; when the broker stored it."""

ABORTED = "aborted"
"""How the `error` of a message begins whose transaction was aborted: whoever reads it reads too much."""
PLANNED_ABORT = f"{ABORTED}: as the workload wants it"
"""The whole `error` of one that was aborted on purpose: no failure."""

CLOCK_MARK = "clock"
DEALT_MARK = "dealt"
"""A group gave partitions to this consumer: it begins where its driver says that members do."""
DRAINED_MARK = "drained"
"""A consumer's last moment: all before it are there."""
"""A mark that is only a reading of the clock, taken by whoever leads the agent."""

SENDS = Table(
    "sends",
    "a message that a producer handed to its client library",
    (
        Column("producer", "int32", "number of the producer"),
        Column("sequence", "int64", "the producer's count, from 0; the first ones may be warm-up"),
        Column("topic", "int32", "number of the topic"),
        Column(
            "partition", "int32", "where it was sent to or stored; null when that is not known", nullable=True
        ),
        Column("offset", "int64", "its place in the partition; null when not known", nullable=True),
        Column("size_bytes", "int32", "length of the value"),
        Column("intended_ns", "int64", "when the schedule wanted it sent"),
        Column(
            "sent_ns",
            "int64",
            "when it was handed over; in Python's loop to about 100 µs: a call's time, spread evenly",
        ),
        Column("acked_ns", "int64", "when its acknowledgement was seen; null when none came", nullable=True),
        Column("error", "string", "why it was not delivered, in the library's words", nullable=True),
    ),
)

RECEIVES = Table(
    "receives",
    "a record that a consumer got",
    (
        Column("consumer", "int32", "number of the consumer"),
        Column("arrival", "int64", "the consumer's own count of records, from 0: their order"),
        Column("state", "int8", "0 intact, 1 corrupt, 2 unexpected (not of this case)"),
        Column("producer", "int32", "from the message header; meaningless unless intact"),
        Column("sequence", "int64", "from the message header; meaningless unless intact"),
        Column("topic", "int32", "number of the topic"),
        Column("partition", "int32", "partition of the record"),
        Column("offset", "int64", "offset of the record"),
        Column("size_bytes", "int32", "length of the value"),
        Column("broker_ms", "int64", "the record's timestamp: wall time, whole ms", nullable=True),
        Column("broker_time", "int8", "0 no timestamp, 1 create time, 2 append time"),
        Column("received_ns", "int64", "when the consumer's code had it"),
    ),
)

SAMPLES = Table(
    "samples",
    "a look at one process or at the whole machine, about once a second",
    (
        Column("at_ns", "int64", "when it was taken"),
        Column("source", "string", "producer-0, consumer-1, broker-1, machine …"),
        Column("kind", "string", "producer, consumer, broker or machine"),
        Column("host", "string", "name of the clock's host"),
        Column("cores", "int32", "logical cores of the host"),
        Column("cpu_s", "float64", "CPU seconds used since the process (or host) started"),
        Column("rss_bytes", "int64", "resident memory (machine: memory in use)"),
        Column("net_sent_bytes", "int64", "bytes sent since boot; machine only", nullable=True),
        Column("net_received_bytes", "int64", "bytes received since boot; machine only", nullable=True),
        Column("disk_read_bytes", "int64", "bytes read since the start", nullable=True),
        Column("disk_written_bytes", "int64", "bytes written since the start", nullable=True),
        Column("swapped_bytes", "int64", "bytes swapped in and out since boot; machine only", True, True),
        Column("throttled_count", "int64", "times its cgroup had used up its CPU; machine only", True, True),
    ),
)

MARKS = Table(
    "marks",
    "a moment in an agent's life",
    (
        Column("agent", "string", "producer-0, consumer-1 …"),
        Column("kind", "string", "producer or consumer"),
        Column("number", "int32", "its number among its kind: `producer` or `consumer` in the other tables"),
        Column("host", "string", "name of the clock's host: same name, same clock"),
        Column("hostname", "string", "name of the machine, for people"),
        Column(
            "mark", "string", "connected, start, dealt, measure_begin, measure_end, drained; clock: a reading"
        ),
        Column("at_ns", "int64", "when"),
        Column("cpu_s", "float64", "CPU seconds the agent process had used by then"),
        Column(
            "reference_offset_ns", "int64", "add to this host's monotonic times to get the reference clock"
        ),
        Column("reference_error_ns", "int64", "how far off that offset can be"),
        Column("wall_offset_ns", "int64", "add to this host's monotonic times to get its wall time"),
        Column(
            "silent_ns", "int64", "of a reading: the longest since the last without an answer", True, True
        ),
    ),
)

EVENT_TABLES = (SENDS, RECEIVES, SAMPLES, MARKS)
