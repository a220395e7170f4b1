from __future__ import annotations

import math
from typing import Any

import pytest

from streamgauge.core.verdicts import Integrity, Validity
from streamgauge.families.sweep.answer import sweep_answer, sweep_text
from streamgauge.families.sweep.document import SweepDocument
from streamgauge.report.case_document import Case, Legs, Statistics
from streamgauge.report.document import Answer, State, ValidityVerdict

from ...report.plotted import point_case


def _document(cases: list[Case]) -> SweepDocument:
    return SweepDocument.model_construct(
        run="r",
        name="s",
        kind="sweep",
        status=State.OK,
        integrity=Integrity.OK,
        validity=Validity.VALID,
        cases=cases,
    )


def _case(number: int, p99: float, validity: Validity = Validity.VALID, **parameters: Any) -> Case:
    case = point_case(rate=1000.0, **parameters)
    leg = Statistics(count=1000, min=1, mean=1, max=p99, p50=1, p99=p99)
    verdict = ValidityVerdict(verdict=validity)
    return case.model_copy(
        update={
            "case": f"{number:03d}",
            "validity": verdict,
            "latency_ms": Legs.model_construct(intended_to_received=leg),
            "cpu_us_per_message": [],
        }
    )


def _said(cases: list[Case]) -> tuple[Answer, str]:
    answer = sweep_answer(_document(cases))
    return answer, sweep_text(answer)


def test_a_number_costs_by_the_doubling() -> None:
    costs = {1: 1.0, 2: 1.05, 4: 1.12, 8: 1.2}
    cases = [
        _case(
            10 * turn + count,
            10 * cost * (1 + 0.002 * turn * math.log2(count)),
            partitions=count,
            iteration=turn,
        )
        for turn in (1, 2, 3)
        for count, cost in costs.items()
    ]
    answer, text = _said(cases)
    [claim] = answer.claims
    assert claim.code == "ratio_of_a_doubling"
    assert claim.value == pytest.approx(1.2 ** (1 / 3) * 1.004, rel=0.01)
    assert text.startswith("Each doubling of partitions raises p99 by 6.")
    assert "–" in text


def test_a_word_costs_instead_of_the_first_and_one_pair_has_no_interval() -> None:
    _, text = _said([_case(1, 10.0, acks="1"), _case(2, 30.0, acks="all")])
    assert text == (
        "Acks all instead of 1 makes p99 3.000 times what it was according to a single pair of cases, "
        "which gives no interval."
    )
    _, text = _said([_case(1, 10.0, acks="1"), _case(2, 9.0, acks="all")])
    assert "lowers p99 by 10.0%" in text


def test_what_is_not_clear_is_called_so() -> None:
    cases = [
        _case(10 * turn + count, 10 * (1.1 if (turn + count) % 2 else 0.9), partitions=count, iteration=turn)
        for turn in (1, 2, 3, 4)
        for count in (1, 2)
    ]
    _, text = _said(cases)
    assert text.startswith("No effect of partitions on p99 can be seen (")


def test_cases_that_may_not_be_quoted_are_left_out() -> None:
    good = [_case(1, 10.0, partitions=1), _case(2, 12.0, partitions=2)]
    bad = _case(3, 99.0, Validity.INVALID, partitions=4)
    answer, text = _said([*good, bad])
    assert answer.excluded_count == 1
    assert "raises p99 by 20.0%" in text
    assert text.endswith("1 case is left out: nothing was measured.")
    answer, text = _said([good[0], bad])
    assert answer.claims == []
    assert text.startswith("What the knobs cost cannot be said from this run: ")
