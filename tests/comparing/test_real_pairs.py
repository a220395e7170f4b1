"""The same load twice: nothing is different, and nothing is called so, though its figures are comparable."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from streamgauge.cli.exit_codes import NOT_OK_EXIT_CODE
from streamgauge.comparing.differences import diff_document
from streamgauge.comparing.document import DiffDocument, DiffVerdict, MetricDifference, SpreadSource
from streamgauge.comparing.measured import measured_run
from streamgauge.core.run_dir import RunDir
from streamgauge.core.verdicts import CauseCode, Validity
from tests.cli.streamgauge_command import Streamgauge, one_run
from tests.proof import PROOF

from .simulated_pairs import simulated

LOAD: dict[str, Any] = {"messages": 12_000, "rate": 1000}
"""Twelve seconds: enough for a verdict on rest, and for a p99.9."""
PAIRS = 2
TRIES = 6
"""Runs that may not be quoted are no pair; whether a pair seems different chooses none."""
_CALLED = (DiffVerdict.FASTER, DiffVerdict.SLOWER)


def _compared(base: RunDir, new: RunDir) -> tuple[DiffDocument, dict[str, MetricDifference]]:
    document = diff_document([measured_run(base)], [[measured_run(new)]])
    [difference] = document.differences
    assert difference.settings == []
    [case] = difference.cases
    assert (case.base.validity, case.new.validity) == ("valid", "valid"), case.metrics[0].causes
    return document, {each.metric: each for each in case.metrics}


@pytest.mark.broker
@pytest.mark.spark
@pytest.mark.proof
@pytest.mark.skipif(not PROOF, reason="needs a quiet machine and minutes: make proof")
def test_the_same_load_twice_on_a_real_broker_gets_no_verdict(
    kafka: str, run_here: Streamgauge, tmp_path: Path
) -> None:
    """Two runs, each at rest before it is measured, and the spread between runs that anybody gets."""
    content = {
        "name": "twice",
        "targets": [{"name": "kafka", "driver": "kafka_confluent", "settings": {"bootstrap": kafka}}],
        "load": {**LOAD, "warm_up_messages": "auto"},
    }
    file = tmp_path / "twice.yaml"
    file.write_text(yaml.safe_dump(content))
    runs: list[RunDir] = []
    for number in range(TRIES):
        out = tmp_path / str(number)
        done = run_here("run", file, "--out", out, "--quiet")
        assert done.returncode in (0, NOT_OK_EXIT_CODE), done.stderr
        run = RunDir.open(str(one_run(out)))
        if measured_run(run).parts[0].validity.verdict is Validity.VALID:
            runs.append(run)
        if len(runs) == 2:
            break
    else:
        pytest.fail(f"{len(runs)} of {TRIES} runs may be quoted: this machine is too busy to prove anything")
    document, metrics = _compared(*runs)
    assert document.between_runs_from is SpreadSource.USUAL
    for name in ("p50", "p90", "p99", "mean", "rate"):
        found = metrics[name]
        assert found.verdict is DiffVerdict.NO_DIFFERENCE_SEEN, (name, found)
    assert metrics["p99.9"].verdict not in _CALLED


def test_the_same_law_gets_no_verdict_and_its_figures_are_comparable(tmp_path: Path) -> None:
    """Pairs with other seeds: each figure has a ratio with an interval, and could be called different."""
    told: list[MetricDifference] = []
    for pair in range(PAIRS):
        runs = [simulated(tmp_path / f"{pair}-{side}", 1.0, seed=2 * pair + side, **LOAD) for side in (1, 2)]
        document, metrics = _compared(*runs)
        assert document.between_runs_from is SpreadSource.USUAL
        told += metrics.values()
    assert {each.metric for each in told} == {"p50", "p90", "p99", "p99.9", "mean", "rate"}
    for each in told:
        assert each.verdict is DiffVerdict.NO_DIFFERENCE_SEEN, each
        assert each.interval is not None
        assert each.causes == []


def test_what_is_too_short_has_no_verdict_for_that_reason_only(tmp_path: Path) -> None:
    """The other way in which nothing is called: it must never be taken for the first."""
    runs = [simulated(tmp_path / str(seed), 1.0, seed=seed, messages=3000, rate=1000) for seed in (1, 2)]
    document = diff_document([measured_run(runs[0])], [[measured_run(runs[1])]])
    [case] = document.differences[0].cases
    assert {each.verdict for each in case.metrics} == {DiffVerdict.NOT_COMPARABLE}
    assert {each.causes[0].code for each in case.metrics} == {CauseCode.TOO_SHORT}
