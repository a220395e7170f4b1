"""The text that Kafka's own performance tools print."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from streamgauge.importing.figures import (
    NotThisFormat,
    ToolCase,
    ToolInterval,
    ToolLatency,
    count,
    number,
    percentile_name,
)

_MIB = 1024**2
_NUMBER = r"[\d.]+(?:[eE][+-]?\d+)?"
_SENT = re.compile(
    rf"(?P<count>\d+) records sent, (?P<rate>{_NUMBER}) records/sec \((?P<mib>{_NUMBER}) MB/sec\), "
    rf"(?P<mean>{_NUMBER}) ms avg latency, (?P<max>{_NUMBER}) ms max latency(?P<tail>.*)"
)
_NTH = re.compile(rf"(?P<value>{_NUMBER}) ms (?P<percent>{_NUMBER})th")
_OF_E2E = re.compile(rf"Avg latency: (?P<mean>{_NUMBER}) ms")
_E2E_NTH = re.compile(rf"(?P<percent>{_NUMBER})th = (?P<value>{_NUMBER})")

PRODUCER_MARK, E2E_MARK, CONSUMER_MARK = " records sent, ", "Avg latency: ", "data.consumed.in.nMsg"

_STAMPED_LATE = (
    "Latency runs from the actual send: a message that had to wait for its turn is not counted for that time "
    "(coordinated omission)."
)
_WARM_UP_INCLUDED = "The first seconds, in which Java is still compiled, are in all figures."
_E2E_STEPS = "One message at a time; percentiles are cut to whole milliseconds."


def read_producer_perf(text: str) -> list[ToolCase]:
    """`kafka-producer-perf-test`: the last line is of all records, the ones before of windows."""
    found = [match for line in text.splitlines() if (match := _SENT.fullmatch(line.strip()))]
    totals = [match for match in found if _NTH.search(match["tail"])]
    if not totals:
        raise NotThisFormat(
            "kafka-producer-perf-test: the last line, with percentiles, is missing: it did not come to its "
            "end"
        )
    # With --warmup-records there are two such lines: of all records, and of those after the warm-up.
    last = totals[-1]
    windows = list(_windows([match for match in found if match not in totals]))
    where = "kafka-producer-perf-test"
    latency = ToolLatency(
        "send → ack",
        count=count(last["count"], where),
        mean=number(last["mean"], where),
        max=number(last["max"], where),
        percentiles={
            percentile_name(number(nth["percent"], where)): number(nth["value"], where)
            for nth in _NTH.finditer(last["tail"])
        },
    )
    return [
        ToolCase(
            "kafka-producer-perf-test",
            [latency],
            rate_per_s=number(last["rate"], where),
            bytes_per_s=number(last["mib"], where) * _MIB,
            message_count=count(last["count"], where),
            intervals=windows,
            notes=(_STAMPED_LATE, _WARM_UP_INCLUDED),
        )
    ]


def _windows(found: list[re.Match[str]]) -> Iterator[ToolInterval]:
    """Where each begins follows from how long the ones before took."""
    second, where = 0.0, "kafka-producer-perf-test: a window"
    for match in found:
        rate = number(match["rate"], where)
        yield ToolInterval(
            second, rate, mean_ms=number(match["mean"], where), max_ms=number(match["max"], where)
        )
        second += count(match["count"], where) / rate if rate else 0.0


def read_consumer_perf(text: str) -> list[ToolCase]:
    """`kafka-consumer-perf-test`, with or without --show-detailed-stats."""
    lines = [line for line in text.splitlines() if line.strip()]
    place = next((at for at, line in enumerate(lines) if CONSUMER_MARK in line), None)
    where = "kafka-consumer-perf-test"
    if place is None:
        raise NotThisFormat(f"{where}: has no line that names its columns")
    names = [name.strip() for name in lines[place].split(",")]
    rows = [
        dict(zip(names, cells, strict=True)) for line in lines[place + 1 :] if (cells := _cells(line, names))
    ]
    if not rows:
        raise NotThisFormat(f"{where}: has no figures below its columns: it did not come to its end")
    last = rows[-1]
    detailed = "start.time" not in last
    per_s = "nMsg.sec" if not detailed else None
    messages = count(last[CONSUMER_MARK], where)
    seconds = _lasted_s(rows[0], last, where)
    rate = number(last[per_s], where) if per_s else messages / seconds if seconds else None
    mib = number(last["data.consumed.in.MB"], where)
    return [
        ToolCase(
            where,
            rate_per_s=rate,
            bytes_per_s=number(last["MB.sec"], where) * _MIB
            if per_s
            else mib * _MIB / seconds
            if seconds
            else None,
            message_count=messages,
            intervals=list(_detailed(rows, where)) if detailed else (),
            notes=("The time to join the group is in the rate.", "It measures no latency."),
        )
    ]


def _cells(line: str, names: list[str]) -> list[str] | None:
    cells = [cell.strip() for cell in line.split(",")]
    return cells if len(cells) == len(names) and any(cell[:1].isdigit() for cell in cells) else None


def _lasted_s(first: dict[str, str], last: dict[str, str], where: str) -> float:
    if "start.time" in first:
        return max(0.0, _seconds_between(first["start.time"], last["end.time"], where))
    return _first_lasted_s(first, where) + max(0.0, _seconds_between(first["time"], last["time"], where))


def _first_lasted_s(first: dict[str, str], where: str) -> float:
    """A row of --show-detailed-stats has the time at which its interval ended: the first tells by its rate
    when it began."""
    rate = number(first["nMsg.sec"], where)
    return count(first[CONSUMER_MARK], where) / rate if rate else 0.0


def _seconds_between(begin: str, end: str, where: str) -> float:
    return (_time(end, where) - _time(begin, where)).total_seconds()


def _time(text: str, where: str) -> datetime:
    # 2026-01-02 03:04:05:678, as Java's usual format has it.
    day, _, thousandths = text.rpartition(":")
    try:
        return datetime.strptime(f"{day}.{thousandths}", "%Y-%m-%d %H:%M:%S.%f")
    except ValueError:
        raise NotThisFormat(f"{where}: {text!r} is no time") from None


def _detailed(rows: list[dict[str, str]], where: str) -> Iterator[ToolInterval]:
    ended_s = [
        _first_lasted_s(rows[0], where) + _seconds_between(rows[0]["time"], row["time"], where)
        for row in rows
    ]
    for began_s, row in zip([0.0, *ended_s], rows, strict=False):
        yield ToolInterval(began_s, number(row["nMsg.sec"], where))


def read_end_to_end(text: str) -> list[ToolCase]:
    """`kafka-e2e-latency`: an average, and percentiles in whole ms."""
    where = "kafka-e2e-latency"
    mean = _OF_E2E.search(text)
    nths = list(_E2E_NTH.finditer(text[mean.end() :])) if mean else []
    if mean is None or not nths:
        raise NotThisFormat(f"{where}: the percentiles are missing: it did not come to its end")
    latency = ToolLatency(
        "send → receipt, one at a time",
        mean=number(mean["mean"], where),
        percentiles={percentile_name(number(n["percent"], where)): number(n["value"], where) for n in nths},
    )
    return [ToolCase(where, [latency], notes=(_E2E_STEPS, _WARM_UP_INCLUDED))]
