"""Documents with just what a plot looks at."""

from __future__ import annotations

from typing import Any

from streamgauge.core.verdicts import Integrity, Validity
from streamgauge.report.case_document import Case, CasesDocument, Delivery, Legs, Statistics
from streamgauge.report.document import State
from streamgauge.report.parameters import Parameters


def point_case(
    *,
    target: str = "kafka",
    mean: float = 10.0,
    messages: int = 100,
    runtime_s: float | None = None,
    iteration: int = 1,
    topics: int = 1,
    **parameters: Any,
) -> Case:
    """A case whose rate is its messages a second, unless its runtime says otherwise."""
    in_force: dict[str, Any] = {
        "topics": [f"t-{number}" for number in range(topics)],
        "partitions": 1,
        "replicas": 1,
        "message_size": 64,
        "stream_size": 1024,
        "rate": "unlimited",
        "acks": "1",
        "completions": True,
        "transaction_messages": None,
        "compression": "none",
        "streams": "per_partition",
        "producers": 1,
        "consumers": 1,
        "swept": {},
    } | parameters
    partitions = in_force["partitions"] * topics
    leg = Statistics(count=messages, min=1.0, mean=mean, max=2 * mean)
    return Case.model_construct(
        case="001",
        status=State.OK,
        target=target,
        iteration=iteration,
        parameters=Parameters.model_construct(**in_force),
        latency_ms=Legs.model_construct(intended_to_received=leg),
        delivery=Delivery(
            partitions=partitions,
            messages=messages,
            bytes=messages * 64,
            runtime_s=partitions * 1.0 if runtime_s is None else runtime_s,
        ),
    )


def document_of(run: str, cases: list[Case]) -> CasesDocument:
    return CasesDocument.model_construct(
        run=run,
        name="sweep",
        kind="sweep",
        status=State.OK,
        marked=[],
        integrity=Integrity.OK,
        validity=Validity.VALID,
        cases=cases,
        environment={"cpu": "one", "cores": 2},
    )
