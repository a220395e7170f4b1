from __future__ import annotations

import inspect

import pytest

from streamgauge.analysis import validity
from streamgauge.core.verdicts import CauseCode, Integrity, Limit, Validity, cause
from streamgauge.report import cause_words
from streamgauge.report.cause_words import advice_text, cause_text, limit_text


def test_every_value_has_its_words() -> None:
    assert set(cause_words._SAID) == set(CauseCode)
    assert set(cause_words.INTEGRITY_WORDS) == set(Integrity)
    assert set(cause_words.VALIDITY_WORDS) == set(Validity)
    assert set(cause_words.LIMIT_WORDS) == set(Limit)


def test_every_cause_of_not_being_valid_says_what_to_do() -> None:
    source = inspect.getsource(validity)
    named = [code for code in CauseCode if f"CauseCode.{code.name}" in source]
    assert len(named) >= 9
    assert [code for code in named if advice_text(cause(code)) is None] == []


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (cause(CauseCode.LOST_WRITE, message_count=1234), "1,234 acked messages lost, although later ones"),
        (
            cause(CauseCode.NOT_AT_REST, before_ms=2287.0, after_ms=23.0, change_second_count=9),
            "not at rest: the median of a second fell from 2,287 ms to 23.00 ms after second 9",
        ),
        (
            cause(CauseCode.NOT_AT_REST, before_per_s=90_000.0, after_per_s=30_000.0),
            "not at rest: the rate fell from 90,000/s to 30,000/s",
        ),
        (cause(CauseCode.RATE_MISSED, sent_per_s=500.0, wanted_per_s=1000.0), "500/s of 1,000/s (50.0%)"),
        (cause(CauseCode.NO_CPU_LEFT, machine_busy_share=0.99), "no CPU left: machine 99% busy"),
        (
            cause(CauseCode.CLOCK_ERROR, clock_error_ms=4.0, latency_p50_ms=1.0, below_zero_count=3),
            "clocks may differ by 4.000 ms, with a median latency of 1.000 ms; 3 latencies below zero",
        ),
        (
            cause(CauseCode.CLOCK_JUMPED, about="left", jump_ms=5000.0, wall_jump_ms=-20.0),
            "the clock of left jumped by 5,000 ms; its wall clock was moved by -20.00 ms, and broker times",
        ),
        (
            cause(CauseCode.CLOCK_JUMPED, about="left", wall_jump_ms=20.0),
            "the wall clock of left was moved by",
        ),
        (
            cause(CauseCode.HOST_SILENT, about="left", silent_ms=5100.0),
            "left was cut off: no answer from the launcher for 5,100 ms",
        ),
        (
            cause(CauseCode.TOO_FEW_MESSAGES, message_count=200, needed_count=1000),
            "too few messages for a p99: 200, but it needs 1,000",
        ),
        (cause(CauseCode.INCOMPLETE, measured_count=3, planned_count=5), "only 3 of 5 were measured"),
        (cause(CauseCode.INCOMPLETE), "it did not finish"),
        (cause(CauseCode.SPREAD, about="b", sd_share=0.84), "B: SD is 84% of the mean"),
        (cause(CauseCode.RECORDED, "an agent died"), "an agent died"),
        (
            cause(CauseCode.COMPRESSED, "zstd", sample_ratio=3.46, asked_ratio=4.0),
            "a sample of these messages, as one full batch, by a ratio of 3.46; 4 was requested; smaller",
        ),
        (
            cause(CauseCode.COMPRESSED, "zstd", reached_ratio=3.46),
            "a sample of these messages, as one full batch, by a ratio of 3.46; smaller batches reach less",
        ),
    ],
)
def test_words_carry_the_figures(found, words) -> None:
    assert words in cause_text(found)


def test_limits() -> None:
    assert limit_text(None, None) == "not known"
    held = cause(CauseCode.LOAD_HELD, lag_p99_ms=0.5, broker_cores=1.8, broker_host_core_count=2)
    assert limit_text(Limit.NONE, held) == (
        "none found – the load was held: schedule lag p99 0.500 ms, broker 1.80 of 2 cores"
    )


@pytest.mark.parametrize(
    ("about", "floor_ms", "words"),
    [
        (None, None, "the machine's own noise floor is not known"),
        ("machine", 4.0, "the machine itself is the cause: a bare pacer beside it was 4.000 ms late"),
        ("generator", 0.25, "it is the generator: a bare pacer beside it was 0.250 ms late"),
    ],
)
def test_who_was_late_is_said(about: str | None, floor_ms: float | None, words: str) -> None:
    late = cause(
        CauseCode.GENERATOR_LATE,
        about=about,
        lag_p99_ms=4.1,
        latency_p99_ms=5.0,
        noise_floor_p99_ms=floor_ms,
    )
    assert cause_text(late) == f"sent late: schedule lag p99 4.100 ms of a latency p99 of 5.000 ms; {words}"
