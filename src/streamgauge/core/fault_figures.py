"""What a fault cost, as values: results/faults.json has them by case."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

CALM_S = 5
"""After so many seconds without a message that was hit, a fault is recovered from."""


class FaultEffects(BaseModel):
    """What a fault did, as far as who did it could see; null: that cannot come of it."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    refused_count: int | None = None
    """writes that a full disk refused"""
    delayed_count: int | None = None
    """writes and syncs that a slow disk held up"""
    down_after_s: float | None = None
    """from the fault until the process that it hit had ended by itself; null: it did not"""
    sessions_lost_count: int | None = None
    """clients that lost their connection"""
    sessions_back_count: int | None = None
    """of these, clients that were connected again"""
    sessions_back_after_s: float | None = None
    """from the fault until the last of these was; null: none was"""


class FaultFigures(BaseModel):
    """One fault of one case, and the messages that it touched."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    kind: str
    """of the fault"""
    target: str | None
    """whom it hit; null: it was never begun, or could not be done"""
    problem: str | None = None
    """why it could not be begun, or taken back"""
    began_s: float | None = None
    """since the start of the case"""
    ended_s: float | None = None
    """when it was taken back and all was up again; null: it never was"""
    late_over_ms: float | None = None
    """from which latency on a message is late: beyond what it was before the first fault"""
    detect_s: float | None = None
    """from the fault (of an unclean election: from the leader's end) until the first message was late, lost
    or known to have failed; null: none was"""
    recover_s: float | None = None
    """from the fault until, for 5 s, no message was late, lost, failed or without outcome: when the last one
    before that had come, or was given up; null: none was hit, or it never recovered"""
    is_recovered: bool = True
    """false: in the last second before the next fault, or the end, messages were still hit"""
    late_count: int = 0
    longest_ms: float | None = None
    """the longest latency"""
    failed_count: int = 0
    """reported as not delivered"""
    lost_count: int = 0
    """acknowledged, and never received"""
    unanswered_count: int = 0
    """without outcome: no ack, no failure, no copy"""
    later_count: int = 0
    """of all these: messages that were hit after it had recovered"""
    duplicate_count: int = 0
    """written twice: copies at another offset"""
    redelivered_count: int = 0
    """read again at the same offset, or where there are no offsets"""
    effects: FaultEffects | None = None
    """what else it did; null: nothing that is known"""
