"""What was the limit of a case: rules over its figures, of which the first that holds is taken.

Nothing is said of network and disk: what they could carry is not known from samples.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from streamgauge.core.steady_state import MACHINE_BUSY_SHARE
from streamgauge.core.verdicts import Cause, CauseCode, Limit, cause

SCHEDULE_LAG_MS = 10.0
"""A schedule is held when its lag's p99 is below this, or below ten intervals of a slow one …"""
SCHEDULE_LAG_INTERVALS = 10.0
SCHEDULE_LAG_MOST_MS = 100.0
"""… which may not be more than this."""

PROCESS_BUSY_CORES = 0.85
"""A client's sending or receiving is one thread: near one core it cannot do more."""

BROKER_BUSY_SHARE = 0.85
"""Of all cores of its host: a broker has many threads."""

SLOW_ACK_MS = 100.0
"""A median as long as this is time spent in a full queue, not on the way."""

CONSUMER_BEHIND = 0.99
"""Share of the sent rate below which consumers do not keep up."""


@dataclass(frozen=True)
class Pressure:
    """What the rules look at; None where it is not known: a rule needs figures to hold."""

    is_paced: bool
    measured_count: int = 0
    producers: int = 1
    constant_rate_per_s: float | None = None
    missed_rate: bool = False
    lag_ms: float | None = None
    ack_ms: float | None = None
    sent_messages_per_s: float | None = None
    received_messages_per_s: float | None = None
    producer_cores: float | None = None
    consumer_cores: float | None = None
    broker_cores: float | None = None
    broker_host_cores: int | None = None
    machine_share: float | None = None


class _Rule(NamedTuple):
    holds: bool
    limit: Limit
    code: CauseCode


def bottleneck(case: Pressure) -> tuple[Limit, Cause]:
    """The limit, and why; with all figures there are, whichever rule held."""
    limit, code = next(
        ((rule.limit, rule.code) for rule in _rules(case) if rule.holds), (Limit.NONE, _why_none(case))
    )
    if not case.measured_count:
        return limit, cause(code)
    is_broker_known = case.broker_cores is not None and case.broker_host_cores is not None
    return limit, cause(
        code,
        lag_p99_ms=case.lag_ms if case.is_paced else None,
        ack_p50_ms=case.ack_ms,
        busiest_producer_cores=case.producer_cores,
        busiest_consumer_cores=case.consumer_cores,
        broker_cores=case.broker_cores if is_broker_known else None,
        broker_host_core_count=case.broker_host_cores if is_broker_known else None,
        machine_busy_share=case.machine_share,
    )


def _why_none(case: Pressure) -> CauseCode:
    if not case.measured_count:
        return CauseCode.NOTHING_MEASURED
    if case.is_paced:
        return CauseCode.LOAD_HELD
    if case.producer_cores is None and case.machine_share is None:
        return CauseCode.NO_CPU_FIGURES
    return CauseCode.NOTHING_SATURATED


def _rules(case: Pressure) -> Iterator[_Rule]:
    """A held schedule can still be limited behind the producer, an unheld one is limited somewhere."""
    is_unheld = case.is_paced and (_above(case.lag_ms, _most_lag_ms(case)) or case.missed_rate)
    is_pressed = is_unheld or (not case.is_paced and case.measured_count > 0)
    received = case.received_messages_per_s
    is_behind = received is not None and _above(case.sent_messages_per_s, received / CONSUMER_BEHIND)
    broker_most = None if case.broker_host_cores is None else case.broker_host_cores * BROKER_BUSY_SHARE
    yield _Rule(
        is_pressed and _above(case.producer_cores, PROCESS_BUSY_CORES),
        Limit.CLIENT_CPU,
        CauseCode.PRODUCER_OUT_OF_CPU,
    )
    yield _Rule(
        is_behind and _above(case.consumer_cores, PROCESS_BUSY_CORES),
        Limit.CLIENT_CPU,
        CauseCode.CONSUMER_OUT_OF_CPU,
    )
    yield _Rule(
        _above(case.machine_share, MACHINE_BUSY_SHARE), Limit.MACHINE_CPU, CauseCode.MACHINE_OUT_OF_CPU
    )
    yield _Rule(
        is_pressed and _above(case.broker_cores, broker_most), Limit.BROKER, CauseCode.BROKER_OUT_OF_CPU
    )
    yield _Rule(is_pressed and _above(case.ack_ms, SLOW_ACK_MS), Limit.BROKER, CauseCode.SLOW_ACKS)
    yield _Rule(is_unheld, Limit.GENERATOR, CauseCode.SCHEDULE_NOT_HELD)


def _above(value: float | None, limit: float | None) -> bool:
    return value is not None and limit is not None and value > limit


def _most_lag_ms(case: Pressure) -> float:
    """Steps have no one interval, so they get no allowance for slow schedules."""
    if not case.constant_rate_per_s:
        return SCHEDULE_LAG_MS
    slow_ms = SCHEDULE_LAG_INTERVALS * 1000 * case.producers / case.constant_rate_per_s
    return max(SCHEDULE_LAG_MS, min(SCHEDULE_LAG_MOST_MS, slow_ms))
