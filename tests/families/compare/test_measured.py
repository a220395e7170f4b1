from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.comparing.differences import diff_document
from streamgauge.comparing.document import DiffVerdict
from streamgauge.comparing.estimates import Estimate
from streamgauge.comparing.measured import measured_run
from streamgauge.core.verdicts import CauseCode
from streamgauge.families.compare.measured import TIME
from streamgauge.spec.metrics import duration

from ...report.sample_comparison import compared_run


def test_each_library_has_its_own_times_in_each_cell(tmp_path: Path) -> None:
    found = measured_run(compared_run(tmp_path / "run"))
    assert len(found.parts) == 16
    first, second, *_ = found.parts
    assert (first.settings["library"], second.settings["library"]) == ("one", "two")
    assert first.case == "one, produce cold 5 × 10 B"
    told = first.estimate(TIME)
    assert isinstance(told, Estimate)
    assert told.limits is not None
    low, high = told.limits(0.95)
    assert low < told.value < high
    assert told.value == pytest.approx(0.495, rel=0.1)
    nothing = first.estimate(duration("mean"))
    assert not isinstance(nothing, Estimate)
    assert nothing.code is CauseCode.NOTHING_MEASURED


def test_the_same_run_twice_is_no_difference_and_what_may_not_be_quoted_is_not_called(tmp_path: Path) -> None:
    runs = [measured_run(compared_run(tmp_path / name)) for name in "ab"]
    [difference] = diff_document(runs[:1], [runs[1:]]).differences
    assert len(difference.cases) == 16
    assert difference.count(DiffVerdict.FASTER) == difference.count(DiffVerdict.SLOWER) == 0
    not_quoted = [case for case in difference.cases if case.metrics[0].verdict is DiffVerdict.NOT_COMPARABLE]
    # The cell whose control failed, of both libraries.
    assert {case.metrics[0].causes[0].code for case in not_quoted} == {CauseCode.CONTROL_FAILED}
    assert len(not_quoted) == 2
