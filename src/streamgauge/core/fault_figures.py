"""What a fault cost, as values: results/faults.json has them by case."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class FaultFigures(BaseModel):
    """One fault of one case, and the messages that it touched."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    kind: str
    """of the fault"""
    target: str | None
    """whom it hit; null: it was never begun"""
    problem: str | None = None
    """why it could not be begun, or taken back"""
    began_s: float | None = None
    """since the start of the case"""
    ended_s: float | None = None
    """when it was taken back and all was up again; null: it never was"""
    late_over_ms: float | None = None
    """from which latency on a message is late: beyond what it was before the first fault"""
    detect_s: float | None = None
    """from the fault until the first message was late, or known to have failed; null: none was"""
    recover_s: float | None = None
    """from the fault to the arrival of the last late message; null: none was late, or it never recovered"""
    is_recovered: bool = True
    """false: the last messages before the next fault, or the end, were still late"""
    late_count: int = 0
    longest_ms: float | None = None
    """the longest latency"""
    failed_count: int = 0
    """reported as not delivered"""
    lost_count: int = 0
    """acknowledged, and never received"""
    duplicate_count: int = 0
    """copies beyond the first"""
