"""The faults of the gallery: what each is called, does wrong and should do instead, and its two figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from streamgauge.comparing.estimates import Estimate
from streamgauge.comparing.ratio import CONFIDENCE
from streamgauge.gallery import faulty
from streamgauge.gallery.faulty import Messages
from streamgauge.report.case_document import BriefStatistics, Case, Second

TIMES_MS = 10.0
"""Within which a message should have come."""
_EARLY_SECONDS = round(faulty.EARLY_MS / 1000)


@dataclass(frozen=True)
class Reported:
    """What streamgauge says of the run: its results, and what `diff` makes of them."""

    case: Case
    histogram: Sequence[tuple[float, int]]
    """Of the leg that speaks for the case: middle of a bucket in ms, and how many."""
    mean: Estimate | None
    """With its interval, in ms."""

    @property
    def measured(self) -> list[Second]:
        return [second for second in self.case.seconds if second.accounting.sent]

    def latency_of(self, second: Second) -> BriefStatistics:
        found: BriefStatistics = getattr(second.latency_ms, self.case.main_leg)
        return found


@dataclass(frozen=True)
class MeasuringFault:
    """`wrong` measures with the fault; `true` is what we report."""

    name: str
    figure: str
    unit: str
    wrong: Callable[[Messages], float]
    true: Callable[[Reported], float | None]
    what: str
    instead: str
    seen_in: str


def _p99(reported: Reported) -> float | None:
    return reported.case.main_latency.p99


def _mean(reported: Reported) -> float | None:
    return reported.case.main_latency.mean


def _p50(reported: Reported) -> float | None:
    return reported.case.main_latency.p50


def _early_mean(reported: Reported) -> float | None:
    """Of the seconds before the stall, which would hide what is small."""
    found = [reported.latency_of(second) for second in reported.measured[:_EARLY_SECONDS]]
    return sum(each.count * (each.mean or 0.0) for each in found) / sum(each.count for each in found)


def _mean_of_last_second(reported: Reported) -> float | None:
    return [each for second in reported.measured if (each := reported.latency_of(second)).count][-1].mean


def _within_percent(reported: Reported) -> float | None:
    """Of those that were sent: what never came is not within any bound."""
    within = sum(count for value_ms, count in reported.histogram if value_ms <= TIMES_MS)
    return 100 * within / reported.case.accounting.sent


def _rate_of_first_second(reported: Reported) -> float | None:
    return reported.measured[0].throughput.received_messages_per_s


def _in_turns_ratio(reported: Reported) -> float | None:
    """Of four seconds before the stall, in turns: A B B A."""
    a, b, again_b, again_a = (reported.latency_of(second).p50 or 0.0 for second in reported.measured[:4])
    return (a + again_a) / (b + again_b)


def _lost(reported: Reported) -> float | None:
    return reported.case.accounting.lost_write + reported.case.accounting.unseen


def _kilobits_per_s(reported: Reported) -> float | None:
    per_s = reported.case.throughput.received_bytes_per_s
    return None if per_s is None else per_s * 8 / 1000


def _interval_of_mean(reported: Reported) -> float | None:
    """By blocks of time, as diff has it."""
    if reported.mean is None or reported.mean.limits is None:
        return None
    low, high = reported.mean.limits(CONFIDENCE)
    return (high - low) / 2


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
        lambda reported: reported.case.throughput.sent_messages_per_s,
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
        lambda reported: reported.case.main_latency.p99_9,
        "Values more than three standard deviations away are dropped as noise, but they are the tail.",
        "No message is dropped, however far away it is.",
        "spreadsheets",
    ),
    MeasuringFault(
        "the tail ends at p98",
        "highest shown",
        "ms",
        faulty.tail_at_p98,
        lambda reported: reported.case.main_latency.max,
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
        _within_percent,
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
        lambda reported: reported.case.out_per_s,
        "All messages of a batch get the same time, so a thousand messages in two batches seem to take the "
        "time of one batch.",
        "A rate is a count over a time much longer than a batch, and short runs may not be quoted.",
        "streamgauge 0.1",
    ),
    MeasuringFault(
        "KiB called kilobits",
        "throughput",
        "kbit/s",
        faulty.kib_as_kilobits,
        _kilobits_per_s,
        "Bytes are divided by 1,024, and the column is called Kbps.",
        "Bytes, KiB and bits are told apart, and every figure has its unit.",
        "KafkaBench",
    ),
    MeasuringFault(
        "the broker's fetch wait",
        "p50",
        "ms",
        faulty.fetch_wait_p50,
        _p50,
        "The consumer asks for at least 100,000 bytes, so the broker keeps messages back until it has them, "
        "for up to half a second. What is measured is that wait, and not the client.",
        "Consumers ask for one byte, unless the workload says otherwise; compare refuses to judge a wait.",
        "KNet's benchmark",
    ),
    MeasuringFault(
        "the last pause subtracted",
        "rate within bursts",
        "/s",
        faulty.last_pause_subtracted_rate,
        _rate_of_first_second,
        "There are four pauses between five bursts, but five are subtracted.",
        "Only the time between two bursts is a pause.",
        "streamgauge 0.1",
    ),
    MeasuringFault(
        "A always runs first",
        "p50 of A to B",
        "×",
        faulty.always_first_ratio,
        _in_turns_ratio,
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
