"""The same load twice on a real broker: nothing is different, and nothing is called so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from streamgauge.comparing.differences import diff_document
from streamgauge.comparing.document import DiffVerdict
from streamgauge.comparing.measured import measured_run
from streamgauge.core.run_dir import RunDir
from tests.cli.streamgauge_command import Streamgauge, one_run

pytestmark = [pytest.mark.broker, pytest.mark.spark]

SHARED_MACHINE_PERCENT = 30.0
"""What runs are apart by where other tests come and go beside them; a quiet machine needs no such width."""


def test_the_same_load_twice_gets_no_verdict(kafka: str, run_here: Streamgauge, tmp_path: Path) -> None:
    """Two cases of one run, each taken for a run of its own: Spark is started once."""
    target = {"driver": "kafka_confluent", "settings": {"bootstrap": kafka}}
    content = {
        "name": "twice",
        "targets": [{"name": name, **target} for name in ("once", "again")],
        "load": {"messages": 3000, "rate": 1000, "warm_up_messages": 500},
    }
    file = tmp_path / "twice.yaml"
    file.write_text(yaml.safe_dump(content))
    done = run_here("run", file, "--out", tmp_path / "runs", "--quiet")
    assert done.returncode == 0, done.stderr
    both = measured_run(RunDir.open(str(one_run(tmp_path / "runs"))))
    assert len(both.parts) == 2
    base, new = (replace(both, parts=[part]) for part in both.parts)
    document = diff_document([base], [[new]], between_runs_percent=SHARED_MACHINE_PERCENT)
    [difference] = document.differences
    assert [each.name for each in difference.settings] == ["target"]
    [case] = difference.cases
    assert {each.metric for each in case.metrics} >= {"p50", "p99", "rate"}
    called = [each for each in case.metrics if each.verdict in (DiffVerdict.FASTER, DiffVerdict.SLOWER)]
    assert called == []
