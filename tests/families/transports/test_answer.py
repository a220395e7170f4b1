from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.comparing.estimates import Estimate
from streamgauge.core.verdicts import Validity
from streamgauge.families.transports import answer as answering
from streamgauge.families.transports.answer import transports_answer, transports_text
from streamgauge.families.transports.document import Promises, TransportsDocument
from streamgauge.report.results import results_document

from ...report.sample_run import transports_run


def test_the_faster_one_is_named_with_its_price(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = transports_run(tmp_path / "run")
    document = results_document(run)
    assert isinstance(document, TransportsDocument)
    plain = transports_answer(run, document)
    assert plain.claims[0].low is None
    assert transports_text(plain) == (
        "log is 1.66× as fast as socket at 1K/s by the median. 2 cases are left out: nothing was measured."
    )
    for about in document.transports.transports:
        about.promises = Promises(durable=about.transport == "socket", ordered=True, acked=True)
    fast, slow = plain.claims[0].about["transport"], plain.claims[0].about["against"]
    assert (fast, slow) == ("log", "socket")

    def estimates(*_: object) -> dict[str, Estimate]:
        rows = {row.transport: row.case for row in document.transports.rows if row.rate_per_s == 1000}
        return {
            rows["log"]: Estimate(0.1, lambda _: (0.099, 0.101)),
            rows["socket"]: Estimate(8.9, lambda _: (8.8, 9.0)),
        }

    monkeypatch.setattr(answering, "_estimates", estimates)
    answer = transports_answer(run, document)
    [claim] = answer.claims
    assert claim.low is not None
    assert claim.high is not None
    assert claim.low < 89 < claim.high
    assert transports_text(answer).startswith("log is 89× (")
    assert ") as fast as socket at 1K/s by the median, but keeps nothing." in transports_text(answer)


def test_what_may_not_be_quoted_is_not_said(tmp_path: Path) -> None:
    run = transports_run(tmp_path / "run")
    document = results_document(run)
    assert isinstance(document, TransportsDocument)
    for row in document.transports.rows:
        if row.transport != "log":
            row.validity = Validity.INVALID
    alone = transports_answer(run, document)
    assert transports_text(alone).startswith("log has a median of ")
    for row in document.transports.rows:
        row.validity = Validity.INVALID
    assert transports_text(transports_answer(run, document)).startswith(
        "Which transport is faster cannot be said from this run: "
    )
