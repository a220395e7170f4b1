"""The document of a run of transports: a row for each transport and rate, the harness beside it."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import read_status
from streamgauge.core.verdicts import Integrity, Validity
from streamgauge.families.transports.workload import Ladder
from streamgauge.plan.plan_file import Plan
from streamgauge.report.case_document import Case, CasesDocument
from streamgauge.report.case_reading import cases_of
from streamgauge.report.document import Part, State, head_of
from streamgauge.report.result_tables import ResultTables

SHOWN_PERCENTILES = {"p25": "25th", "p50": "50th", "p90": "90th", "p99": "99th", "p99_9": "99.9th"}
"""Those of transport-bench's table."""
LEG = "intended_to_received"
_HELD = 0.99


class Promises(Part):
    durable: bool
    ordered: bool
    acked: bool


class Transport(Part):
    transport: str
    driver: str
    system: str | None
    promises: Promises | None
    """null: not known"""
    notes: list[str] = Field(default_factory=list)
    """what its system said of itself"""


class TransportRow(Part):
    case: str
    transport: str
    rate_per_s: float
    status: State
    integrity: Integrity
    validity: Validity
    messages: int
    received: int
    lost: int
    failed: int
    duplicate: int
    sent_per_s: float | None
    held: bool | None
    """at least 99% of the rate"""
    p25_ms: float | None
    p50_ms: float | None
    p90_ms: float | None
    p99_ms: float | None
    p99_9_ms: float | None
    max_ms: float | None
    mean_ms: float | None
    schedule_lag_p99_ms: float | None
    drift_ms_per_s: float | None
    """slope of the per-second median"""
    harness_p25_ms: float | None
    harness_p50_ms: float | None
    harness_p90_ms: float | None
    harness_p99_ms: float | None
    harness_p99_9_ms: float | None
    harness_held: bool | None


class TransportsFound(Part):
    engine: str | None
    """python or jvm; null: not the same for all"""
    transports: list[Transport]
    rows: list[TransportRow]


class TransportsDocument(CasesDocument):
    transports: TransportsFound
    """a row for each transport and rate"""


def transports_document(run: RunDir, plan: Plan, tables: ResultTables) -> TransportsDocument:
    harness = plan.section_as(Ladder).harness
    cases = cases_of(plan, read_status(run), tables, beside=harness)
    head = head_of(run, plan, {case.case: case for case in cases})
    found = transports_found(cases, harness, head["environment"].get("systems", {}))
    return TransportsDocument(**head, cases=cases, transports=found)


def transports_found(cases: list[Case], harness: str | None, systems: dict[str, Any]) -> TransportsFound:
    """`systems`: as the environment has them."""
    of_harness = {_rung(case): case for case in cases if case.target == harness}
    paced = [case for case in cases if case.target != harness and case.parameters.constant_rate is not None]
    engines = sorted({case.parameters.engine for case in cases})
    return TransportsFound(
        engine=engines[0] if len(engines) == 1 else None,
        transports=[
            _transport(name, cases, systems.get(name, {}))
            for name in dict.fromkeys(case.target for case in paced)
        ],
        rows=[_row(case, of_harness.get(_rung(case))) for case in paced],
    )


def _transport(name: str, cases: list[Case], system: dict[str, Any]) -> Transport:
    capabilities = system.get("capabilities")
    return Transport(
        transport=name,
        driver=next(case.driver for case in cases if case.target == name),
        system=system.get("description"),
        promises=capabilities
        and Promises(**{promise: bool(capabilities[promise]) for promise in Promises.model_fields}),
        notes=list(system.get("notes", [])),
    )


def _rung(case: Case) -> tuple[float | None, int]:
    return case.parameters.constant_rate, case.iteration


def _row(case: Case, harness: Case | None) -> TransportRow:
    latency, counts = case.latency_ms.intended_to_received, case.accounting
    of_harness = harness.latency_ms.intended_to_received if harness else None
    return TransportRow(
        case=case.case,
        transport=case.target,
        rate_per_s=case.parameters.constant_rate or 0.0,
        status=case.status,
        integrity=case.integrity.verdict,
        validity=case.validity.verdict,
        messages=counts.sent,
        received=counts.received,
        lost=max(0, counts.sent - counts.failed - counts.aborted - counts.received),
        failed=counts.failed,
        duplicate=counts.duplicate,
        sent_per_s=case.throughput.sent_messages_per_s,
        held=_held(case),
        schedule_lag_p99_ms=case.schedule_lag_ms.p99,
        drift_ms_per_s=case.drift_ms_per_s,
        harness_held=_held(harness) if harness else None,
        **{f"{name}_ms": getattr(latency, name) for name in (*SHOWN_PERCENTILES, "max", "mean")},
        # What everything but the transport costs at this rate.
        **{f"harness_{name}_ms": getattr(of_harness, name, None) for name in SHOWN_PERCENTILES},
    )


def _held(case: Case) -> bool | None:
    sent_per_s = case.throughput.sent_messages_per_s
    return None if sent_per_s is None else sent_per_s >= _HELD * (case.parameters.constant_rate or 0.0)
