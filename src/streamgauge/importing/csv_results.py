"""CSV files of load tests: k6, Locust, and the Go benchmark of Kafka (`KafkaPerf-….csv`)."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

import numpy as np

from streamgauge.importing.figures import (
    NotThisFormat,
    ToolCase,
    ToolInterval,
    ToolLatency,
    count,
    number,
    optional_number,
    percentile_name,
)

K6_MARK = "metric_name,timestamp,metric_value"
LOCUST_MARK, LOCUST_HISTORY_MARK = "Type,Name,Request Count,Failure Count", "Timestamp,User Count,Type,Name"
KAFKA_PERF_MARK = "Topic, Prtn, MsgSize, Messages, MinLat, MaxLat, AvgLat"

_CLOSED_LOOP = (
    "A virtual user waits for each answer before it asks again: while the system stalls, nobody asks "
    "(coordinated omission)."
)
_WHOLE_SECONDS = "k6 writes times in whole seconds: the rate is that exact, and no more."
_SHARES = (0.0, *(1 - 10.0 ** -(n / 8) for n in range(1, 33)), 1.0)
_PERCENTS = (50.0, 75.0, 90.0, 95.0, 99.0, 99.9)
_KIB = 1024


def read_k6(text: str) -> list[ToolCase]:
    """A row a sample: percentiles are exact, over all requests of the file."""
    times: dict[str, list[float]] = {}
    seconds: list[float] = []
    requests = failed = 0
    for line, row in enumerate(rows_of(text), 2):
        name, where = row["metric_name"], f"k6, line {line}"
        value = number(row["metric_value"], where)
        if name == "http_reqs":
            requests += int(value)
        elif name == "http_req_failed":
            failed += int(value > 0)
        elif name.endswith("_duration"):
            times.setdefault(name, []).append(value)
            if name in ("http_req_duration", "iteration_duration"):
                seconds.append(_k6_time_s(row["timestamp"], where))
    main = next((name for name in ("http_req_duration", "iteration_duration") if name in times), None)
    if main is None:
        raise NotThisFormat("k6: has neither http_req_duration nor iteration_duration")
    legs = [main, *(name for name in times if name != main)]
    total = requests or len(times[main])
    is_whole = all(second.is_integer() for second in seconds)
    return [
        ToolCase(
            "k6",
            [_exact(name, times[name]) for name in legs],
            rate_per_s=_k6_rate(total, seconds, is_whole),
            message_count=total,
            failed_count=failed if requests else None,
            notes=(_CLOSED_LOOP, *([_WHOLE_SECONDS] if is_whole else [])),
        )
    ]


def _k6_time_s(text: str, where: str) -> float:
    """In whichever of its formats (K6_CSV_TIME_FORMAT): the unit of a number is told by its size, as all are
    since 1970 and none is of before 1973."""
    if "T" in text:
        try:
            return datetime.fromisoformat(text).timestamp()
        except ValueError:
            raise NotThisFormat(f"{where}: {text!r} is no time") from None
    value = number(text, where)
    return value / next((per_s for per_s in (1e9, 1e6, 1e3) if value >= 1e8 * per_s), 1.0)


def _k6_rate(total: int, seconds: Sequence[float], is_whole: bool) -> float | None:
    """Of whole seconds the last one counts; else what came after the first time does."""
    lasted_s = max(seconds) - min(seconds)
    if is_whole:
        return total / (lasted_s + 1)
    return (total - seconds.count(min(seconds))) / lasted_s if lasted_s else None


def _exact(leg: str, values_ms: Sequence[float]) -> ToolLatency:
    values = np.array(values_ms)
    return ToolLatency(
        leg,
        count=len(values),
        mean=float(values.mean()),
        min=float(values.min()),
        max=float(values.max()),
        percentiles={percentile_name(p): float(np.percentile(values, p)) for p in _PERCENTS},
        curve=[(share, float(np.quantile(values, share))) for share in _SHARES],
    )


def read_locust(text: str) -> list[ToolCase]:
    """`_stats.csv`: a case for each request; `Aggregated` stands for all where there are several."""
    rows = list(rows_of(text))
    named = [row for row in rows if row["Name"] != "Aggregated"]
    cases = [_locust_case(row) for row in (named if len(named) == 1 else rows) if row["Request Count"] != "0"]
    if not cases:
        raise NotThisFormat("Locust: has no request that was made")
    return cases


def _locust_case(row: Mapping[str, str]) -> ToolCase:
    where = f"Locust, {row['Name']}"
    percentiles = _percent_columns(row, where)
    total = count(row["Request Count"], where)
    latency = ToolLatency(
        "request → response",
        count=total,
        mean=number(row["Average Response Time"], where),
        min=optional_number(row.get("Min Response Time"), where),
        max=optional_number(row.get("Max Response Time"), where),
        percentiles=percentiles,
    )
    return ToolCase(
        "locust",
        [latency],
        rate_per_s=number(row["Requests/s"], where),
        message_count=total,
        failed_count=count(row["Failure Count"], where),
        settings={"request": f"{row['Type']} {row['Name']}".strip()},
        notes=(_CLOSED_LOOP, "Locust rounds percentiles to two figures."),
    )


def _percent_columns(row: Mapping[str, str], where: str) -> dict[str, float]:
    """Columns such as `99.9%`; 100% is the maximum, which has a column of its own."""
    found = {}
    for name, text in row.items():
        if name and name.endswith("%") and name != "100%":
            value = optional_number(text, where)
            if value is not None:
                found[percentile_name(number(name[:-1], where))] = value
    return found


def read_locust_history(text: str) -> list[ToolCase]:
    """`_stats_history.csv`: how it went on. Its columns `Total …` are of the whole run, and speak for it; the
    others are of the last ten seconds."""
    rows = [row for row in rows_of(text) if row["Name"] == "Aggregated"]
    if not rows:
        raise NotThisFormat("Locust history: has no row of all requests (Aggregated)")
    where = "Locust history"
    begin = number(rows[0]["Timestamp"], where)
    intervals = [
        ToolInterval(
            number(row["Timestamp"], where) - begin,
            optional_number(row["Requests/s"], where),
            p99_ms=optional_number(row.get("99%"), where),
        )
        for row in rows
    ]
    first, last = rows[0], rows[-1]
    lasted_s = number(last["Timestamp"], where) - begin
    total = optional_number(last.get("Total Request Count"), where)
    before = optional_number(first.get("Total Request Count"), where) or 0.0
    failed = optional_number(last.get("Total Failure Count"), where)
    half = optional_number(last.get("Total Median Response Time"), where)
    latency = ToolLatency(
        "request → response",
        count=None if total is None else int(total),
        mean=optional_number(last.get("Total Average Response Time"), where),
        min=optional_number(last.get("Total Min Response Time"), where),
        max=optional_number(last.get("Total Max Response Time"), where),
        percentiles={} if half is None else {percentile_name(50.0): half},
    )
    return [
        ToolCase(
            "locust",
            [latency],
            rate_per_s=None if total is None or lasted_s <= 0 else (total - before) / lasted_s,
            message_count=None if total is None else int(total),
            failed_count=None if failed is None else int(failed),
            intervals=intervals,
            notes=(
                _CLOSED_LOOP,
                "Percentiles of the history are of ten seconds each, so none but the median is told of the "
                "whole run: import _stats.csv for these.",
            ),
        )
    ]


def read_kafka_perf(text: str) -> list[ToolCase]:
    """A row a round; rounds of the same settings are repeats of each other."""
    cases = [_kafka_perf_case(row, line) for line, row in enumerate(rows_of(text, strip=True), 2)]
    if not cases:
        raise NotThisFormat("KafkaPerf: has no row below its columns")
    return cases


def _kafka_perf_case(row: Mapping[str, str], line: int) -> ToolCase:
    where = f"KafkaPerf, line {line}"
    latency = ToolLatency(
        "send → receipt",
        count=count(row["Messages"], where),
        mean=optional_number(row.get("AvgMs") or row["AvgLat"], where),
        min=optional_number(row.get("MinMs") or row["MinLat"], where),
        max=optional_number(row.get("MaxMs") or row["MaxLat"], where),
        percentiles={
            name.removesuffix("Ms").lower(): value
            for name, text in row.items()
            if re.fullmatch(r"P[\d.]+Ms", name) and (value := optional_number(text, where)) is not None
        },
    )
    kib_per_s = optional_number(row["Kbps"], where)
    return ToolCase(
        "kafka-perf",
        [latency],
        rate_per_s=optional_number(row["Msgps"], where),
        bytes_per_s=None if kib_per_s is None else kib_per_s * _KIB,
        message_count=count(row["Messages"], where),
        settings={
            "topic": count(row["Topic"], where),
            "partition": count(row["Prtn"], where),
            "message.size": count(row["MsgSize"], where),
        },
        notes=(
            "Runtime is the sum of the partitions' own times, and the rate follows from it.",
            "The time of a message is taken before its payload is made.",
        ),
    )


def rows_of(text: str, *, strip: bool = False, delimiter: str = ",") -> Iterator[dict[str, str]]:
    """Each with a cell for every column; a shorter one says which line was cut off."""
    reader = csv.reader(io.StringIO(text.lstrip("\ufeff")), strict=True, delimiter=delimiter)
    try:
        names = [name.strip() for name in next(reader)] if strip else next(reader)
        for cells in reader:
            if not cells:
                continue
            if len(cells) != len(names):
                raise NotThisFormat(
                    f"line {reader.line_num}: has {len(cells)} of {len(names)} cells: cut off, or not CSV"
                )
            yield dict(zip(names, (cell.strip() for cell in cells) if strip else cells, strict=True))
    except (csv.Error, StopIteration) as error:
        raise NotThisFormat(f"line {reader.line_num}: is not CSV: {error}") from None
