from __future__ import annotations

from streamgauge.core.verdicts import CauseCode, Validity, cause
from streamgauge.families.fanout.answer import fanout_answer, fanout_text
from streamgauge.report.document import ValidityVerdict

from .test_show import LADDER, document_of, point


def test_the_most_clients_of_each_series_and_where_it_ends() -> None:
    answer = fanout_answer(document_of(LADDER))
    assert [(claim.value, claim.high) for claim in answer.claims] == [(16000, None), (1000, 16000)]
    assert fanout_text(answer) == (
        "gateway serves 16,000 clients, the most that was tried, 123.4 ms late on average; "
        "kafka-groups serves 1,000 clients, not 16,000, 7.000 ms late on average."
    )


def test_a_point_that_may_not_be_quoted_is_left_out() -> None:
    doubt = ValidityVerdict(verdict=Validity.INVALID, causes=[cause(CauseCode.SWAPPED, swapped_bytes=4096)])
    points = [point("gateway", "1", 1000, 3.0), point("gateway", "1", 2000, 4.0, validity=doubt)]
    text = fanout_text(fanout_answer(document_of(points)))
    assert text.startswith("gateway serves 1,000 clients, the most that was tried, 3.000 ms late on average.")
    assert "1 point is left out: the machine swapped" in text
    text = fanout_text(fanout_answer(document_of(points[1:])))
    assert text.startswith("How many clients are served cannot be said from this run: the machine swapped")


def test_of_many_series_the_first_are_named() -> None:
    points = [point(f"gateway {name}", "1", 1000 * number, 3.0) for number, name in enumerate("abcde", 1)]
    assert fanout_text(fanout_answer(document_of(points))).endswith("; 2 more series serve fewer.")
