from __future__ import annotations

from streamgauge.comparing.differences import diff_document
from streamgauge.comparing.document import DiffVerdict
from streamgauge.comparing.estimates import Estimate
from streamgauge.comparing.measured import MeasuredRun
from streamgauge.core.run_dir import RunDir
from streamgauge.core.verdicts import CauseCode
from streamgauge.families.fanout.measured import measured_points
from streamgauge.spec.metrics import duration

from .test_show import LADDER, document_of, point


def _run(number: int, mean_ms: float) -> MeasuredRun:
    document = document_of([point("gateway", "1", 1000, mean_ms)], run=f"run-{number}")
    return MeasuredRun(RunDir(f"/runs/run-{number}"), document, measured_points(document))


def test_every_point_is_a_part_and_one_that_broke_has_no_figures() -> None:
    parts = measured_points(document_of(LADDER))
    assert [part.settings["clients"] for part in parts] == [1000, 16000, 1000, 16000, 18000]
    told = parts[0].estimate(duration("mean"))
    assert isinstance(told, Estimate)
    assert (told.value, told.limits) == (3.21, None)
    broken = parts[3].estimate(duration("mean"))
    assert not isinstance(broken, Estimate)
    assert broken.code is CauseCode.NOTHING_MEASURED


def test_one_run_of_each_does_not_tell_and_repeats_do() -> None:
    [alone] = diff_document([_run(1, 3.0)], [[_run(2, 9.0)]]).differences
    first = alone.cases[0].metrics[0]
    assert first.verdict is DiffVerdict.NOT_COMPARABLE
    assert [why.code for why in first.causes] == [CauseCode.NO_REPEATS]
    base = [_run(number, mean) for number, mean in enumerate((3.0, 3.05, 2.95, 3.02), 1)]
    new = [_run(number, mean) for number, mean in enumerate((9.0, 9.1, 8.9, 9.05), 5)]
    [found] = diff_document(base, [new]).differences
    assert found.cases[0].metrics[0].verdict is DiffVerdict.SLOWER
