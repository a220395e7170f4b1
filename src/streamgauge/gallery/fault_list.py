"""The faults of the gallery: what each is called, does wrong and should do instead, and its two figures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from streamgauge.comparing.blocks import blocks_of
from streamgauge.comparing.estimates import mean_estimate
from streamgauge.core.clock import NS_PER_MS
from streamgauge.gallery import faulty
from streamgauge.gallery.faulty import Messages
from streamgauge.report.case_document import BriefStatistics, Case


@dataclass(frozen=True)
class MeasuringFault:
    """`wrong` measures with the fault; `true` is what we report, or work out by the same rules."""

    name: str
    figure: str
    unit: str
    wrong: Callable[[Messages], float]
    true: Callable[[Case, Messages], float | None]
    what: str
    instead: str
    seen_in: str


def _p99(case: Case, _: Messages) -> float | None:
    return case.main_latency.p99


def _mean(case: Case, _: Messages) -> float | None:
    return case.main_latency.mean


def _p50(case: Case, _: Messages) -> float | None:
    return case.main_latency.p50


def _early_mean(_: Case, messages: Messages) -> float:
    return faulty.early_mean(messages)


def _mean_of_last_second(case: Case, _: Messages) -> float | None:
    of_second: dict[int, BriefStatistics] = {
        each.second: getattr(each.latency_ms, case.main_leg) for each in case.seconds
    }
    return of_second[max(second for second, found in of_second.items() if found.count)].mean


def _lost(case: Case, _: Messages) -> float:
    return case.accounting.lost_write + case.accounting.unseen


def _interval_of_mean(_: Case, messages: Messages) -> float | None:
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


_P99, _EARLY_MEAN = "p99", "mean before the stall"

FAULTS = (
    MeasuringFault(
        "closed loop (coordinated omission)",
        _P99,
        "ms",
        faulty.closed_loop_p99,
        _p99,
        "Each message waits for the one before it. While the system stalls, nothing is sent, so one message "
        "is late instead of 1,500.",
        "Open loop: message k is due at start + k/rate, whatever happens to the others.",
        "k6, Locust, most HTTP load tools",
    ),
    MeasuringFault(
        "stamped at the actual send",
        _P99,
        "ms",
        faulty.actual_send_p99,
        _p99,
        "A client that accepts no message while 100 are on their way sends the next one late, and starts its "
        "clock late too.",
        "Latency runs from when the message was due. How late it was sent is a separate figure.",
        "kafka-producer-perf-test, kafka-e2e-perf-test",
    ),
    MeasuringFault(
        "a pause after each send",
        "sent",
        "/s",
        faulty.pause_after_send_rate,
        lambda case, _: case.throughput.sent_messages_per_s,
        "The sender sleeps for 1 ms after each send, and calls that 1,000 messages a second. The time that "
        "it waits for a place among 100 messages in flight comes on top.",
        "Due times come from the clock, so a late message does not delay the next one.",
        "Lightstreamer's benchmark",
    ),
    MeasuringFault(
        "one burst a second",
        "mean",
        "ms",
        faulty.burst_a_second_mean,
        _mean,
        "The messages of a second are all sent at its beginning, so twelve moments are measured. The stall "
        "covers two of them, and 2,000 messages count as late instead of 1,500.",
        "Messages are spread evenly over time: each has its own due time.",
        "kafka-e2e-perf-test",
    ),
    MeasuringFault(
        "a test of one second",
        _P99,
        "ms",
        faulty.one_second_p99,
        _p99,
        "1,000 messages at 1,000 a second are over before the broker stalls for the first time.",
        "A run that is too short to show that the load had settled may not be quoted.",
        "transport-bench",
    ),
    MeasuringFault(
        "mean of percentiles",
        _P99,
        "ms",
        faulty.mean_of_percentiles,
        _p99,
        "The p99 of every second, averaged: only two of the twelve seconds contain the stall.",
        "Histograms are added up, and percentiles are computed once, over all messages.",
        "dashboards",
    ),
    MeasuringFault(
        "histograms merged by percentile",
        _P99,
        "ms",
        faulty.percentiles_merged,
        _p99,
        "Each of ten parts of a run has its own p99, and their median is reported.",
        "Bucket counts can be added; percentiles cannot.",
        "scripts around several clients",
    ),
    MeasuringFault(
        "the best of N",
        _P99,
        "ms",
        faulty.least_of_n_p99,
        _p99,
        "The best of ten rounds is published: one without the stall.",
        "Every round counts, and the interval shows how far they are apart.",
        "microbenchmarks",
    ),
    MeasuringFault(
        "outliers dropped",
        "p99.9",
        "ms",
        faulty.outliers_dropped_p99_9,
        lambda case, _: case.main_latency.p99_9,
        "Values more than three standard deviations away are dropped as noise, but they are the tail.",
        "No message is dropped, however far away it is.",
        "spreadsheets",
    ),
    MeasuringFault(
        "the tail ends at p98",
        "highest shown",
        "ms",
        faulty.tail_at_p98,
        lambda case, _: case.main_latency.max,
        "The last percentile shown is p98. One message in fifty is above it, and may be anything.",
        "p50 to p99.9 and the maximum are shown beside mean and SD.",
        "Lightstreamer's benchmark",
    ),
    MeasuringFault(
        "warm-up included",
        _EARLY_MEAN,
        "ms",
        faulty.warm_up_included_mean,
        _early_mean,
        "The mean includes the first seconds, in which everything is still slow.",
        "Measuring begins when the load has settled, and the report shows when that was.",
        "kafka-producer-perf-test, streamgauge 0.1",
    ),
    MeasuringFault(
        "earlier rounds not cleared",
        "mean of the last second",
        "ms",
        faulty.never_cleared_mean,
        _mean_of_last_second,
        "The list of results is never cleared, so the last round also contains every round before it. Here a "
        "round is a second, and the stall fell into an earlier one.",
        "Each case, and each second of it, has its own figures.",
        "KNet's benchmark",
    ),
    MeasuringFault(
        "lost counted as 0",
        "mean",
        "ms",
        faulty.lost_as_zero_mean,
        _mean,
        "A lost message has no receive time. Stored as 0, it counts as a perfect latency.",
        "Lost messages are counted as lost, and the run fails.",
        "result lists filled with zeros",
    ),
    MeasuringFault(
        "lost left out of a share",
        "within 10 ms",
        "%",
        faulty.lost_left_out_percent,
        lambda _, messages: faulty.within_percent(messages),
        "The share of messages that meet an objective is taken of those that arrived. Lost messages have "
        "missed it, too.",
        "Shares are taken of the messages sent, and lost=0 is a separate objective.",
        "service-level reports",
    ),
    MeasuringFault(
        "duplicates make up for losses",
        "lost",
        "messages",
        faulty.lost_by_count,
        _lost,
        "Messages received are subtracted from messages sent. A message that arrives twice hides one that "
        "never arrives.",
        "Every message has an id: lost messages and duplicates are counted separately.",
        "kafka-e2e-perf-test",
    ),
    MeasuringFault(
        "clock offset ignored",
        "p50",
        "ms",
        faulty.clock_ignored_p50,
        _p50,
        "The receiver's clock is 1.5 ms behind, so two thirds of the latency disappear.",
        "The offset between hosts is measured before and after, corrected, and shown with its error.",
        "tests over two hosts",
    ),
    MeasuringFault(
        "whole milliseconds, none at or below 0",
        _EARLY_MEAN,
        "ms",
        faulty.whole_ms_mean,
        _early_mean,
        "Both clocks count whole milliseconds, one of them is behind, and results at or below zero are "
        "dropped.",
        "Times are in nanoseconds; a latency below zero is kept and counted.",
        "OpenMessaging Benchmark",
    ),
    MeasuringFault(
        "mean in whole numbers",
        _EARLY_MEAN,
        "ms",
        faulty.integer_mean,
        _early_mean,
        "Each latency is rounded down to whole milliseconds, and so is their mean.",
        "Latencies are kept in nanoseconds, and the mean has decimals.",
        "Lightstreamer's benchmark",
    ),
    MeasuringFault(
        "a set of values",
        "p50",
        "ms",
        faulty.distinct_values_p50,
        _p50,
        "Latencies are kept in a set, so a value that occurs a hundred times counts as much as one that "
        "occurs once.",
        "Every message counts. Percentiles are exact, or within 0.05%.",
        "transport-bench",
    ),
    MeasuringFault(
        "coarse buckets",
        "p50",
        "ms",
        faulty.coarse_buckets_p50,
        _p50,
        "Each bucket is twice as wide as the one before it, and its upper end is reported.",
        "The middle of a bucket is within 0.05% of every value in it.",
        "broker metrics",
    ),
    MeasuringFault(
        "one stamp for a batch",
        "rate",
        "/s",
        faulty.batch_stamp_rate,
        lambda case, _: case.out_per_s,
        "All messages of a batch get the same time, so a thousand messages in two batches seem to take the "
        "time of one batch.",
        "A rate is a count over a time much longer than a batch, and short runs may not be quoted.",
        "streamgauge 0.1",
    ),
    MeasuringFault(
        "the last pause subtracted",
        "rate within bursts",
        "/s",
        faulty.last_pause_subtracted_rate,
        lambda _, messages: faulty.bursts_rate(messages),
        "There are four pauses between five bursts, but five are subtracted.",
        "Only the time between two bursts is a pause.",
        "streamgauge 0.1",
    ),
    MeasuringFault(
        "A always runs first",
        "p50 of A to B",
        "×",
        faulty.always_first_ratio,
        lambda _, messages: faulty.in_turns_ratio(messages),
        "Here A and B are the same system, but A runs while it is still slow.",
        "Comparisons alternate (ABBA) once both sides are warm, with A against itself as a control.",
        "KNet's benchmark",
    ),
    MeasuringFault(
        "messages as independent trials",
        "mean ±",
        "ms",
        faulty.independent_error,
        _interval_of_mean,
        "12,000 messages look like 12,000 trials, but a single stall delayed 1,500 of them.",
        "Intervals come from blocks of time, and from repeats of the run.",
        "t-tests over messages",
    ),
)
