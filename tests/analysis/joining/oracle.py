"""What became of every message, found out slowly: one event after the other, in plain Python.

It shares no code with the kernel and knows nothing of parts, arrays or buckets. A rule is a line here.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from streamgauge.tables.events import BROKER_TIME_APPEND, BROKER_TIME_NONE, CORRUPT, INTACT, PLANNED_ABORT

Row = dict[str, Any]
_SECOND_NS = 1_000_000_000
_LAST_BROKER_MS = 9_000_000_000_000


@dataclass(frozen=True)
class Clock:
    """An agent's: what it was behind the reference when it was first read, and how fast it fell behind."""

    behind_ns: int
    read_ns: int = 0
    drift: float = 0.0

    def on_reference(self, at_ns: int) -> int:
        moved_ns = (at_ns - self.read_ns) * self.drift
        # Halves away from zero.
        return at_ns + self.behind_ns + int(moved_ns + (0.5 if moved_ns >= 0 else -0.5))


_EXACT = Clock(0)


@dataclass(frozen=True)
class Told:
    """All that is known of a case."""

    sends: list[Row]
    receives: list[Row]
    topics: tuple[str, ...]
    warm_ups: dict[int, int]
    consumers: int
    producer_clocks: dict[int, Clock]
    consumer_clocks: dict[int, Clock]
    consumer_wall_ns: dict[int, int]


def messages_of(told: Told) -> list[Row]:
    """Rows as table `messages` has them, without the case."""
    start_ns = min((_intended_ns(told, send) for send in told.sends), default=0)
    return [_message(told, send, start_ns) for send in told.sends]


def _message(told: Told, send: Row, start_ns: int) -> Row:
    copies = [
        record
        for record in told.receives
        if record["state"] == INTACT
        and (record["producer"], record["sequence"]) == (send["producer"], send["sequence"])
    ]
    first = min(copies, key=lambda r: (_received_ns(told, r), r["consumer"], r["arrival"]), default=None)
    clock = told.producer_clocks.get(send["producer"], _EXACT)
    broker_ns = None if first is None else _broker_ns(told, first)
    return {
        "phase": "warm_up" if send["sequence"] < told.warm_ups.get(send["producer"], 0) else "measure",
        "producer": send["producer"],
        "sequence": send["sequence"],
        "topic": told.topics[send["topic"]],
        "partition": _or(send["partition"], first and first["partition"]),
        "offset": _or(send["offset"], first and first["offset"]),
        "size_bytes": send["size_bytes"],
        "second": (_intended_ns(told, send) - start_ns) // _SECOND_NS,
        "intended_ns": _intended_ns(told, send),
        "sent_ns": clock.on_reference(send["sent_ns"]),
        "acked_ns": None if send["acked_ns"] is None else clock.on_reference(send["acked_ns"]),
        "broker_ns": broker_ns,
        "broker_is_append": None
        if broker_ns is None or first is None
        else first["broker_time"] == BROKER_TIME_APPEND,
        "received_ns": None if first is None else _received_ns(told, first),
        "received_count": len(copies),
        "out_of_order": first is not None and _is_overtaken(told, first),
        "corrupt_count": len(_damaged_at(told, send)),
        "error": send["error"],
    }


def _is_overtaken(told: Told, record: Row) -> bool:
    """Had its consumer read a later one of its producer in its partition before?"""
    stream = ("consumer", "producer", "topic", "partition")
    return any(
        other["state"] == INTACT
        and all(other[name] == record[name] for name in stream)
        and other["arrival"] < record["arrival"]
        and other["sequence"] > record["sequence"]
        for other in told.receives
    )


def _damaged_at(told: Told, send: Row) -> list[Row]:
    if not _is_acked(send) or send["partition"] is None or send["offset"] is None:
        return []
    place = (send["topic"], send["partition"], send["offset"])
    return [record for record in told.receives if record["state"] != INTACT and _place(record) == place]


def counts_of(told: Told) -> dict[tuple[Any, ...], Counter[str]]:
    """(scope, topic, partition, second, phase) → counts, as table `accounting` has them."""
    tally: dict[tuple[Any, ...], Counter[str]] = defaultdict(Counter)
    claimed: set[tuple[int, int, int]] = set()
    for send, message in zip(told.sends, messages_of(told), strict=True):
        damaged = _damaged_at(told, send)
        claimed |= {_place(record) for record in damaged}
        is_missing = _is_acked(send) and not message["received_count"] and not damaged and told.consumers > 0
        is_passed = is_missing and _is_passed(told, send, message)
        counts = Counter(
            sent=1,
            acked=int(_is_acked(send)),
            failed=int(send["error"] not in (None, PLANNED_ABORT)),
            aborted=int(send["error"] == PLANNED_ABORT),
            received=int(message["received_count"] > 0),
            lost_write=int(is_missing and is_passed),
            unseen=int(is_missing and not is_passed),
            duplicate=max(0, message["received_count"] - 1),
            out_of_order=int(message["out_of_order"]),
            corrupt=message["corrupt_count"],
        )
        where = (message["topic"], message["partition"], message["second"])
        _add(tally, counts, where, message["phase"])
    sent = {(send["producer"], send["sequence"]) for send in told.sends}
    for record in told.receives:
        if record["state"] == INTACT:
            name = None if (record["producer"], record["sequence"]) in sent else "unexpected"
        elif _place(record) in claimed:
            name = None
        else:
            name = "corrupt" if record["state"] == CORRUPT else "unexpected"
        if name is not None:
            where = (told.topics[record["topic"]], record["partition"], None)
            _add(tally, Counter({name: 1}), where, "measure")
    return {key: +counts for key, counts in tally.items()}


def _is_passed(told: Told, send: Row, message: Row) -> bool:
    """Was something behind it read? By offset, or by its producer's order where that is not known."""
    own = [record for record in told.receives if record["topic"] == send["topic"]]
    if message["offset"] is not None:
        return any(r["partition"] == message["partition"] and r["offset"] > message["offset"] for r in own)
    return any(
        r["state"] == INTACT and r["producer"] == send["producer"] and r["sequence"] > send["sequence"]
        for r in own
    )


def _add(
    tally: dict[tuple[Any, ...], Counter[str]],
    counts: Counter[str],
    where: tuple[str, int | None, int | None],
    phase: str,
) -> None:
    topic, partition, second = where
    tally["case", None, None, None, phase].update(counts)
    tally["topic", topic, None, None, phase].update(counts)
    if partition is not None:
        tally["partition", topic, partition, None, phase].update(counts)
    if second is not None:
        tally["second", None, None, second, phase].update(counts)


def latencies_of(told: Told) -> dict[tuple[Any, ...], list[int]]:
    """(scope, topic, partition, second, leg) → latencies in ns, of measured messages."""
    found: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for send, message in zip(told.sends, messages_of(told), strict=True):
        if message["phase"] != "measure":
            continue
        times = {name: message[f"{name}_ns"] for name in ("intended", "sent", "broker", "received")}
        times["acked"] = message["acked_ns"] if _is_acked(send) else None
        for begin, end in (
            ("intended", "received"),
            ("sent", "received"),
            ("sent", "acked"),
            ("sent", "broker"),
            ("broker", "received"),
            ("intended", "sent"),
        ):
            if times[begin] is None or times[end] is None:
                continue
            leg, ns = f"{begin}_to_{end}", times[end] - times[begin]
            found["case", None, None, None, leg].append(ns)
            found["topic", message["topic"], None, None, leg].append(ns)
            if message["partition"] is not None:
                found["partition", message["topic"], message["partition"], None, leg].append(ns)
            found["second", None, None, message["second"], leg].append(ns)
    return dict(found)


def percentile(values: Iterable[int], share: float) -> float:
    """Between the two nearest values, in proportion."""
    ordered = sorted(values)
    position = share * (len(ordered) - 1)
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])


def variance(values: list[int]) -> Fraction:
    mean = Fraction(sum(values), len(values))
    return sum(((value - mean) ** 2 for value in values), Fraction()) / (len(values) - 1)


def _is_acked(send: Row) -> bool:
    return send["acked_ns"] is not None and send["error"] is None


def _place(record: Row) -> tuple[int, int, int]:
    return record["topic"], record["partition"], record["offset"]


def _intended_ns(told: Told, send: Row) -> int:
    return told.producer_clocks.get(send["producer"], _EXACT).on_reference(send["intended_ns"])


def _received_ns(told: Told, record: Row) -> int:
    return told.consumer_clocks.get(record["consumer"], _EXACT).on_reference(record["received_ns"])


def _broker_ns(told: Told, record: Row) -> int | None:
    """A broker's stamp is wall time; without a reading of the consumer's clock it has no place."""
    wall_ns, stamp_ms = told.consumer_wall_ns.get(record["consumer"]), record["broker_ms"]
    if wall_ns is None or stamp_ms is None or record["broker_time"] == BROKER_TIME_NONE:
        return None
    if not 0 <= stamp_ms <= _LAST_BROKER_MS:
        return None
    return told.consumer_clocks[record["consumer"]].on_reference(stamp_ms * 1_000_000 - wall_ns)


def _or(value: Any, other: Any) -> Any:
    return other if value is None else value
