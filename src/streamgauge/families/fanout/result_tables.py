"""Result tables of a fan-out: what analysis computes of its events."""

from __future__ import annotations

from streamgauge.tables.column import Column, Table
from streamgauge.tables.results import CAUSES, PERCENTILES, RESOURCES

_CASE = Column("case", "string", "id of the case")

ROLES = ("broker", "gateway", "swarm", "producer")
"""Kinds of processes whose use is told; the swarms are the clients, the producer is the generator."""

POINTS = Table(
    "points",
    "so many clients by one way in one scenario",
    (
        _CASE,
        Column("series", "string", "what the case is one point of"),
        Column("via", "string", "kafka-groups, kafka-standalone or gateway"),
        Column("scenario", "string", "1, 2, 3, 3jp, 3td or 3full"),
        Column("clients", "int64", "clients wanted"),
        Column("status", "string", "ok, failed, partial or not run"),
        Column("holds", "bool", "all was delivered, and the mean is within the limit; null: not known", True),
        Column("integrity", "string", "is every update accounted for: ok, or the worst that became of one"),
        Column("validity", "string", "may its figures be quoted: valid, invalid or not_measured"),
        Column("messages", "int64", "messages that Kafka took, warm-up and all"),
        Column("rate_per_s", "float64", "messages a second, by when they were really sent", nullable=True),
        Column("expected", "int64", "updates due to all clients together"),
        Column("received", "int64", "updates that came"),
        Column("missing", "int64", "updates that did not: by name for measured clients, by count for others"),
        Column("conflated", "int64", "updates left out on purpose, for newer ones", True, is_new=True),
        Column("duplicate", "int64", "updates that a client got once more"),
        Column("unexpected", "int64", "updates of measured clients that nobody sent"),
        Column("samples", "int64", "updates of measured clients, warm-up not counted: what latency is of"),
        Column("measured_clients", "int64", "clients that decoded and timed their updates"),
        Column("mean_ms", "float64", "from when a message was due to when the client had it", nullable=True),
        Column("sd_ms", "float64", "of the same", nullable=True),
        Column("min_ms", "float64", "of the same", nullable=True),
        *(Column(f"{name}_ms", "float64", "of the same", nullable=True) for name in PERCENTILES),
        Column("max_ms", "float64", "of the same", nullable=True),
        Column("to_clients_bits_per_s", "float64", "at the clients' sockets, towards them", nullable=True),
        Column("from_clients_bits_per_s", "float64", "the other way", nullable=True),
        Column("bytes_per_client", "float64", "that a client received in the whole case", nullable=True),
        Column("bytes_per_update", "float64", "received bytes over received updates", nullable=True),
        *(
            Column(f"{role}_{what}", "float64", meaning, nullable=True)
            for role in ROLES
            for what, meaning in (
                ("cpu_cores", "cores kept busy while messages were sent, all its processes"),
                ("memory_bytes", "most resident memory, all its processes"),
            )
        ),
        Column("broker_sent_bits_per_s", "float64", "at the broker's sockets; null when not seen", True),
        Column("broker_received_bits_per_s", "float64", "the other way", nullable=True),
    ),
)

LATENCY_COUNTS = Table(
    "latency_counts",
    "how many samples of one case had a latency of so many whole milliseconds",
    (
        _CASE,
        Column("latency_ms", "int64", "rounded down"),
        Column("count", "int64", "samples"),
    ),
)

WATCHED = (*ROLES, "machine")

POINT_SECONDS = Table(
    "point_seconds",
    "the messages of one case that were due within one second, and what every role used meanwhile",
    (
        _CASE,
        Column("second", "int64", "since the first message was due, from 0"),
        Column("is_warm_up", "bool", "whether some of them were warm-up"),
        Column("samples", "int64", "updates of measured clients"),
        Column("p50_ms", "float64", "latency from when a message was due"),
        Column("p99_ms", "float64", "the same"),
        Column("max_ms", "float64", "the same"),
        *(
            Column(f"{role}_{what}", "float64", meaning, nullable=True)
            for role in WATCHED
            for what, meaning in (
                ("cpu_cores", "cores kept busy, all its processes; null where one was not seen"),
                ("memory_bytes", "resident memory, all its processes"),
            )
        ),
    ),
)

POINT_HOSTS = Table(
    "point_hosts",
    "one host of one case: what its clients got, and what its processes used",
    (
        _CASE,
        Column("hostname", "string", "name of the machine; a follower's own"),
        Column("agents", "string", "those on it, with commas between"),
        Column("clients", "int64", "clients on it"),
        Column("expected", "int64", "updates due to them"),
        Column("received", "int64", "updates that came"),
        Column("missing", "int64", "updates that did not, conflated ones among them"),
        Column("duplicate", "int64", "updates that a client got once more"),
        Column("unexpected", "int64", "updates of measured clients that nobody sent"),
        Column("samples", "int64", "updates of measured clients, warm-up not counted"),
        *(
            Column(f"{name}_ms", "float64", "latency of these", True)
            for name in ("mean", "p50", "p99", "max")
        ),
        Column("cpu_cores", "float64", "cores kept busy by the agents and gateways on it", nullable=True),
        Column(
            "clock_error_ms",
            "float64",
            "how far its clock may be from where it was taken to be; null: it is the reference",
            nullable=True,
            is_new=True,
        ),
    ),
)

FANOUT_TABLES = (POINTS, LATENCY_COUNTS, POINT_SECONDS, POINT_HOSTS, RESOURCES, CAUSES)
