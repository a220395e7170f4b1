"""What the plan says, as small DataFrames to join with events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from streamgauge.core.status import CaseStatus, RunStatus
from streamgauge.plan.cases import Case
from streamgauge.plan.plan_file import Plan

_TOPICS = pa.schema([("case", pa.string()), ("topic", pa.int32()), ("topic_name", pa.string())])
_WARM_UPS = pa.schema([("case", pa.string()), ("producer", pa.int32()), ("warm_up_messages", pa.int64())])
_CASES = pa.schema(
    [
        ("case", pa.string()),
        ("status", pa.string()),
        ("status_reason", pa.string()),
        ("was_begun", pa.bool_()),
        ("producers", pa.int32()),
        ("consumers", pa.int32()),
        ("planned_messages", pa.int64()),
        ("has_completions", pa.bool_()),
        ("notes", pa.string()),
        ("is_paced", pa.bool_()),
        ("constant_rate_per_s", pa.float64()),
    ]
)


def planned_topics(session: SparkSession, plan: Plan) -> DataFrame:
    """One row: a topic of a case, with its number in the events and its name."""
    rows = [
        {"case": case.id, "topic": number, "topic_name": name}
        for case in plan.cases
        for number, name in enumerate(case.topics)
    ]
    return _frame(session, rows, _TOPICS)


def planned_warm_ups(session: SparkSession, plan: Plan) -> DataFrame:
    """One row: a producer of a case, with how many of its first messages are warm-up."""
    rows = [
        {"case": case.id, "producer": part.number, "warm_up_messages": part.warm_up_messages}
        for case in plan.cases
        for agent in case.agents
        if agent.kind == "producer"
        for part in agent.streams or (agent,)
    ]
    return _frame(session, rows, _WARM_UPS)


def planned_cases(session: SparkSession, plan: Plan, status: RunStatus) -> DataFrame:
    """One row: a case of the plan, with the load wanted and how it ended."""
    rows = [_case_row(case, status.cases.get(case.id)) for case in plan.cases]
    return _frame(session, rows, _CASES)


def _case_row(case: Case, ended: CaseStatus | None) -> dict[str, Any]:
    counts = [agent.messages for agent in case.agents if agent.kind == "producer"]
    known = [count for count in counts if count is not None]
    rate = case.load.rate
    was_begun = ended is not None
    if ended is None:
        ended = CaseStatus("partial", "the case was not begun")
    elif ended.status == "running":
        ended = CaseStatus("partial", ended.reason or "the case did not end")
    return {
        "case": case.id,
        "status": ended.status,
        "status_reason": ended.reason,
        "was_begun": was_begun,
        "producers": case.load.producer_count,
        "consumers": case.load.consumer_count,
        "planned_messages": sum(known) if len(known) == len(counts) else None,
        "has_completions": case.load.completions,
        "notes": "\n".join(case.notes) or None,
        "is_paced": rate != "unlimited",
        "constant_rate_per_s": rate if isinstance(rate, float) else None,
    }


def _frame(session: SparkSession, rows: Sequence[Mapping[str, Any]], schema: pa.Schema) -> DataFrame:
    # From Arrow it becomes a local relation, whose size Spark knows and which it can fold away.
    return session.createDataFrame(pa.Table.from_pylist(list(rows), schema=schema))
