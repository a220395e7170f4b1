"""May the figures of a case be quoted? One rule a cause, each with the figures that it looks at.

Integrity is another question: a case may account for every message and still say nothing of the system, and
one that lost messages may be measured well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from streamgauge.analysis.at_rest import FEWEST_SECONDS, unrest
from streamgauge.analysis.squeezed import Squeezed
from streamgauge.core.verdicts import Cause, CauseCode, Limit, Validity, cause
from streamgauge.tables.percentile_support import HEADLINE, fewest_messages

LATE_SHARE = 0.5
"""Of the latency's p99: with a schedule lag as long as that, the figure is of whoever sends."""
LATE_LEAST_MS = 0.1
"""A wait for the next message's time is not exact to less than this."""
FLOOR_SHARE = 0.5
"""Of the schedule lag: where a bare pacer beside the load is late by as much, the machine is the cause."""

CLOCK_SHARE = 0.25
"""Of the median latency: by how much clocks may be wrong before the figure is of them."""

SILENT_MS = 3000.0
"""Without an answer for so long, a host was cut off; a busy one answers sooner."""

_CPU_LIMITS = (Limit.CLIENT_CPU, Limit.MACHINE_CPU)


@dataclass(frozen=True)
class HostTrouble:
    """What was wrong with a host while the case ran; None: not that."""

    hostname: str
    silent_ms: float | None = None
    jump_ms: float | None = None
    wall_jump_ms: float | None = None


@dataclass(frozen=True)
class Judged:
    """What the rules look at; None where it is not known."""

    measured_count: int = 0
    planned_count: int | None = None
    ended_well: bool = True
    is_paced: bool = True
    measures_itself: bool = False
    """There is no system in it: its latency is what sending, receiving and recording cost."""
    wanted_per_s: float | None = None
    sent_per_s: float | None = None
    missed_rate: bool = False
    latency_count: int | None = None
    p50_ms: float | None = None
    p99_ms: float | None = None
    lag_p99_ms: float | None = None
    noise_floor_p99_ms: float | None = None
    """How late a bare pacer woke beside the load; None: nobody measured it."""
    rested: bool | None = None
    """The warm-up went on until the load was at rest; False: it came to its limit before; None: nobody
    looked."""
    fault_count: int = 0
    """Faults that were begun meanwhile: what could not be done may have left its marks, too."""
    failed_fault_count: int = 0
    """Faults that never began, could not be done, or not be taken back."""
    medians_ms: Sequence[float] = ()
    """Of each second that was measured, in their order."""
    slots_ms: Sequence[float] = ()
    """The same of shorter slots, as an automatic warm-up went on looking at them; else empty."""
    rates_per_s: Sequence[float] = ()
    """Of each second that was measured, of what a load without pace is quoted for: its rate."""
    drift_ms_per_s: float | None = None
    limit: Limit | None = None
    machine_share: float | None = None
    busiest_client_cores: float | None = None
    clock_error_ms: float | None = None
    below_zero_count: int | None = None
    hosts: Sequence[HostTrouble] = ()
    swapped_bytes: float | None = None
    throttled_count: float | None = None


def validity(case: Judged) -> tuple[Validity, list[Cause]]:
    if not case.measured_count:
        return Validity.NOT_MEASURED, []
    causes = list(validity_causes(case))
    return (Validity.INVALID if causes else Validity.VALID), causes


def validity_causes(case: Judged) -> Iterator[Cause]:
    """The gravest first. What a load without pace is quoted for is its rate, which has to be at rest as a
    latency has: its latency is of its queue, and clocks err by little beside seconds."""
    yield from _incomplete(case)
    yield from _host_trouble(case)
    if case.failed_fault_count:
        yield cause(CauseCode.FAULT_NOT_AS_PLANNED, fault_count=case.failed_fault_count)
    if case.fault_count:
        # What a fault does to rest, rate and schedule is what it was done for: the one cause of all that.
        yield cause(CauseCode.FAULT_DURING_MEASURING, fault_count=case.fault_count)
    elif case.is_paced:
        yield from _not_at_rest(case)
        yield from _rate_missed(case)
        yield from _generator_late(case)
        yield from _no_cpu_left(case)
        yield from _clock_error(case)
        yield from _too_few_messages(case)
    else:
        yield from _rate_not_at_rest(case)
    yield from swapped_or_throttled(Squeezed(case.swapped_bytes, case.throttled_count))


def _incomplete(case: Judged) -> Iterator[Cause]:
    is_short = case.planned_count is not None and case.measured_count < case.planned_count
    if is_short or not case.ended_well:
        yield cause(
            CauseCode.INCOMPLETE, measured_count=case.measured_count, planned_count=case.planned_count
        )


def _host_trouble(case: Judged) -> Iterator[Cause]:
    """Each host by its name: nothing else tells that what was measured is of its cable, or its clock."""
    for host in case.hosts:
        if host.silent_ms is not None and host.silent_ms >= SILENT_MS:
            yield cause(CauseCode.HOST_SILENT, about=host.hostname, silent_ms=host.silent_ms)
        if host.jump_ms is not None or host.wall_jump_ms is not None:
            yield cause(
                CauseCode.CLOCK_JUMPED,
                about=host.hostname,
                jump_ms=host.jump_ms,
                wall_jump_ms=host.wall_jump_ms,
            )


def _not_at_rest(case: Judged) -> Iterator[Cause]:
    found = unrest(case.medians_ms, case.slots_ms)
    if found is not None:
        yield cause(
            CauseCode.NOT_AT_REST,
            before_ms=found.before_ms,
            after_ms=found.after_ms,
            change_second_count=found.second,
            drift_ms_per_s=case.drift_ms_per_s,
        )
    else:
        yield from _never_told_at_rest(case, len(case.medians_ms))


def _rate_not_at_rest(case: Judged) -> Iterator[Cause]:
    found = unrest(case.rates_per_s)
    if found is not None:
        yield cause(
            CauseCode.NOT_AT_REST,
            before_per_s=found.before_ms,
            after_per_s=found.after_ms,
            change_second_count=found.second,
        )
    else:
        yield from _never_told_at_rest(case, len(case.rates_per_s))


def _never_told_at_rest(case: Judged, seconds: int) -> Iterator[Cause]:
    """Neither by a warm-up nor by what was measured."""
    drift = case.drift_ms_per_s if case.is_paced else None
    if case.rested is False:
        yield cause(CauseCode.NEVER_SETTLED, drift_ms_per_s=drift)
    elif case.rested is None and seconds < FEWEST_SECONDS:
        yield cause(
            CauseCode.TOO_SHORT, second_count=seconds, needed_count=FEWEST_SECONDS, drift_ms_per_s=drift
        )


def _rate_missed(case: Judged) -> Iterator[Cause]:
    if case.missed_rate:
        yield cause(CauseCode.RATE_MISSED, sent_per_s=case.sent_per_s, wanted_per_s=case.wanted_per_s)


def _generator_late(case: Judged) -> Iterator[Cause]:
    """A figure that is of whoever sends is none of a system; where there is no system, it is the one asked
    for. Whether it was at rest, held its rate and had CPU left is asked of all."""
    if case.measures_itself:
        return
    lag, latency = case.lag_p99_ms, case.p99_ms
    if lag is not None and latency is not None and lag > max(LATE_SHARE * latency, LATE_LEAST_MS):
        yield cause(
            CauseCode.GENERATOR_LATE,
            about=_who_was_late(lag, case.noise_floor_p99_ms),
            lag_p99_ms=lag,
            latency_p99_ms=latency,
            noise_floor_p99_ms=case.noise_floor_p99_ms,
        )


def _who_was_late(lag_ms: float, floor_ms: float | None) -> str | None:
    """A bare pacer that is as late shows that the machine wakes nobody in time; None: there was none."""
    if floor_ms is None:
        return None
    return "machine" if floor_ms >= FLOOR_SHARE * lag_ms else "generator"


def _no_cpu_left(case: Judged) -> Iterator[Cause]:
    if case.limit in _CPU_LIMITS:
        yield cause(
            CauseCode.NO_CPU_LEFT,
            machine_busy_share=case.machine_share,
            busiest_client_cores=case.busiest_client_cores,
        )


def _clock_error(case: Judged) -> Iterator[Cause]:
    error, median = case.clock_error_ms, case.p50_ms
    is_large = error is not None and median is not None and error > CLOCK_SHARE * median
    if is_large or case.below_zero_count:
        yield cause(
            CauseCode.CLOCK_ERROR,
            clock_error_ms=error,
            latency_p50_ms=median,
            below_zero_count=case.below_zero_count or None,
        )


def _too_few_messages(case: Judged) -> Iterator[Cause]:
    if case.latency_count is not None and case.latency_count < fewest_messages(HEADLINE):
        yield cause(
            CauseCode.TOO_FEW_MESSAGES,
            message_count=case.latency_count,
            needed_count=fewest_messages(HEADLINE),
        )


def swapped_or_throttled(found: Squeezed) -> Iterator[Cause]:
    """Whatever was measured meanwhile, a case or a comparison."""
    if found.swapped_bytes:
        yield cause(CauseCode.SWAPPED, swapped_bytes=found.swapped_bytes)
    if found.throttled_count:
        yield cause(CauseCode.THROTTLED, throttled_count=found.throttled_count)
