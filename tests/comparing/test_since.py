from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NoReturn

import pytest

from streamgauge.analysis.pipeline import analyze_with
from streamgauge.comparing import since
from streamgauge.comparing.estimates import Estimate
from streamgauge.comparing.measured import Measured, MeasuredRun, measured_run
from streamgauge.comparing.since import since_last
from streamgauge.core.run_dir import RunDir, runs_in
from streamgauge.core.verdicts import Cause, CauseCode, Validity, cause
from streamgauge.report.document import ValidityVerdict
from streamgauge.report.medium import Tone
from streamgauge.report.results import results_document
from streamgauge.spec.metrics import RATE, Metric

from ..golden import stored
from .simulated_pairs import simulated


def _no_spark() -> NoReturn:
    raise AssertionError("these runs are small")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same run three times, one after another; the last has another name."""
    runs = tmp_path_factory.mktemp("runs")
    made = stored.copy_of("e2e", tmp_path_factory.mktemp("stored"))
    analyze_with(_no_spark, made)
    for number, name in enumerate(("e2e", "e2e", "other"), 1):
        run = runs / f"2026010{number}-000000-{name}-000{number}"
        shutil.copytree(made.local(), run)
        plan = json.loads((run / "plan.json").read_text())
        plan |= {"run": run.name, "name": name}
        (run / "plan.json").write_text(json.dumps(plan))
    return runs


def _runs(folder: Path) -> list[RunDir]:
    return runs_in(str(folder))


def _judged(run: RunDir, doubts: list[Cause]) -> MeasuredRun:
    """As if its figures might be quoted, or not for these reasons."""
    found = measured_run(run)
    verdict = ValidityVerdict(verdict=Validity.INVALID if doubts else Validity.VALID, causes=doubts)
    return replace(found, parts=[replace(part, validity=verdict) for part in found.parts])


def test_the_same_again_is_no_difference(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(since, "measured_run", lambda run: _judged(run, []))
    first, second, other = _runs(folder)
    said = since_last(second, results_document(second), _runs(folder))
    assert said is not None
    assert said.text == f"Since the last run with these settings ({first.id}): no difference seen."
    assert said.tone is Tone.QUIET
    assert since_last(first, results_document(first), _runs(folder)) is None
    assert since_last(other, results_document(other), _runs(folder)) is None


def test_runs_of_the_name_with_other_settings_are_passed_over(tmp_path: Path) -> None:
    """As two loads that are measured by turns, both under the name of their family."""
    first, other, *_ = (
        simulated(tmp_path, median_ms, name=f"2026010{day}-000000-sim-0001", messages=1500, rate=rate)
        for day, median_ms, rate in ((1, 1.0, 300), (2, 2.0, 150), (3, 2.0, 150), (4, 3.0, 300))
    )
    newest = runs_in(str(tmp_path))[-1]
    said = since_last(newest, results_document(newest), runs_in(str(tmp_path)))
    assert said is not None
    assert said.text.startswith(f"Since the last run with these settings ({first.id}): slower: p50 3")
    assert since_last(other, results_document(other), runs_in(str(tmp_path))) is None


def test_nothing_is_called_where_validity_fails(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    doubt = cause(CauseCode.NEVER_SETTLED)
    monkeypatch.setattr(since, "measured_run", lambda run: _judged(run, [doubt]))
    first, second, _ = _runs(folder)
    said = since.since_last(second, results_document(second), [first])
    assert said is not None
    assert said.text.startswith(
        f"Since the last run with these settings ({first.id}): a difference may not be called: "
        "base: never at rest: "
    )
    assert said.tone is Tone.QUIET


def test_what_is_slower_and_what_is_faster_are_both_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slower(run: RunDir) -> MeasuredRun:
        found = _judged(run, [])
        times = 3.0 if run.id.startswith("20260102") else 1.0

        def changed(part: Measured, metric: Metric) -> Estimate | Cause:
            told = part.estimate(metric)
            if isinstance(told, Cause) or metric == RATE:
                return told
            value = times * told.value
            return Estimate(value, lambda _: (0.97 * value, 1.03 * value))

        return replace(found, parts=[replace(part, estimate=partial(changed, part)) for part in found.parts])

    monkeypatch.setattr(since, "measured_run", slower)
    first, second, _ = _runs(folder)
    said = since.since_last(second, results_document(second), [first])
    assert said is not None
    assert re.search(r"slower: p50 3.00× \(\d", said.text), said.text
    assert said.tone is Tone.BAD
