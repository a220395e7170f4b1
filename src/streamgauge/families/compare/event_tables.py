"""Event tables of a comparison: what its referee writes, and samples. As in `events`, the case is in the
folder's name."""

from __future__ import annotations

from streamgauge.tables.column import Column, Table
from streamgauge.tables.events import SAMPLES

ENGINE = "engine"
"""In place of a role: the row says which engine a library's loop ran on."""

TRIALS = Table(
    "trials",
    "one timed operation of one library in a comparison",
    (
        Column("length", "int32", "bytes of a message's value"),
        Column("messages", "int32", "messages of the test"),
        Column("operation", "string", "produce, consume or round_trip"),
        Column("temperature", "string", "cold: from before the client is made; warm: after a primed message"),
        Column("side", "string", "a, b or control (A's target once more)"),
        Column("repetition", "int32", "from 0; -1 is the warm-up round, which is not counted"),
        Column("position", "int32", "place of the turn among all turns of the cell"),
        Column("topic", "string", "name of the topic"),
        Column("started_ns", "int64", "when the time began to count"),
        Column("elapsed_ns", "int64", "what it took; null when it failed", nullable=True),
        Column("cpu_ns", "int64", "CPU time of the library's process meanwhile", nullable=True),
        Column("expected", "int64", "messages that should have been acked or received"),
        Column("seen", "int64", "of these, how many were, each counted once"),
        Column("missing", "int64", "expected − seen"),
        Column("duplicate", "int64", "acks or records beyond the first of a message"),
        Column("corrupt", "int64", "records with another value or key; null when not checked", nullable=True),
        Column("crossings", "int64", "calls between Python and Java; null when not counted", nullable=True),
        Column("jni_calls", "int64", "JNI functions called; null when not counted", nullable=True),
        Column("error", "string", "why it failed", nullable=True),
    ),
)

CLIENT_SETTINGS = Table(
    "client_settings",
    "a setting of one library of a comparison, as it was in force",
    (
        Column("side", "string", "a or b"),
        Column("role", "string", "producer or consumer; engine: what runs the library's loop"),
        Column("is_shared", "bool", "it has a name across libraries"),
        Column("name", "string", "that name, or the library's own"),
        Column("native", "string", "the library's own name; null: it has no such setting", nullable=True),
        Column(
            "value",
            "string",
            "what was in force; null: left to the system, or no such setting",
            nullable=True,
        ),
        Column("note", "string", "what else to know"),
    ),
)

COMPARISON_EVENTS = (TRIALS, CLIENT_SETTINGS, SAMPLES)
