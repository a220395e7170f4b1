"""Cases with faults planted at random, and a plain count of them that shares no code with the analysis."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from typing import Any

from streamgauge.tables import events

from .recorded import MS, SECOND, START_NS, CaseEvents, Row

SEEDS = range(24)
_PRODUCERS, _TOPICS, _PARTITIONS, _CONSUMERS = 2, 2, 2, 3
_WARM_UP = 12


def planted_case(seed: int) -> CaseEvents:
    """About 300 messages over three seconds, with every kind of fault in it."""
    rng = random.Random(seed)
    topics = {"count": _TOPICS, "partitions": _PARTITIONS}
    load = {"messages": 300, "producers": _PRODUCERS, "consumers": _CONSUMERS, "topics": topics}
    case = CaseEvents(f"planted-{seed}", load=load | {"warm_up_messages": _PRODUCERS * _WARM_UP})
    counts = Counter[tuple[int, int]]()
    logs: dict[tuple[int, int], list[Row]] = defaultdict(list)
    for number in range(300):
        place = (rng.randrange(_TOPICS), rng.randrange(_PARTITIONS))
        counts[place] += rng.choice([1, 1, 1, 2])
        send = _send(case, rng, number, place, counts[place])
        logs[place].append(send)
    for (topic, partition), log in sorted(logs.items()):
        consumer = (topic * _PARTITIONS + partition) % _CONSUMERS
        for record in _as_read(rng, log):
            case.receive(record, consumer=consumer, received_ns=START_NS + 4 * SECOND + case.ticks() * 1000)
    for _ in range(rng.randrange(4)):
        again = rng.choice(case.receives)
        if again["state"] == events.INTACT:
            later_ns = START_NS + 9 * SECOND + case.ticks() * 1000
            case.receive({"sent_ns": 0} | again, consumer=rng.randrange(_CONSUMERS), received_ns=later_ns)
    return case


def _send(case: CaseEvents, rng: random.Random, number: int, place: tuple[int, int], offset: int) -> Row:
    given: Row = {"producer": number % _PRODUCERS, "topic": place[0], "partition": place[1], "offset": offset}
    given["intended_ns"] = START_NS + number * 10 * MS
    kind = rng.random()
    if kind < 0.05:
        given["error"] = "timed out"
    elif kind < 0.08:
        given["acked_ns"] = None
    if kind < 0.04 or 0.06 < kind < 0.12:
        given["offset"] = None
        if kind > 0.09:
            given["partition"] = None
    send = case.send(number // _PRODUCERS, **given)
    return {"read_partition": place[1], "read_offset": offset} | send


def _as_read(rng: random.Random, log: list[Row]) -> list[Row]:
    """The log with losses, repeats, swaps, damage and foreign records."""
    read: list[Row] = []
    for send in log:
        record = send | {"partition": send["read_partition"], "offset": send["read_offset"]}
        chance = rng.random()
        if chance < 0.08:
            continue
        if chance < 0.12:
            read.append(record | {"state": events.CORRUPT, "producer": 9, "sequence": -1})
        elif chance < 0.15:
            read.append(record | {"state": events.UNEXPECTED, "producer": 9, "sequence": -1})
        else:
            read.append(record)
        if chance > 0.90:
            read.append(record)
        if 0.85 < chance < 0.88:
            read.append(record | {"sequence": record["sequence"] + 100_000})
        if 0.82 < chance < 0.85:
            read.append(record | {"state": rng.choice([1, 2]), "offset": 1_000_000 + len(read)})
    for _ in range(rng.randrange(6)):
        a, b = rng.randrange(len(read)), rng.randrange(len(read))
        read[a], read[b] = read[b], read[a]
    return read[: len(read) - rng.randrange(5)]


def count_by_hand(case: CaseEvents, topic_names: list[str]) -> dict[tuple[Any, ...], Counter[str]]:
    """(scope, topic, partition, second, phase) → counts, one event after the other."""
    tally: dict[tuple[Any, ...], Counter[str]] = defaultdict(Counter)
    start_ns = min(send["intended_ns"] for send in case.sends)
    firsts, copies, late = _copies(case)
    damage = Counter((r["topic"], r["partition"], r["offset"]) for r in case.receives if r["state"])
    matched: set[tuple[int, int, int]] = set()
    for send in case.sends:
        key = (send["producer"], send["sequence"])
        first = firsts.get(key)
        acked = send["acked_ns"] is not None and send["error"] is None
        place = (send["topic"], send["partition"], send["offset"])
        corrupt = damage[place] if acked and send["offset"] is not None else 0
        if corrupt:
            matched.add(place)
        partition = (
            send["partition"] if first is None or send["partition"] is not None else first["partition"]
        )
        missing = acked and not copies[key] and not corrupt
        later = missing and _is_passed(case, send)
        counts = Counter(
            sent=1,
            acked=int(acked),
            failed=int(send["error"] is not None),
            received=int(copies[key] > 0),
            lost_write=int(missing and later),
            unseen=int(missing and not later),
            duplicate=max(0, copies[key] - 1),
            out_of_order=int(key in late),
            corrupt=corrupt,
            unexpected=0,
        )
        phase = "warm_up" if send["sequence"] < _WARM_UP else "measure"
        topic, second = topic_names[send["topic"]], (send["intended_ns"] - start_ns) // SECOND
        _add(tally, counts, phase=phase, place=(topic, partition), second=second)
    sent = {(send["producer"], send["sequence"]) for send in case.sends}
    for record in case.receives:
        place = (record["topic"], record["partition"], record["offset"])
        name = None
        if record["state"] == events.INTACT and (record["producer"], record["sequence"]) not in sent:
            name = "unexpected"
        elif record["state"] != events.INTACT and place not in matched:
            name = "corrupt" if record["state"] == events.CORRUPT else "unexpected"
        if name:
            read_at = (topic_names[record["topic"]], record["partition"])
            _add(tally, Counter({name: 1}), phase="measure", place=read_at, second=None)
    return tally


def _copies(case: CaseEvents) -> tuple[dict[Any, Row], Counter[Any], set[Any]]:
    """First intact copy of each message, number of copies, and which first copies came late."""
    firsts: dict[Any, Row] = {}
    copies = Counter[Any]()
    highest: dict[Any, int] = {}
    overtaken: dict[Any, bool] = {}
    for record in sorted(case.receives, key=lambda r: (r["received_ns"], r["consumer"], r["arrival"])):
        if record["state"] != events.INTACT:
            continue
        key = (record["producer"], record["sequence"])
        lane = (record["consumer"], record["producer"], record["topic"], record["partition"])
        copies[key] += 1
        if key not in firsts:
            firsts[key] = record
            overtaken[key] = highest.get(lane, -1) > record["sequence"]
        highest[lane] = max(highest.get(lane, -1), record["sequence"])
    sent = {(send["producer"], send["sequence"]) for send in case.sends}
    return firsts, copies, {key for key, late in overtaken.items() if late and key in sent}


def _is_passed(case: CaseEvents, send: Row) -> bool:
    if send["offset"] is not None:
        return any(
            (r["topic"], r["partition"]) == (send["topic"], send["partition"])
            and r["offset"] > send["offset"]
            for r in case.receives
        )
    return any(
        (r["topic"], r["producer"], r["state"]) == (send["topic"], send["producer"], events.INTACT)
        and r["sequence"] > send["sequence"]
        for r in case.receives
    )


def _add(
    tally: dict[tuple[Any, ...], Counter[str]],
    counts: Counter[str],
    *,
    phase: str,
    place: tuple[str, int | None],
    second: int | None,
) -> None:
    topic, partition = place
    tally["case", None, None, None, phase].update(counts)
    tally["topic", topic, None, None, phase].update(counts)
    if partition is not None:
        tally["partition", topic, partition, None, phase].update(counts)
    if second is not None:
        tally["second", None, None, second, phase].update(counts)
