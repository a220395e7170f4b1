"""Event tables of a fan-out. As in `events`, the case is in the folder's name, and `*_ns` is
the reference clock: CLOCK_MONOTONIC of the first agent's host.

A message is known by its `stamp_ns`: the time that it carries, which is when it was due, by the wall clock of
whoever generated it. No two messages of a case are due at the same time.
"""

from __future__ import annotations

from streamgauge.tables.column import Column, Table
from streamgauge.tables.events import MARKS, SAMPLES

NO_KEY = -1

GENERATED = Table(
    "generated",
    "a message that the generator handed to its client library",
    (
        Column("stamp_ns", "int64", "the time that it carries, ns since 1970: which message it is"),
        Column("producer", "int32", "which of the generator's producers sent it"),
        Column("key", "int32", "number of its key; -1: it has none"),
        Column("size_bytes", "int32", "length of the value"),
        Column("is_warm_up", "bool", "sent ahead, and not counted"),
        Column("intended_ns", "int64", "when the schedule wanted it sent"),
        Column("sent_ns", "int64", "just before it was handed over"),
        Column("acked_ns", "int64", "when its acknowledgement was seen; null when none came", nullable=True),
        Column("error", "string", "why it was not delivered, in the library's words", nullable=True),
    ),
)

UPDATES = Table(
    "updates",
    "an update that a measured client got",
    (
        Column("client", "int32", "number of the client: its place in the order of connecting"),
        Column("stamp_ns", "int64", "the time that it carries: which message it is"),
        Column("received_ns", "int64", "when the client's code had it, decoded"),
    ),
)

CLIENTS = Table(
    "clients",
    "one client at the end of its case",
    (
        Column("client", "int32", "number of the client"),
        Column("key", "int32", "number of the key that it follows; -1: it gets everything"),
        Column("is_measured", "bool", "it decoded and timed every update; else it only counted them"),
        Column("updates", "int64", "updates that it got, warm-up and all"),
        Column("expected", "int64", "updates that it should have got"),
    ),
)

TRAFFIC = Table(
    "traffic",
    "what went through all sockets of one swarm, from before the first message until the last had come",
    (
        Column("agent", "string", "swarm-0, swarm-1 …"),
        Column("sockets", "int32", "open TCP connections"),
        Column("seconds", "float64", "of the schedule, warm-up and all: what rates are counted by"),
        Column(
            "received_bytes", "int64", "by the kernel's count of the connections, headers of TCP not counted"
        ),
        Column("sent_bytes", "int64", "the other way"),
    ),
)

OUTAGES = Table(
    "outages",
    "a time that a client was without its connection, of a case in which they come back",
    (
        Column("client", "int32", "number of the client"),
        Column("lost_ns", "int64", "when its end was seen"),
        Column("back_ns", "int64", "when it was subscribed again; null: it never was", nullable=True),
    ),
)

FANOUT_EVENTS = (GENERATED, UPDATES, CLIENTS, OUTAGES, TRAFFIC, SAMPLES, MARKS)
