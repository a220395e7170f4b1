"""What a verification found is said in words, with places that a person can look up."""

from __future__ import annotations

from io import StringIO

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
from streamgauge.report.shown import Note
from streamgauge.report.shown_tables import Table
from streamgauge.report.verification_show import (
    CLAIMS,
    FINDING_MEANINGS,
    FINDING_NAMES,
    example_text,
    print_verification,
    verification_blocks,
    verification_sentence,
)

LOST = Finding(
    kind=FindingKind.LOST_WRITE,
    count=1234,
    examples=(Example(topic="orders", partition=2, offset=17, producer=0, sequence=9),),
)
AGAIN = Finding(kind=FindingKind.DUPLICATE, count=2, allowed_by="idempotence is off")


def case(*findings: Finding) -> CaseVerification:
    return CaseVerification(case="001", acked=5000, received=4000, partitions=3, findings=findings)


def test_every_kind_has_a_name_and_a_meaning() -> None:
    assert set(FINDING_NAMES) == set(FINDING_MEANINGS) == set(FindingKind)


def test_nothing_is_claimed_of_a_question_that_nobody_answered() -> None:
    assert set(CLAIMS) == set(Question)
    for question, claim in CLAIMS.items():
        without = case().model_copy(update={"unanswered": (question,), "is_decided": False})
        assert claim not in verification_sentence(without)
        assert all(other in verification_sentence(without) for other in {*CLAIMS.values()} - {claim})


def test_a_clean_log_is_said_to_be_one() -> None:
    _, note = verification_blocks(case())

    assert isinstance(note, Note)
    assert note.tone is Tone.GOOD
    assert "5,000 acknowledged messages and 4,000 records of 3 partitions" in note.text


def test_a_broken_promise_is_bad_and_an_allowed_one_is_not() -> None:
    _, broken, table = verification_blocks(case(LOST, AGAIN))
    _, allowed, _ = verification_blocks(case(AGAIN))

    assert isinstance(broken, Note)
    assert isinstance(allowed, Note)
    assert isinstance(table, Table)
    assert (broken.tone, allowed.tone) == (Tone.BAD, Tone.WARN)
    assert "1,234 lost write, 2 duplicate" in broken.text
    assert [cell.value for cell in table.rows[0].cells][3] == "orders[2]@17, producer 0 #9"


def test_nothing_is_shown_where_nothing_was_verified() -> None:
    assert verification_blocks(None) == []
    assert verification_blocks(CaseVerification(case="001")) == []


def test_who_verified_nothing_does_not_say_that_nothing_was_lost() -> None:
    nothing = CaseVerification(case="001", is_decided=False, not_checked=("everything: it was not begun",))
    part = case().model_copy(update={"is_decided": False})
    [_, note] = verification_blocks(part)

    assert (
        verification_sentence(nothing) == "nothing was verified. Not checked: everything: it was not begun."
    )
    assert isinstance(note, Note)
    assert note.tone is Tone.WARN


def test_a_log_that_was_cut_back_is_said_to_be_one_though_all_of_it_was_read() -> None:
    conflict = Finding(kind=FindingKind.INCONSISTENT_OFFSETS, count=7912)
    gone = case(conflict).model_copy(update={"cut_back": 7912})

    assert "the offsets of 7,912 acknowledged messages were given to others" in verification_sentence(gone)
    assert "cut back" not in verification_sentence(case(conflict))


def test_the_command_prints_every_example() -> None:
    out = StringIO()

    print_verification(Verification(run="r", cases=(case(LOST),)), Console(file=out, width=200))

    assert "orders[2]@17, producer 0 #9" in out.getvalue()


def test_an_example_says_what_it_knows() -> None:
    assert example_text(Example(topic="t", partition=0)) == "t[0]"
    read = Example(topic="t", partition=0, offset=4, consumer=1, arrival=7, other_offset=9)
    assert example_text(read) == "t[0]@4, read by consumer 1 as its record 7, also @9"
    two = Example(
        topic="t", partition=0, offset=4, producer=0, sequence=1, other_producer=2, other_sequence=3
    )
    assert example_text(two) == "t[0]@4, producer 0 #1, and producer 2 #3"
