"""Measuring faults, done on purpose: each takes the messages of a run and gives what it would report.

They are how other programs measure, or how this one once did. Nothing else imports them.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

TAIL = 99.0
EARLY_MS = 3000.0
"""Before the stall, which would hide what is small."""


@dataclass(frozen=True)
class Messages:
    """In the order in which they were due; times in ms since the first."""

    due: Floats
    received: Floats
    """Not a number: it never came."""
    is_warm_up: NDArray[np.bool_]
    copies: NDArray[np.int32]
    """How many of it came."""
    size_bytes: NDArray[np.int32]

    @property
    def measured(self) -> Messages:
        return self._only(~self.is_warm_up)

    @property
    def arrived(self) -> Messages:
        return self._only(~np.isnan(self.received))

    def _only(self, kept: NDArray[np.bool_]) -> Messages:
        return Messages(
            self.due[kept],
            self.received[kept],
            self.is_warm_up[kept],
            self.copies[kept],
            self.size_bytes[kept],
        )

    @property
    def latency(self) -> Floats:
        return self.received - self.due


def closed_loop_p99(messages: Messages) -> float:
    """The next message is sent when the one before has come: during a stall nobody sends."""
    arrived = messages.measured.arrived
    due, latency = arrived.due, arrived.latency
    taken, at, free = [], 0, due[0]
    while at < len(due):
        taken.append(latency[at])
        free = max(free, due[at]) + latency[at]
        at = max(at + 1, int(np.searchsorted(due, free)))
    return float(np.percentile(taken, TAIL))


def actual_send_p99(messages: Messages, in_flight: int = 100) -> float:
    """Stamped when the client got round to it: it takes no more while so many are on their way."""
    arrived = messages.measured.arrived
    sent = arrived.due.copy()
    # In order within the one partition, so a place is free when the message so many before has come.
    sent[in_flight:] = np.maximum(sent[in_flight:], arrived.received[:-in_flight])
    return float(np.percentile(arrived.received - np.minimum(sent, arrived.received), TAIL))


def pause_after_send_rate(messages: Messages, pause: float = 1.0, in_flight: int = 100) -> float:
    """Messages a second of a sender that sleeps after each send, and waits for a place in flight."""
    arrived = messages.measured.arrived
    due, latency = arrived.due, arrived.latency
    now, sent_count, back = due[0], 0, deque[float]()
    while now < due[-1]:
        if len(back) == in_flight:
            now = max(now, back.popleft())
        at = min(int(np.searchsorted(due, now)), len(due) - 1)
        back.append(now + latency[at])
        sent_count += 1
        now += pause
    return float(sent_count / (now - due[0]) * 1000)


def burst_a_second_mean(messages: Messages, within: float = 10.0) -> float:
    """All messages of a second are sent at its beginning, and wait as long as what is sent then."""
    arrived = messages.measured.arrived
    since_begin = (arrived.due - messages.measured.due[0]) % 1000
    return float(arrived.latency[since_begin < within].mean())


def one_second_p99(messages: Messages) -> float:
    """Of the first second, after which the test is over."""
    arrived = messages.measured.arrived
    return float(np.percentile(arrived.latency[arrived.due < arrived.due[0] + 1000], TAIL))


def never_cleared_mean(messages: Messages) -> float:
    """Of the last round, in a list that has every round before it, too."""
    return float(messages.measured.arrived.latency.mean())


def lost_by_count(messages: Messages) -> float:
    """What was sent less what came, copies and all."""
    measured = messages.measured
    return float(len(measured.due) - measured.copies.sum())


def mean_of_percentiles(messages: Messages) -> float:
    """p99 of each second, then their mean."""
    arrived = messages.measured.arrived
    seconds = (arrived.due // 1000).astype(int)
    found = [np.percentile(arrived.latency[seconds == second], TAIL) for second in np.unique(seconds)]
    return float(np.mean(found))


def percentiles_merged(messages: Messages, parts: int = 10) -> float:
    """Histograms of parts merged percentile by percentile, by their median, and not by adding counts."""
    pieces = np.array_split(messages.measured.arrived.latency, parts)
    return float(np.median([np.percentile(piece, TAIL) for piece in pieces]))


def coarse_buckets_p50(messages: Messages) -> float:
    """Buckets by powers of two, of which the upper end is reported."""
    exponents = np.ceil(np.log2(messages.measured.arrived.latency))
    return float(2 ** np.percentile(exponents, 50, method="inverted_cdf"))


def warm_up_included_mean(messages: Messages) -> float:
    """Of everything up to the same moment, from the first message on."""
    until = messages.measured.due[0] + EARLY_MS
    return float(messages.arrived.latency[messages.arrived.due < until].mean())


def batch_stamp_rate(messages: Messages, batch: int = 500, batches: int = 2) -> float:
    """One stamp for all messages of a batch, and a short test: the first batch takes no time at all."""
    arrived = messages.measured.arrived
    stamps = [arrived.received[(n + 1) * batch - 1] for n in range(batches)]
    return float(batch * batches / (stamps[-1] - stamps[0]) * 1000)


def last_pause_subtracted_rate(
    messages: Messages, burst: int = 100, bursts: int = 5, pause: float = 80.0
) -> float:
    """A pause is taken off for every burst, though there is none after the last."""
    received = messages.measured.arrived.received[: burst * bursts]
    busy = sum(received[n * burst + burst - 1] - received[n * burst] for n in range(bursts))
    elapsed = busy + (bursts - 1) * pause
    return float(burst * bursts / (elapsed - bursts * pause) * 1000)


def clock_ignored_p50(messages: Messages, offset: float = 1.5) -> float:
    """The receiver's clock is that much behind, and nobody asked."""
    return float(np.percentile(messages.measured.arrived.latency - offset, 50))


def whole_ms_mean(messages: Messages, slow: float = 1.5) -> float:
    """Both clocks in whole ms, the receiver's behind; what is not above zero is dropped."""
    arrived = messages.measured.arrived
    early = arrived.due < arrived.due[0] + EARLY_MS
    differences = np.floor(arrived.received[early] - slow) - np.floor(arrived.due[early])
    return float(differences[differences > 0].mean())


def least_of_n_p99(messages: Messages, parts: int = 10) -> float:
    """The best of ten rounds."""
    pieces = np.array_split(messages.measured.arrived.latency, parts)
    return float(min(np.percentile(piece, TAIL) for piece in pieces))


def lost_as_zero_mean(messages: Messages) -> float:
    """A message that never came has a latency of 0."""
    return float(np.nan_to_num(messages.measured.latency, nan=0.0).mean())


def lost_left_out_percent(messages: Messages, bound: float = 10.0) -> float:
    """How many were within the bound, of those that came."""
    latency = messages.measured.arrived.latency
    return float(100 * (latency <= bound).mean())


def distinct_values_p50(messages: Messages) -> float:
    """A set of latencies in steps of 10 µs: each value counts once, however often it came."""
    return float(np.percentile(np.unique(np.round(messages.measured.arrived.latency, 2)), 50))


def integer_mean(messages: Messages) -> float:
    """Latencies and their mean in whole ms."""
    arrived = messages.measured.arrived
    early = arrived.latency[arrived.due < arrived.due[0] + EARLY_MS]
    return float(int(np.floor(early).sum()) // len(early))


def outliers_dropped_p99_9(messages: Messages) -> float:
    """What is more than three standard deviations away is taken for noise."""
    latency = messages.measured.arrived.latency
    for _ in range(3):
        latency = latency[np.abs(latency - latency.mean()) <= 3 * latency.std()]
    return float(np.percentile(latency, 99.9))


def tail_at_p98(messages: Messages) -> float:
    """The last percentile that is shown."""
    return float(np.percentile(messages.measured.arrived.latency, 98))


def kib_as_kilobits(messages: Messages) -> float:
    """Bytes over 1024, under the name of kilobits."""
    arrived = messages.measured.arrived
    lasted_s = (arrived.received.max() - arrived.received.min()) / 1000
    return float(arrived.size_bytes.sum() / 1024 / lasted_s)


def fetch_wait_p50(messages: Messages, least_bytes: int = 100_000, at_most: float = 500.0) -> float:
    """A fetch is answered when there are so many bytes, or after so long; the next one follows at once."""
    arrived = messages.measured.arrived
    reached = np.cumsum(arrived.size_bytes)
    latency, at, now = np.empty(len(reached)), 0, float(arrived.received[0])
    while at < len(reached):
        before = reached[at - 1] if at else 0
        enough = min(int(np.searchsorted(reached, before + least_bytes)), len(reached) - 1)
        now = min(max(now, float(arrived.received[enough])), now + at_most)
        end = int(np.searchsorted(arrived.received, now, side="right"))
        latency[at:end] = now - arrived.due[at:end]
        at = max(at, end)
    return float(np.percentile(latency, 50))


def always_first_ratio(messages: Messages, seconds: float = 2.0) -> float:
    """A runs first, B next, on the same system: here both are the same."""
    arrived = messages.arrived
    begin, span = arrived.due[0], seconds * 1000
    first = arrived.latency[arrived.due < begin + span]
    second = arrived.latency[(arrived.due >= begin + span) & (arrived.due < begin + 2 * span)]
    return float(np.median(first) / np.median(second))


def independent_error(messages: Messages) -> float:
    """The 95% interval of the mean, as if every message were a new trial: half its width."""
    latency = messages.measured.arrived.latency
    return float(1.96 * latency.std(ddof=1) / np.sqrt(len(latency)))
