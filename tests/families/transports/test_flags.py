"""What the flags of transports make, without running it."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.families.transports.command import Preset, transports
from streamgauge.families.transports.workload import TransportsWorkload
from streamgauge.flags.options import EngineChoice


def made(**flags: object) -> TransportsWorkload:
    workload = transports(**flags).workload  # type: ignore[arg-type]
    assert isinstance(workload, TransportsWorkload)
    return workload


def test_no_batching_is_as_transport_bench_has_it() -> None:
    kafka = made(
        transport="kafka", preset=Preset.no_batching, harness=False, engine=EngineChoice.jvm
    ).targets[0]
    assert kafka.settings["fetch_max_wait_ms"] == 0
    assert kafka.settings["linger_ms"] == 0
    assert kafka.consumer_client["max.poll.records"] == 1
    usual = made(transport="kafka", harness=False, engine=EngineChoice.jvm).targets[0]
    assert "max.poll.records" not in usual.consumer_client


def test_iterations_of_a_file_are_lengthened_where_a_step_would_be_too_short(tmp_path: Path) -> None:
    (tmp_path / "e.env").write_text("iterations=100K\ntransport=kafka\n")
    steps = made(env_file=tmp_path / "e.env", rate="1k,100k").cases
    assert [step["messages"] for step in steps] == [100_000, 500_000]
    forced = made(env_file=tmp_path / "e.env", rate="1k,100k", force=True).cases
    assert [step["messages"] for step in forced] == [100_000, 100_000]
    with pytest.raises(BadInput, match="too short"):
        made(transport="kafka", messages="100k", rate="100k")
