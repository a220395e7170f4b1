from __future__ import annotations

from pathlib import Path
from typing import Any

from streamgauge.core.live_file import RESOURCES, STAGE
from streamgauge.core.run_dir import RunDir
from streamgauge.core.stages import Stage, Stages
from streamgauge.launch.live_resources import ToldStages, tell_resources


def sample(source: str, cpu_s: float, cores: int = 2) -> dict[str, Any]:
    return {
        "source": source,
        "kind": source.partition("-")[0],
        "cpu_s": cpu_s,
        "rss_bytes": 7,
        "cores": cores,
    }


def test_the_newest_look_at_every_process_is_told(tmp_path: Path) -> None:
    run = RunDir(str(tmp_path))
    rows = [sample("broker-0", 1), sample("machine", 5), sample("broker-0", 2), sample("machine", 6)]
    tell_resources(run, "001", rows)
    told = run.read_json(run.live(RESOURCES))
    assert (told["case"], told["cores"]) == ("001", 2)
    assert [(line["source"], line["kind"], line["cpu_s"]) for line in told["processes"]] == [
        ("broker-0", "broker", 2),
        ("machine", "machine", 6),
    ]


class Shown:
    def __init__(self) -> None:
        self.seen: list[str] = []

    def begin(self, stage: Stage) -> None:
        self.seen.append(f"begin {stage}")

    def end(self, stage: Stage, seconds: float) -> None:
        self.seen.append(f"end {stage}")


def test_a_stage_is_told_and_shown(tmp_path: Path) -> None:
    run, shown = RunDir(str(tmp_path)), Shown()
    stages = Stages(ToldStages(run, shown))
    stages.enter(Stage.WARMING_UP)
    assert run.read_json(run.live(STAGE))["stage"] == "warming_up"
    stages.enter(Stage.MEASURING)
    stages.end()
    assert run.read_json(run.live(STAGE))["stage"] == "measuring"
    assert shown.seen == ["begin warming_up", "end warming_up", "begin measuring", "end measuring"]


def test_a_folder_that_is_gone_is_not_made_again(tmp_path: Path) -> None:
    """A run that was refused has none any more."""
    Stages(ToldStages(RunDir(str(tmp_path / "gone")), Shown())).enter(Stage.MEASURING)
    assert not (tmp_path / "gone").exists()
