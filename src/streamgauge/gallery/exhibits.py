"""The gallery: each fault, what it would report of one run, and what is true of that run.

What is true comes from our own results of the run, as everybody gets them; a few figures that no report has
are worked out by the same rules.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc
from pydantic import BaseModel, ConfigDict

from streamgauge.comparing.blocks import blocks_of
from streamgauge.comparing.estimates import mean_estimate
from streamgauge.core.clock import NS_PER_MS
from streamgauge.core.errors import BadInput
from streamgauge.core.run_dir import RunDir
from streamgauge.gallery import faulty
from streamgauge.gallery.faulty import Messages
from streamgauge.report.case_document import Case, CasesDocument
from streamgauge.report.result_tables import read_result
from streamgauge.report.results import results_document
from streamgauge.tables.results import MESSAGES, WARM_UP


class Exhibit(BaseModel):
    """One fault."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    figure: str
    unit: str
    wrong: float
    true: float
    what: str
    """What is done wrong, and what follows."""
    instead: str
    """How it is done here."""
    seen_in: str
    """Where it was found."""

    @property
    def factor(self) -> float:
        """How far off it is, as a ratio above 1."""
        low, high = sorted((abs(self.wrong), abs(self.true)))
        return high / low if low else float("inf")


@dataclass(frozen=True)
class _Fault:
    name: str
    figure: str
    unit: str
    wrong: Callable[[Messages], float]
    true: Callable[[Case, Messages], float | None]
    what: str
    instead: str
    seen_in: str


def exhibits_of(run: RunDir) -> list[Exhibit]:
    document = results_document(run)
    if not isinstance(document, CasesDocument) or len(document.cases) != 1:
        raise BadInput(f"{run.location}: the gallery needs a run of one case of messages")
    [case] = document.cases
    messages = messages_of(run)
    return [_shown(fault, case, messages) for fault in _FAULTS]


def messages_of(run: RunDir) -> Messages:
    rows = read_result(run, MESSAGES).sort_by("intended_ns")
    due = rows.column("intended_ns").to_numpy()
    received = rows.column("received_ns").to_numpy(zero_copy_only=False).astype(np.float64)
    is_warm_up = pc.equal(rows.column("phase"), WARM_UP).to_numpy(zero_copy_only=False)
    return Messages((due - due[0]) / NS_PER_MS, (received - due[0]) / NS_PER_MS, is_warm_up)


def _shown(fault: _Fault, case: Case, messages: Messages) -> Exhibit:
    true = fault.true(case, messages)
    if true is None:
        raise BadInput(f"gallery: the run has no {fault.figure}")
    return Exhibit(
        name=fault.name,
        figure=fault.figure,
        unit=fault.unit,
        wrong=fault.wrong(messages),
        true=true,
        what=fault.what,
        instead=fault.instead,
        seen_in=fault.seen_in,
    )


def _interval_of_mean(case: Case, messages: Messages) -> float | None:
    """By blocks of time, as diff has it."""
    arrived = messages.measured.arrived
    latency, due, out = (
        np.rint(each * NS_PER_MS).astype(np.int64)
        for each in (arrived.latency, arrived.due, arrived.received)
    )
    found = mean_estimate(blocks_of(latency, due, out))
    if found is None or found.limits is None:
        return None
    low, high = found.limits(0.95)
    return (high - low) / 2 / NS_PER_MS


_P99 = "p99"
_FAULTS = (
    _Fault(
        "closed loop (coordinated omission)",
        _P99,
        "ms",
        faulty.closed_loop_p99,
        lambda case, _: case.main_latency.p99,
        "The next message waits for the one before. While the system stalls nobody sends, so one message is "
        "late instead of 1,500.",
        "Open loop: message k is due at start + k/rate, whatever became of the others.",
        "k6, Locust, most HTTP load tools",
    ),
    _Fault(
        "stamped at the actual send",
        _P99,
        "ms",
        faulty.actual_send_p99,
        lambda case, _: case.main_latency.p99,
        "A client that takes no more messages while 100 are on their way sends late, and the clock starts "
        "late with it.",
        "Latency runs from when the message was due; how late it was sent is a figure of its own.",
        "kafka-producer-perf-test, kafka-e2e-perf-test",
    ),
    _Fault(
        "mean of percentiles",
        _P99,
        "ms",
        faulty.mean_of_percentiles,
        lambda case, _: case.main_latency.p99,
        "The p99 of each second, averaged: the seconds of the stall are two of twelve.",
        "Histograms are added up, and percentiles are taken once, of all messages.",
        "dashboards",
    ),
    _Fault(
        "histograms merged by percentile",
        _P99,
        "ms",
        faulty.percentiles_merged,
        lambda case, _: case.main_latency.p99,
        "Ten parts of a run, each with its own p99, and the middle one of these is told.",
        "Counts of buckets are added; a percentile cannot be.",
        "scripts around several clients",
    ),
    _Fault(
        "the best of N",
        _P99,
        "ms",
        faulty.least_of_n_p99,
        lambda case, _: case.main_latency.p99,
        "Ten rounds, of which the best is published: the one without the stall.",
        "Every round counts, and the interval says how far they are apart.",
        "microbenchmarks",
    ),
    _Fault(
        "outliers dropped",
        "p99.9",
        "ms",
        faulty.outliers_dropped_p99_9,
        lambda case, _: case.main_latency.p99_9,
        "What is three standard deviations away is taken for noise: that is the tail itself.",
        "No message is dropped, at whatever distance.",
        "spreadsheets",
    ),
    _Fault(
        "the tail ends at p98",
        "highest told",
        "ms",
        faulty.tail_at_p98,
        lambda case, _: case.main_latency.max,
        "The last percentile shown is p98: one message in fifty may be anything.",
        "p50 to p99.9 and the maximum stand beside mean and SD.",
        "Lightstreamer's benchmark",
    ),
    _Fault(
        "warm-up included",
        "mean before the stall",
        "ms",
        faulty.warm_up_included_mean,
        lambda _, messages: faulty.early_mean(messages),
        "The first seconds, in which everything is cold, are in the mean.",
        "Measuring begins when the load is at rest, and the report shows where that was.",
        "kafka-producer-perf-test, streamgauge 0.1",
    ),
    _Fault(
        "lost counted as 0",
        "mean",
        "ms",
        faulty.lost_as_zero_mean,
        lambda case, _: case.main_latency.mean,
        "A message that never came has no receipt, and 0 − 0 is the best latency there is.",
        "Lost messages are counted as lost, and make the run fail.",
        "result lists filled with zeros",
    ),
    _Fault(
        "lost left out of a share",
        "within 10 ms",
        "%",
        faulty.lost_left_out_percent,
        lambda _, messages: faulty.within_percent(messages),
        "The share within an objective, of the messages that came. Those that never came have missed it.",
        "Shares are of the messages sent; lost=0 is an objective by itself.",
        "service-level reports",
    ),
    _Fault(
        "clock offset ignored",
        "p50",
        "ms",
        faulty.clock_ignored_p50,
        lambda case, _: case.main_latency.p50,
        "The receiver's clock is 1.5 ms behind: two thirds of the latency are gone.",
        "The offset between hosts is measured before and after, applied, and shown with its error.",
        "tests over two hosts",
    ),
    _Fault(
        "whole milliseconds, none at or below 0",
        "mean before the stall",
        "ms",
        faulty.whole_ms_mean,
        lambda _, messages: faulty.early_mean(messages),
        "Clocks tell whole milliseconds, one is behind, and what comes out at or below zero is dropped.",
        "Nanoseconds; a latency below zero is kept and counted.",
        "OpenMessaging Benchmark",
    ),
    _Fault(
        "mean in whole numbers",
        "mean before the stall",
        "ms",
        faulty.integer_mean,
        lambda _, messages: faulty.early_mean(messages),
        "Each latency is cut to whole milliseconds, and so is their mean.",
        "Nanoseconds as recorded; the mean has a fraction.",
        "Lightstreamer's benchmark",
    ),
    _Fault(
        "a set of values",
        "p50",
        "ms",
        faulty.distinct_values_p50,
        lambda case, _: case.main_latency.p50,
        "Latencies are kept in a set: a value that came a hundred times counts once, as a rare one does.",
        "Every message counts; percentiles are exact, or within 0.05%.",
        "transport-bench",
    ),
    _Fault(
        "coarse buckets",
        "p50",
        "ms",
        faulty.coarse_buckets_p50,
        lambda case, _: case.main_latency.p50,
        "Buckets double in width, and the upper end is told.",
        "Buckets of 0.05%.",
        "broker metrics",
    ),
    _Fault(
        "one stamp for a batch",
        "rate",
        "/s",
        faulty.batch_stamp_rate,
        lambda case, _: case.out_per_s,
        "All of a batch get one time, so a thousand messages in two batches take the time of one.",
        "Rates are counts over a time that is long beside a batch, and short runs are not to be quoted.",
        "streamgauge 0.1",
    ),
    _Fault(
        "the last pause subtracted",
        "rate within bursts",
        "/s",
        faulty.last_pause_subtracted_rate,
        lambda _, messages: faulty.bursts_rate(messages),
        "Five bursts have four pauses between them; five are taken off.",
        "Only what lies between two bursts is a pause.",
        "streamgauge 0.1",
    ),
    _Fault(
        "A always runs first",
        "p50 of A to B",
        "×",
        faulty.always_first_ratio,
        lambda *_: 1.0,
        "A and B are the same system here. A runs while it is cold.",
        "Comparisons take turns (ABBA), both sides warm, with A against itself as a control.",
        "KNet's benchmark",
    ),
    _Fault(
        "messages as independent trials",
        "mean ±",
        "ms",
        faulty.independent_error,
        _interval_of_mean,
        "Twelve thousand messages look like as many trials; one stall touched 1,500 of them.",
        "Intervals come from blocks of time and from repeats of the run.",
        "t-tests over messages",
    ),
)
