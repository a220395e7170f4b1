"""The figures of one case of messages: what the documents of most families are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field

from streamgauge.core.fault_figures import FaultFigures
from streamgauge.core.findings import CaseVerification
from streamgauge.core.steady_state import Unrest
from streamgauge.plan.warm_up_file import Series, WarmUpEnding
from streamgauge.report.document import (
    Bottleneck,
    CaseVerdicts,
    Document,
    Glance,
    Part,
    State,
    Verdicts,
    by_case,
)
from streamgauge.report.parameters import FIELDS_OF_KNOBS, KNOBS, Parameters
from streamgauge.report.plotted import PlottedCase

SCHEDULE_LAG = "intended_to_sent"

Count = int


class Accounting(Part):
    sent: Count = 0
    """handed to the client library"""
    acked: Count = 0
    """acknowledged without error"""
    failed: Count = 0
    """reported as not delivered"""
    aborted: Count = 0
    """in transactions that were aborted as planned"""
    received: Count = 0
    """at least one intact copy arrived"""
    lost_write: Count = 0
    """acked, never seen, although a later offset of its partition was"""
    unseen: Count = 0
    """acked, never seen, and nothing later in its partition was either"""
    duplicate: Count = 0
    """intact copies beyond the first"""
    out_of_order: Count = 0
    """first copy arrived after a later one from its producer and partition"""
    corrupt: Count = 0
    """damaged records"""
    unexpected: Count = 0
    """records that do not belong to this case"""


class BriefStatistics(Part):
    count: Count = 0
    mean: float | None = None
    min: float | None = None
    p50: float | None = None
    p99: float | None = None
    max: float | None = None


class Statistics(Part):
    """Of one leg; in ms but for the counts."""

    count: Count = 0
    mean: float | None = None
    sd: float | None = None
    min: float | None = None
    p25: float | None = None
    p50: float | None = None
    p75: float | None = None
    p90: float | None = None
    p95: float | None = None
    p98: float | None = None
    p99: float | None = None
    p99_9: float | None = None
    max: float | None = None
    negative_count: Count = 0
    """of these, how many came out below zero: kept, not dropped"""


class Legs(Part):
    """A leg is the way from one time of a message to another."""

    intended_to_received: Statistics
    sent_to_received: Statistics
    sent_to_acked: Statistics
    sent_to_broker: Statistics
    broker_to_received: Statistics


class BriefLegs(Part):
    intended_to_received: BriefStatistics
    sent_to_received: BriefStatistics
    sent_to_acked: BriefStatistics
    sent_to_broker: BriefStatistics
    broker_to_received: BriefStatistics


class Ranges(Part):
    """Last minus first of each time."""

    sent: float | None = None
    acked: float | None = None
    broker: float | None = None
    received: float | None = None


class Throughput(Part):
    """A second; a count over its own range."""

    sent_messages_per_s: float | None = None
    sent_bytes_per_s: float | None = None
    acked_messages_per_s: float | None = None
    acked_bytes_per_s: float | None = None
    received_messages_per_s: float | None = None
    received_bytes_per_s: float | None = None


class Delivery(Part):
    """How long messages took to go through."""

    partitions: Count | None = None
    messages: Count | None = None
    bytes: Count | None = None
    runtime_s: float | None = None
    """sum of the partitions' own times: first sent to last received"""
    wall_s: float | None = None
    """first sent to last received of all together"""
    messages_per_s: float | None = None
    kib_per_s: float | None = None


class Cpu(Part):
    """CPU µs a message."""

    producer: float | None = None
    consumer: float | None = None
    broker: float | None = None


class Clock(Part):
    agent: str
    hostname: str
    offset_ms: float | None
    """what was added to its times at the start"""
    error_ms: float | None
    """how far off that can be"""
    drift_ppm: float | None
    readings: Count
    """how often it was read; 0: it is the reference's own clock"""
    jump_ms: float | None = None
    """by how much it jumped ahead at once while the case ran; null: it did not"""
    wall_jump_ms: float | None = None
    """the same of the host's wall clock, which times of brokers hang on"""
    silent_ms: float | None = None
    """the longest that the launcher gave its host no answer; null: it is the launcher's own"""


class Brief(Part):
    accounting: Accounting
    warm_up: Accounting | None
    latency_ms: BriefLegs
    schedule_lag_ms: BriefStatistics
    throughput: Throughput


class Topic(Brief):
    topic: str | None
    delivery: Delivery


class Partition(Brief):
    topic: str | None
    partition: int | None
    """null: of messages that were neither acked nor received"""
    delivery: Delivery


class Second(Brief):
    second: int
    """since the start, by intended time"""


class Waited(Part):
    """What kept a load from rest for a while."""

    since_s: float
    series: Series
    unrest: Unrest | None
    """null: too few messages to tell"""
    change: float
    """the ratio of levels, less 1, that the unrest was"""


class WarmUpCourse(Part):
    """Of a warm-up that went on until the load was at rest: its levels, a slot of time after another."""

    ended: WarmUpEnding
    end_s: float
    """since when messages count"""
    slot_s: float
    latency_ms: list[float] | None
    """median of each slot, of warm-up and measured phase alike"""
    rate_per_s: list[float] | None = None
    """messages a second of each slot, where a load goes as fast as it can, and is at rest by that"""
    agents_cores: list[float] | None
    """cores that all agents kept busy"""
    systems_cores: list[float] | None
    """cores that the systems kept busy which we started"""
    waited: list[Waited]


class Case(CaseVerdicts):
    iteration: int
    """which round of the same"""
    target: str
    driver: str
    parameters: Parameters
    """the load in force, every default written out"""
    accounting: Accounting
    """of the measured phase"""
    warm_up: Accounting | None
    """of the warm-up; null: there was none"""
    warm_up_course: WarmUpCourse | None = None
    """null: its length was fixed beforehand"""
    latency_ms: Legs
    schedule_lag_ms: Statistics
    """sent − intended"""
    noise_floor_p99_ms: float | None = None
    """how late a bare pacer of compiled code woke beside the load, on the same machine; null: not known"""
    range_s: Ranges
    throughput: Throughput
    delivery: Delivery
    cpu_us_per_message: Cpu
    bottleneck: Bottleneck
    drift_ms_per_s: float | None
    """slope of the per-second median latency"""
    clocks: list[Clock]
    faults: list[FaultFigures] = Field(default_factory=list)
    """what was done to the system meanwhile, in the order of the workload, and what that cost"""
    verification: CaseVerification | None = None
    """what of the log was looked at, and what is wrong with it; null: an older version analysed the run"""
    topics: list[Topic]
    partitions: list[Partition]
    seconds: list[Second]

    @property
    def main_leg(self) -> Literal["intended_to_received", "sent_to_acked"]:
        """The leg that speaks for the case: to the consumer, or to the ack when there is no consumer."""
        return "intended_to_received" if self.parameters.consumers else "sent_to_acked"

    @property
    def main_latency(self) -> Statistics:
        found: Statistics = getattr(self.latency_ms, self.main_leg)
        return found

    @property
    def out_time(self) -> Literal["received", "acked", "sent"]:
        """The time at which a message is through: received, else acked, else sent."""
        if self.parameters.consumers:
            return "received"
        return "acked" if self.throughput.acked_messages_per_s else "sent"

    @property
    def out_per_s(self) -> float | None:
        """Messages a second that came out."""
        found: float | None = getattr(self.throughput, f"{self.out_time}_messages_per_s")
        return found

    @property
    def legs(self) -> dict[str, Statistics]:
        """All of them, the schedule lag last."""
        return {**dict(self.latency_ms), SCHEDULE_LAG: self.schedule_lag_ms}

    @property
    def is_measured(self) -> bool:
        return self.accounting.sent > 0


class CasesDocument(Document):
    """A document with the figures of every case of the plan, also of those that never ran."""

    cases: list[Case] = Field(default_factory=list)

    @property
    def parts(self) -> Mapping[str, Verdicts]:
        return by_case(self.cases)

    @property
    def glances(self) -> Sequence[Glance]:
        return [_glance(case) for case in self.cases if case.is_measured]

    @property
    def plotted(self) -> Sequence[PlottedCase]:
        return [_plotted(case) for case in self.cases]


def _glance(case: Case) -> Glance:
    latency = case.main_latency
    return Glance(case.parameters.constant_rate, latency.p50, latency.p99, latency.count)


def _plotted(case: Case) -> PlottedCase:
    latency, delivery, swept = case.main_latency, case.delivery, case.parameters.swept
    partitions = delivery.partitions or 0
    return PlottedCase(
        case.case,
        case.target,
        {name: value_of(case.parameters) for name, value_of in KNOBS.items()},
        {path: value for path, value in swept.items() if path not in FIELDS_OF_KNOBS},
        latency.count,
        min_ms=latency.min,
        mean_ms=latency.mean if latency.count else None,
        max_ms=latency.max,
        # Streams of several partitions go side by side, and the runtime is the sum of theirs.
        kib=(delivery.bytes or 0) * partitions / 1024,
        messages=(delivery.messages or 0) * partitions,
        lasted_s=delivery.runtime_s or 0.0,
        is_ok=case.status is State.OK,
    )
