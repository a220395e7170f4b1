from __future__ import annotations

from pathlib import Path

from streamgauge.analysis.noise_floor import noise_floors_ms
from streamgauge.analysis.verdicts import verdicts
from streamgauge.core.run_dir import RunDir

from .test_case_figures import figures
from .test_compression import plan_of


def test_the_highest_of_a_cases_producers_stands_for_it(tmp_path: Path) -> None:
    run = RunDir.create(str(tmp_path), "r")
    plan = plan_of(run)
    assert noise_floors_ms(run, plan) == {}
    run.write_json(run.manifest("001", "producer-0"), {"noise_floor": {"p99_ns": 250_000, "count": 900}})
    run.write_json(run.manifest("001", "consumer-0"), {"noise_floor": {"p99_ns": 9_000_000, "count": 900}})
    assert noise_floors_ms(run, plan) == {"001": 0.25}
    run.write_json(run.manifest("001", "producer-1"), {"noise_floor": {"p99_ns": 750_000, "count": 900}})
    assert noise_floors_ms(run, plan) == {"001": 0.75}


def test_what_nobody_measured_is_not_known(tmp_path: Path) -> None:
    """Manifests of older runs have no such field; agents without compiled loops leave it empty."""
    run = RunDir.create(str(tmp_path), "r")
    run.write_json(run.manifest("001", "producer-0"), {"agent": "producer-0"})
    run.write_json(run.manifest("001", "producer-1"), {"noise_floor": {}})
    assert noise_floors_ms(run, plan_of(run)) == {}


def test_it_stands_beside_the_verdict() -> None:
    for known in (0.75, None):
        [row], _ = verdicts([figures() | {"noise_floor_ms": known}])
        assert row["noise_floor_p99_ms"] == known
