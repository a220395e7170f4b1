"""What a verification found, as values: Jepsen's words for what goes wrong with a log, and where to look.

The names are those of Jepsen's Kafka checker, where it has one: https://github.com/jepsen-io/redpanda.
"""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

MOST_EXAMPLES = 10


class FindingKind(StrEnum):
    """The gravest first."""

    LOST_WRITE = "lost_write"
    UNSEEN = "unseen"
    ABORTED_READ = "aborted_read"
    INCONSISTENT_OFFSETS = "inconsistent_offsets"
    CORRUPT = "corrupt"
    UNEXPECTED = "unexpected"
    REORDERED = "reordered"
    DUPLICATE = "duplicate"
    NONMONOTONIC_POLL = "nonmonotonic_poll"
    REDELIVERED = "redelivered"


class Question(StrEnum):
    """What a verification answers; a finding says no, and no finding says yes where it was looked at."""

    LOSS = "loss"
    COPIES = "copies"
    ORDER = "order"
    OFFSETS = "offsets"


class _Value(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Example(_Value):
    """One place to look at; what is not known is null."""

    topic: str | None = None
    partition: int | None = None
    offset: int | None = None
    producer: int | None = None
    sequence: int | None = None
    consumer: int | None = None
    """who read it"""
    arrival: int | None = None
    """which record of that consumer, from 0"""
    other_offset: int | None = None
    """where else it was read, or acknowledged, or what was read before"""
    other_producer: int | None = None
    """of the message that is said to be at the same offset"""
    other_sequence: int | None = None


class Finding(_Value):
    kind: FindingKind
    count: int
    """messages, records or places, all of them"""
    allowed_by: str | None = None
    """the setting under which nobody promised otherwise; null: a promise is broken"""
    examples: tuple[Example, ...] = Field(default=(), description="the first few")


class CaseVerification(_Value):
    case: str
    acked: int = 0
    """messages of which every one has to be received"""
    received: int = 0
    """intact records that were looked at"""
    partitions: int = 0
    """that something was read of"""
    cut_back: int = 0
    """acknowledged messages whose offset was given to another one: the log was cut back, and they are gone
    from it, even those that were read before and so are not lost writes"""
    rolled_up: int = 0
    """messages that were judged while the case ran, and are counted in histograms of each second since"""
    rolled_up_kept: int = 0
    """of these: the slowest and those around faults, which have a row each all the same"""
    not_checked: tuple[str, ...] = ()
    """which questions nobody could answer, and why"""
    unanswered: tuple[Question, ...] = ()
    """of these questions, those that are about what was recorded: nothing is claimed of them"""
    is_decided: bool = True
    """whether it ended as planned, anything was acknowledged or received, and every question that concerns
    its transport was answered; else no finding is no proof"""
    findings: tuple[Finding, ...] = ()

    @property
    def is_good(self) -> bool:
        return all(found.allowed_by is not None for found in self.findings)

    def count_of(self, kind: FindingKind) -> int:
        return sum(found.count for found in self.findings if found.kind is kind)


class Verification(_Value):
    """Of a whole run: results/verification.json."""

    run: str
    cases: tuple[CaseVerification, ...] = ()

    @property
    def is_good(self) -> bool:
        return all(case.is_good for case in self.cases)

    @property
    def is_decided(self) -> bool:
        return all(case.is_decided for case in self.cases)
