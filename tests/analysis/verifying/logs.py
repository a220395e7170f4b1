"""Logs as they should be, made up at random, and one defect of each kind to put into them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from streamgauge.core.findings import FindingKind
from streamgauge.tables.events import ABORTED, CORRUPT, PLANNED_ABORT, UNEXPECTED
from tests.analysis.recorded import CaseEvents, Row


@dataclass
class MadeLog:
    """A case before it is written down: what was sent, and every partition's log as it was read."""

    name: str
    random: Random
    load: Row
    sends: list[Row] = field(default_factory=list)
    logs: dict[tuple[int, int], list[Row]] = field(default_factory=dict)
    extra: list[Row] = field(default_factory=list)
    """Read after all else, by whoever reads the place."""

    def events(self) -> CaseEvents:
        case = CaseEvents(self.name, load=self.load)
        case.sends = self.sends
        consumers = self.load["consumers"]
        places = sorted(self.logs)
        left = {place: list(self.logs[place]) for place in places}
        while any(left.values()):
            place = self.random.choice([place for place in places if left[place]])
            for record in [
                left[place].pop(0) for _ in range(min(len(left[place]), self.random.randint(1, 9)))
            ]:
                case.receive(record, consumer=record.get("reader", places.index(place) % consumers))
        for record in self.extra:
            place = (record["topic"], record["partition"])
            case.receive(record, consumer=record.get("consumer", places.index(place) % consumers))
        return case

    def any_record(self) -> tuple[list[Row], int]:
        """A place in a log that has something behind it of which a send is known and acknowledged."""
        log = self.random.choice([log for log in self.logs.values() if len(log) > 4])
        acked = [n for n, record in enumerate(log[:-1]) if record["acked_ns"] and record["error"] is None]
        return log, self.random.choice(acked)


def clean_log(name: str, seed: int) -> MadeLog:
    """Nothing that is promised is broken: failures, silence and gaps are no defects."""
    random = Random(seed)
    producers, topics, partitions = random.randint(1, 3), random.randint(1, 2), random.randint(1, 3)
    load: Row = {
        "messages": 1000,
        "producers": producers,
        "consumers": random.randint(1, topics * partitions),
        "topics": {"count": topics, "partitions": partitions},
    }
    made = MadeLog(name, random, load)
    made.logs = {(topic, partition): [] for topic in range(topics) for partition in range(partitions)}
    case, ends = CaseEvents(name), dict.fromkeys(made.logs, random.choice([0, 0, 700]))
    for number in range(random.randint(30, 90) * len(made.logs)):
        place = random.choice(list(made.logs))
        ends[place] += random.choice([0] * 12 + [1, 2])  # markers of transactions take offsets, too
        fate = random.choice(["acked"] * 20 + ["unheard of", "failed", "failed but there", "no offset"])
        given: Row = {"producer": number % producers, "topic": place[0], "partition": place[1]}
        send = case.send(number // producers, **given, offset=ends[place])
        record = dict(send)
        if fate in ("failed", "failed but there"):
            send |= {"error": "timed out", "offset": None, "partition": None}
        if fate == "unheard of":
            send |= {"acked_ns": None, "offset": None, "partition": None}
        if fate == "no offset":
            send |= {"offset": None}
        if fate != "failed" and not (fate == "unheard of" and random.random() < 0.5):
            made.logs[place].append(record | {"acked_ns": send["acked_ns"], "error": send["error"]})
            made.logs[place][-1]["send"] = send
            ends[place] += 1
    made.sends = case.sends
    return made


def transactional_log(name: str, seed: int) -> MadeLog:
    """Every third transaction is aborted on purpose: it lies in the log, and nobody reads it."""
    made, messages = clean_log(name, seed), 5
    made.load |= {"acks": "all", "transactions": {"messages": messages, "abort_every": 3}}
    for send in made.sends:
        if send["sequence"] // messages % 3 == 2:
            send["error"] = PLANNED_ABORT
    for log in made.logs.values():
        log[:] = [record for record in log if record["send"]["error"] != PLANNED_ABORT]
    return made


def group_log(name: str, seed: int) -> MadeLog:
    """Partitions change hands while they are read, and who takes over begins where the last commit was."""
    made = clean_log(name, seed)
    members = len(made.logs)
    made.load |= {"subscription": "group", "consumers": members}
    for log in made.logs.values():
        readers = [made.random.randrange(members) for _ in range(2)]
        cut = made.random.randint(1, len(log) - 1)
        again = made.random.randint(0, min(3, cut))
        before = [record | {"reader": readers[0]} for record in log[:cut]]
        log[:] = before + [record | {"reader": readers[1]} for record in log[cut - again :]]
    return made


def retried_log(name: str, seed: int) -> MadeLog:
    """Without idempotence: what is sent again may lie there twice, and behind what was sent later."""
    made = clean_log(name, seed)
    duplicate(made)
    reordered(made)
    return made


CLEAN: tuple[Callable[[str, int], MadeLog], ...] = (clean_log, transactional_log, group_log)
"""Nothing that is promised is broken."""


@dataclass(frozen=True)
class Planted:
    """What has to be found: so many of a kind, and one with these marks among the examples."""

    kind: FindingKind
    count: int
    example: dict[str, Any]
    beside: frozenset[FindingKind] = frozenset()
    """What the same defect shows as, too."""


def _place(record: Row) -> dict[str, Any]:
    return {"partition": record["partition"], "offset": record["offset"]}


def _message(record: Row) -> dict[str, Any]:
    return {"producer": record["producer"], "sequence": record["sequence"]}


def lost_write(made: MadeLog) -> Planted:
    log, at = made.any_record()
    lost = log[at]
    del log[at]
    return Planted(FindingKind.LOST_WRITE, 1, _message(lost))


def unseen(made: MadeLog) -> Planted:
    """The end of a log: nothing behind it was read."""
    log, _ = made.any_record()
    cut = log[-made.random.randint(1, 5) :]
    for record in cut:
        record["send"] |= _place(record) | {"acked_ns": record["sent_ns"] + 1, "error": None}
    del log[-len(cut) :]
    return Planted(FindingKind.UNSEEN, len(cut), _message(cut[0]))


def aborted_read(made: MadeLog) -> Planted:
    log, at = made.any_record()
    log[at]["send"]["error"] = f"{ABORTED}: by the producer"
    return Planted(FindingKind.ABORTED_READ, 1, _message(log[at]))


def two_at_one_offset(made: MadeLog) -> Planted:
    """A log that was cut back: what was acknowledged there is gone, and something else has its place."""
    log, at = made.any_record()
    while log[at]["send"]["offset"] is None or log[at + 1]["send"]["offset"] is None:
        log, at = made.any_record()
    gone = log.pop(at + 1)
    taken = log[at]
    gone["send"]["offset"] = taken["offset"]
    return Planted(
        FindingKind.INCONSISTENT_OFFSETS,
        1,
        _place(taken),
        frozenset({FindingKind.LOST_WRITE, FindingKind.UNSEEN}),
    )


def acked_elsewhere(made: MadeLog) -> Planted:
    """Acknowledged at an offset at which nothing was ever read."""
    log, at = made.any_record()
    log[at]["send"]["offset"] = 1_000_000
    return Planted(FindingKind.INCONSISTENT_OFFSETS, 1, _message(log[at]))


def read_otherwise(made: MadeLog) -> Planted:
    """Another consumer reads another message at the same offset."""
    log, at = made.any_record()
    other = dict(log[at + 1], offset=log[at]["offset"], consumer=made.load["consumers"])
    made.extra.append(other)
    return Planted(
        FindingKind.INCONSISTENT_OFFSETS,
        1,
        _place(log[at]),
        frozenset({FindingKind.DUPLICATE}),
    )


def corrupt(made: MadeLog) -> Planted:
    log, at = made.any_record()
    log[at] = log[at] | {"state": CORRUPT, "producer": -3, "sequence": 1 << 50}
    return Planted(FindingKind.CORRUPT, 1, _place(log[at]))


def foreign(made: MadeLog) -> Planted:
    log, _ = made.any_record()
    offset = max(record["offset"] for record in log) + 5
    strange = log[-1] | {"state": UNEXPECTED, "producer": -3, "sequence": 1 << 50, "offset": offset}
    log.append(strange)
    return Planted(FindingKind.UNEXPECTED, 1, _place(strange))


def never_sent(made: MadeLog) -> Planted:
    log, _ = made.any_record()
    offset = max(record["offset"] for record in log) + 5
    log.append(log[-1] | {"sequence": 900_000, "offset": offset})
    return Planted(FindingKind.UNEXPECTED, 1, _message(log[-1]))


def reordered(made: MadeLog) -> Planted:
    """Two messages of one producer lie in the log the wrong way round, and everybody agrees on that."""
    for _ in range(1000):
        log, at = made.any_record()
        after = [n for n in range(at + 1, len(log)) if log[n]["producer"] == log[at]["producer"]][:1]
        if after and all(log[n]["send"]["offset"] is not None for n in (at, *after)):
            break
    one, two = log[at], log[after[0]]
    one["offset"], two["offset"] = two["offset"], one["offset"]
    one["send"]["offset"], two["send"]["offset"] = one["offset"], two["offset"]
    log[at], log[after[0]] = two, one
    return Planted(FindingKind.REORDERED, 1, _message(one))


def duplicate(made: MadeLog) -> Planted:
    log, at = made.any_record()
    again = dict(log[at], offset=max(record["offset"] for record in log) + 1)
    log.append(again)
    return Planted(FindingKind.DUPLICATE, 1, _message(again) | {"offset": again["offset"]})


def redelivered(made: MadeLog) -> Planted:
    log, at = made.any_record()
    count = min(3, len(log) - at)
    made.extra += log[at : at + count]
    return Planted(
        FindingKind.REDELIVERED, count, _message(log[at]), frozenset({FindingKind.NONMONOTONIC_POLL})
    )


def read_backwards(made: MadeLog) -> Planted:
    """A reader that goes back: what it had read already comes again."""
    log, at = made.any_record()
    made.extra.append(log[at])
    return Planted(
        FindingKind.NONMONOTONIC_POLL,
        1,
        _place(log[at]),
        frozenset({FindingKind.REDELIVERED}),
    )


DEFECTS: tuple[Callable[[MadeLog], Planted], ...] = (
    lost_write,
    unseen,
    aborted_read,
    two_at_one_offset,
    acked_elsewhere,
    read_otherwise,
    corrupt,
    foreign,
    never_sent,
    reordered,
    duplicate,
    redelivered,
    read_backwards,
)
