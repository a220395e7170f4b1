"""What a verification found, in words and as a table of places to look at."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console

from streamgauge.core.findings import (
    CaseVerification,
    Example,
    Finding,
    FindingKind,
    Question,
    Verification,
)
from streamgauge.report.medium import Tone
from streamgauge.report.quantities import count_text, plural
from streamgauge.report.shown import Block, Heading, Note
from streamgauge.report.shown_tables import Cell, Column, Table, Unit, row

FINDING_NAMES = {
    FindingKind.LOST_WRITE: "lost write",
    FindingKind.UNSEEN: "unseen",
    FindingKind.ABORTED_READ: "aborted read",
    FindingKind.INCONSISTENT_OFFSETS: "inconsistent offsets",
    FindingKind.CORRUPT: "corrupt",
    FindingKind.UNEXPECTED: "unexpected",
    FindingKind.REORDERED: "reordered",
    FindingKind.DUPLICATE: "duplicate",
    FindingKind.NONMONOTONIC_POLL: "nonmonotonic poll",
    FindingKind.REDELIVERED: "redelivered",
}
FINDING_MEANINGS = {
    FindingKind.LOST_WRITE: "acknowledged, never read, though something behind it in its partition was",
    FindingKind.UNSEEN: "acknowledged, never read, and nothing behind it was either",
    FindingKind.ABORTED_READ: "read, though its transaction was aborted",
    FindingKind.INCONSISTENT_OFFSETS: "one offset with two messages, or a message that is not where it was "
    "acknowledged",
    FindingKind.CORRUPT: "a record that is not what was sent",
    FindingKind.UNEXPECTED: "a record that no producer is known to have sent",
    FindingKind.REORDERED: "came after a later message of its producer and partition",
    FindingKind.DUPLICATE: "one message at two offsets",
    FindingKind.NONMONOTONIC_POLL: "a consumer went back to an offset at or before its last one",
    FindingKind.REDELIVERED: "read again at the same offset",
}
CLAIMS = {
    Question.LOSS: "none lost",
    Question.COPIES: "none written twice",
    Question.ORDER: "none out of order",
    Question.OFFSETS: "offsets agree",
}
"""What is said where nothing was found, of questions that were answered."""
_ALL_WELL = "none lost, none written twice, order and offsets agree"
_SHOWN_EXAMPLES = 3


def verification_blocks(found: CaseVerification | None) -> list[Block]:
    if found is None or not (found.acked or found.received):
        return []
    return [Heading("Verification"), Note(verification_sentence(found), _tone(found)), *_table(found)]


def verification_sentence(found: CaseVerification) -> str:
    looked = (
        f"{plural(found.acked, 'acknowledged message')} and {plural(found.received, 'record')} of "
        f"{plural(found.partitions, 'partition')} were verified"
    )
    if not (found.acked or found.received or found.findings):
        words = "nothing was verified."
    elif not found.findings:
        words = f"{looked}: {_claims(found)}."
    else:
        parts = ", ".join(f"{count_text(one.count)} {FINDING_NAMES[one.kind]}" for one in found.findings)
        words = f"{looked}: {parts}."
        if found.is_good:
            words += " No promise is broken: what was found, the settings allow."
    unchecked = "".join(f" Not checked: {one}." for one in found.not_checked)
    return words + _cut_back(found) + _rolled_up(found) + unchecked


def _claims(found: CaseVerification) -> str:
    if not found.unanswered:
        return _ALL_WELL
    said = [claim for question, claim in CLAIMS.items() if question not in found.unanswered]
    return ", ".join(said) or "nothing can be said of what became of them"


def _cut_back(found: CaseVerification) -> str:
    if not found.cut_back:
        return ""
    return (
        f" The log was cut back: the offsets of {plural(found.cut_back, 'acknowledged message')} were given"
        " to others; whoever reads the log now does not find them, even those that were read before."
    )


def _rolled_up(found: CaseVerification) -> str:
    if not found.rolled_up:
        return ""
    kept = count_text(found.rolled_up_kept)
    return (
        f" {plural(found.rolled_up, 'message')} were judged while the case ran, and rolled up: their"
        f" percentiles are those of histograms with 3 significant digits; {kept} of them, the slowest and"
        " those around faults, are kept one by one."
    )


def print_verification(found: Verification, console: Console) -> None:
    """Case by case: what was looked at, and every example that was kept."""
    for case in found.cases:
        words = f"case {case.case}: {verification_sentence(case)}"
        console.print(words, markup=False, highlight=False, soft_wrap=True)
        for one in case.findings:
            words = f"  {count_text(one.count)} {FINDING_NAMES[one.kind]}: {_meaning(one)}"
            console.print(words, markup=False, highlight=False, soft_wrap=True)
            for example in one.examples:
                console.print(f"    {example_text(example)}", markup=False, highlight=False, soft_wrap=True)


def _tone(found: CaseVerification) -> Tone:
    if not found.is_good:
        return Tone.BAD
    return Tone.WARN if found.findings or not found.is_decided else Tone.GOOD


def _table(found: CaseVerification) -> Iterator[Table]:
    if not found.findings:
        return
    yield Table(
        "Findings",
        [Column("finding"), Column("count", Unit.COUNT), Column("meaning"), Column("example")],
        [
            row(
                Cell(FINDING_NAMES[one.kind]),
                Cell(one.count),
                Cell(_meaning(one)),
                Cell("; ".join(example_text(example) for example in one.examples[:_SHOWN_EXAMPLES])),
            )
            for one in found.findings
        ],
    )


def _meaning(found: Finding) -> str:
    meaning = FINDING_MEANINGS[found.kind]
    return meaning if found.allowed_by is None else f"{meaning}; allowed: {found.allowed_by}"


def example_text(example: Example) -> str:
    """A place that can be looked up: topic, partition and offset; producer and sequence."""
    parts: list[str] = []
    if example.topic is not None:
        place = example.topic if example.partition is None else f"{example.topic}[{example.partition}]"
        parts.append(place if example.offset is None else f"{place}@{example.offset}")
    if example.producer is not None and example.sequence is not None:
        parts.append(f"producer {example.producer} #{example.sequence}")
    if example.other_producer is not None:
        parts.append(f"and producer {example.other_producer} #{example.other_sequence}")
    if example.consumer is not None:
        parts.append(f"read by consumer {example.consumer} as its record {example.arrival}")
    if example.other_offset is not None and example.other_offset >= 0:
        parts.append(f"also @{example.other_offset}")
    return ", ".join(parts)
