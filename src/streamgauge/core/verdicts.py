"""What is said of a case, as values: two verdicts that are never mixed, and why each of them was given.

*Integrity*: is every message accounted for? *Validity*: may the figures be quoted? Words for these are made
by the report, last, and nothing reads them back.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field


class Integrity(StrEnum):
    """The worst that became of any message, or of the log; the causes have the others."""

    OK = "ok"
    LOST = "lost"
    CORRUPT = "corrupt"
    FAILED = "failed"
    NO_OUTCOME = "no_outcome"
    UNEXPECTED = "unexpected"
    INCONSISTENT = "inconsistent"
    DUPLICATE = "duplicate"
    OUT_OF_ORDER = "out_of_order"
    NOT_CHECKED = "not_checked"
    NOT_MEASURED = "not_measured"


class Validity(StrEnum):
    VALID = "valid"
    INVALID = "invalid"
    NOT_MEASURED = "not_measured"


class Limit(StrEnum):
    """What a case was limited by."""

    CLIENT_CPU = "client_cpu"
    GENERATOR = "generator"
    BROKER = "broker"
    MACHINE_CPU = "machine_cpu"
    NONE = "none"


class CauseCode(StrEnum):
    # Integrity: each with the number of messages.
    LOST_WRITE = "lost_write"
    UNSEEN = "unseen"
    CUT_BACK = "cut_back"
    NOT_ARRIVED = "not_arrived"
    CORRUPT = "corrupt"
    FAILED = "failed"
    NO_OUTCOME = "no_outcome"
    UNEXPECTED = "unexpected"
    ABORTED_READ = "aborted_read"
    INCONSISTENT_OFFSETS = "inconsistent_offsets"
    DUPLICATE = "duplicate"
    OUT_OF_ORDER = "out_of_order"
    MISSING = "missing"
    TRIALS_FAILED = "trials_failed"
    # Validity.
    FAULT_NOT_AS_PLANNED = "fault_not_as_planned"
    FAULT_DURING_MEASURING = "fault_during_measuring"
    NOT_AT_REST = "not_at_rest"
    NEVER_SETTLED = "never_settled"
    TOO_SHORT = "too_short"
    RATE_MISSED = "rate_missed"
    GENERATOR_LATE = "generator_late"
    NO_CPU_LEFT = "no_cpu_left"
    CLOCK_ERROR = "clock_error"
    CLOCK_JUMPED = "clock_jumped"
    HOST_SILENT = "host_silent"
    TOO_FEW_MESSAGES = "too_few_messages"
    SWAPPED = "swapped"
    THROTTLED = "throttled"
    INCOMPLETE = "incomplete"
    CONTROL_FAILED = "control_failed"
    TOO_FEW_PAIRS = "too_few_pairs"
    MEASURES_THE_WAIT = "measures_the_wait"
    OTHER_TOOL = "other_tool"
    # Objectives that are not decidable.
    BOUND_IN_INTERVAL = "bound_in_interval"
    NO_ONE_RATE = "no_one_rate"
    NOT_LOOKED_FOR = "not_looked_for"
    # Figures of two runs that cannot be compared, and objectives on their ratio.
    NO_REPEATS = "no_repeats"
    NOT_ABOVE_ZERO = "not_above_zero"
    NO_SUCH_CASE = "no_such_case"
    CASE_GONE = "case_gone"
    # Warnings: true of the figures, and no reason not to quote them.
    FEW_REPETITIONS = "few_repetitions"
    SPREAD = "spread"
    EXTREMES = "extremes"
    TWO_HUMPS = "two_humps"
    # Why something is said to be the limit.
    PRODUCER_OUT_OF_CPU = "producer_out_of_cpu"
    CONSUMER_OUT_OF_CPU = "consumer_out_of_cpu"
    MACHINE_OUT_OF_CPU = "machine_out_of_cpu"
    BROKER_OUT_OF_CPU = "broker_out_of_cpu"
    SLOW_ACKS = "slow_acks"
    SCHEDULE_NOT_HELD = "schedule_not_held"
    NOTHING_MEASURED = "nothing_measured"
    ROLLED_UP = "rolled_up"
    LOAD_HELD = "load_held"
    NO_CPU_FIGURES = "no_cpu_figures"
    NOTHING_SATURATED = "nothing_saturated"
    WAITED_BEHIND_PRODUCER = "waited_behind_producer"
    WAITED_BEHIND_ACK = "waited_behind_ack"
    NO_STEP_MISSED = "no_step_missed"
    STEP_NOT_KNOWN = "step_not_known"
    # Notes: to be known with the figures.
    RECORDED = "recorded"
    SKIPPED = "skipped"
    UNACKED = "unacked"
    BROKER_TIME_IS_CREATE_TIME = "broker_time_is_create_time"
    NO_DELIVERY_REPORTS = "no_delivery_reports"
    NO_CONSUMERS = "no_consumers"
    COMPRESSED = "compressed"
    PLANNED = "planned"
    ENGINES_DIFFER = "engines_differ"
    SETTINGS_DIFFER = "settings_differ"
    SEED_PRESET = "seed_preset"
    SHARED_PROCESS = "shared_process"
    BURSTS = "bursts"
    NO_ACKS = "no_acks"
    MEASURES_ITSELF = "measures_itself"
    VALUES_NOT_CHECKED = "values_not_checked"


class Cause(BaseModel):
    """One reason for a verdict, or one thing to know."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    code: CauseCode
    figures: dict[str, float | int] = Field(default_factory=dict, description="by name, with units")
    about: str | None = Field(None, description="which of several it is of: a library, an agent")
    text: str | None = Field(None, description="what somebody else said: an error of a library, a note")


def cause(
    code: CauseCode, text: str | None = None, about: str | None = None, **figures: float | int | None
) -> Cause:
    """Figures that are not known are left out."""
    known = {name: value for name, value in figures.items() if value is not None}
    return Cause(code=code, figures=known, about=about, text=text)


def worst_integrity(found: Iterable[Integrity]) -> Integrity:
    """Of several cases; those that were not measured count only when none was."""
    return _first(_INTEGRITY_ORDER, found)


def worst_validity(found: Iterable[Validity]) -> Validity:
    return _first(_VALIDITY_ORDER, found)


_INTEGRITY_ORDER = (
    Integrity.LOST,
    Integrity.CORRUPT,
    Integrity.FAILED,
    Integrity.NO_OUTCOME,
    Integrity.UNEXPECTED,
    Integrity.INCONSISTENT,
    Integrity.DUPLICATE,
    Integrity.OUT_OF_ORDER,
    Integrity.NOT_CHECKED,
    Integrity.OK,
    Integrity.NOT_MEASURED,
)
_VALIDITY_ORDER = (Validity.INVALID, Validity.VALID, Validity.NOT_MEASURED)

_Verdict = TypeVar("_Verdict")


def _first(order: Sequence[_Verdict], found: Iterable[_Verdict]) -> _Verdict:
    there = set(found)
    return next((value for value in order if value in there), order[-1])
