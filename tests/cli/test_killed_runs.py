"""Whatever of a run is killed, and whenever: no file is torn, what was recorded is there, nothing is left
running, `runs` says which command goes on, and that command does.

`make test` kills one run whole in its second case; `make proof` kills runs in every stage, and a sweep at 20
moments that are drawn.
"""

from __future__ import annotations

import json
import logging
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from streamgauge.core.run_dir import RunDir
from streamgauge.core.stages import Stage
from streamgauge.core.status import KEPT_AFTER_S
from streamgauge.report.listed_runs import listed
from streamgauge.report.results import stored_document
from tests.cli.killing import Ended, Place, after, command_to_go_on, end_at, torn
from tests.cli.streamgauge_command import Streamgauge, in_process, log_of, one_run, streamgauge
from tests.cli.streamgauge_command import command as line
from tests.proof import PROOF
from tests.waiting import wait_for

pytestmark = [pytest.mark.broker, pytest.mark.spark]

LOGGER = logging.getLogger(__name__)
KILLS = int(os.environ.get("STREAMGAUGE_KILLS", "20"))
BUSY_S = 3.0
"""How late a thread may be that wants to run once a second, on a machine that does much else."""
TWO_CASES = """
name: killed
targets: [{name: kafka, driver: kafka_confluent, settings: {bootstrap: "%s"}}]
load: {messages: 100, rate: 2000}
sweep: {messages: [100, %d]}
"""


def two_cases(place: Place, messages: int) -> list[str | Path]:
    file = place.folder / "w.yaml"
    file.write_text(TWO_CASES % (place.kafka, messages))
    return ["run", file, "--out", place.out]


def live(place: Place, name: str) -> dict[str, Any]:
    """What is told of a run that goes on; nothing, as long as there is nothing."""
    for path in place.out.glob(f"*/live/{name}.json"):
        try:
            content: dict[str, Any] = json.loads(path.read_text())
        except (OSError, ValueError):
            continue
        return content
    return {}


def sent(run: Path, case: str) -> list[int]:
    """When, of all messages in event files."""
    files = (run / "events" / "sends" / f"case={case}").glob("*.parquet")
    return sorted(
        ns for file in files for ns in pq.read_table(file, partitioning=None)["sent_ns"].to_pylist()
    )


def test_a_run_that_is_killed_whole_has_what_it_recorded_and_goes_on(
    kafka: str, run_here: Streamgauge, tmp_path: Path
) -> None:
    place = Place(tmp_path, kafka)

    def moment() -> bool:
        told = live(place, "producer-0")
        return told.get("case") == "002" and told.get("messages", 0) >= 3000

    ended = end_at(place, two_cases(place, 12_000), signal.SIGKILL, moment, whole=True)
    run = one_run(place.out)
    assert (ended.left, torn(place.out)) == ([], []), ended.how
    assert listed(RunDir(str(run))).state == "partial"
    assert command_to_go_on(run) == ["run", "--resume", str(run)]
    # Nobody could write anything down, and it was at it for less than the seconds that events once waited.
    assert run_here("analyze", run).returncode == 0
    times = sent(run, "002")
    assert len(times) >= 1000
    assert times[-1] > ended.at_ns - int((KEPT_AFTER_S + BUSY_S) * 1e9)
    assert listed(RunDir(str(run))).state == "partial"
    assert in_process("results", run).returncode == 0
    # What had not been read yet is not lost, and that nothing else was is not known.
    assert in_process("verify", run, "--quiet").returncode == 5

    done = run_here(*command_to_go_on(run))
    assert done.returncode == 0, done.stderr
    assert [case.status for case in _document(run).cases] == ["ok", "ok"]
    assert len(sent(run, "002")) == 12_000
    assert command_to_go_on(run) == []


def _document(run: Path) -> Any:
    return stored_document(RunDir(str(run)))


EMBEDDED = """
name: killed
targets: [{name: kafka, driver: kafka_confluent, system: {}}]
load: {messages: 100, rate: 2000, warm_up_messages: %s}
sweep: {messages: [100, 8000]}
"""
WHO = ["launcher", "whole", "agent"]
MEASURED = (Stage.WARMING_UP, Stage.MEASURING)


def in_stage(place: Place, stage: Stage) -> Callable[[], bool]:
    """A little after it has begun, in the second case where each case has it."""

    def is_there() -> bool:
        if live(place, "stage").get("stage") != str(stage):
            return False
        if stage in MEASURED:
            told = live(place, "producer-0")
            return told.get("case") == "002" and bool(told.get("messages"))
        time.sleep(0.05)
        return True

    return is_there


@pytest.mark.skipif(not PROOF, reason="`make proof` kills in every stage")
@pytest.mark.proof
@pytest.mark.parametrize("who", WHO)
@pytest.mark.parametrize("stage", [stage for stage in Stage if stage is not Stage.FETCHING])
def test_in_whatever_stage_a_run_is_killed_it_goes_on(stage: Stage, who: str, tmp_path: Path) -> None:
    if who == "agent" and stage not in MEASURED:
        pytest.skip("there is none, or it has nothing to do")
    place = Place(tmp_path, "")
    file = tmp_path / "w.yaml"
    file.write_text(EMBEDDED % ("auto" if stage is Stage.WARMING_UP else "0"))
    command: list[str | Path] = ["run", file, "--out", place.out]
    if who == "agent":
        _kill_agent(place, command, in_stage(place, stage))
        run = one_run(place.out)
        # The case is lost, and the run has said so, and has gone to its end.
        assert listed(RunDir(str(run))).state == "failed"
        assert len(sent(run, "002")) > 0
    else:
        ended = end_at(place, command, signal.SIGKILL, in_stage(place, stage), whole=who == "whole")
        assert ended.left == [], ended.how
        run = one_run(place.out)
        _carry_to_its_end(run)
        assert len(sent(run, "002")) >= 8000
    assert torn(place.out) == []
    assert (run / "report" / "index.html").exists()


def _kill_agent(place: Place, command: list[str | Path], moment: Callable[[], bool]) -> None:
    with subprocess.Popen(line(*command), env=place.environment, cwd=place.folder) as process:
        wait_for(moment)
        producer = next(each for each in place.processes() if log_of(each.pid).endswith("producer-0.log"))
        time.sleep(2 * KEPT_AFTER_S)
        producer.kill()
        assert process.wait(120) == 1
    assert place.processes() == []


def _carry_to_its_end(run: Path) -> None:
    """By what `runs` says, one command after another."""
    for _ in range(4):
        command = command_to_go_on(run)
        if not command:
            return
        done = streamgauge(*command)
        assert done.returncode == 0, (command, done.stderr)
    raise AssertionError(f"it is not done: {listed(RunDir(str(run)))}")


@pytest.mark.skipif(not PROOF, reason="`make proof` kills a sweep at 20 moments")
@pytest.mark.proof
def test_a_sweep_is_killed_at_twenty_moments(tmp_path: Path) -> None:
    """Each time it goes on from there; a sweep that comes to its end is followed by another."""
    draw = random.Random("a sweep is killed")
    place, wrong, said = Place(tmp_path, ""), [], []
    kills = 0
    while kills < KILLS:
        command: list[str | Path] = list(_unfinished(place)) or _sweep(place)
        moment_s = draw.uniform(0.5, 30)
        ended = end_at(place, command, signal.SIGKILL, after(moment_s), whole=draw.random() < 0.5)
        if ended.exit_code == -signal.SIGKILL:
            kills += 1
            said.append(_said(place, ended))
        elif ended.exit_code != 0:
            wrong.append((ended.how, f"exit code {ended.exit_code}: {place.said()}"))
            break
        wrong += [(ended.how, what) for what in [*ended.left, *torn(place.out)]]
        if len(_unfinished_runs(place)) > 1:
            wrong.append((ended.how, f"{len(_unfinished_runs(place))} runs are not done"))
    LOGGER.info("%s", "\n".join(said))
    assert wrong == []
    for run in _unfinished_runs(place):
        _carry_to_its_end(run)
    for run in _runs(place):
        document = _document(run)
        assert (document.status, document.integrity) == ("ok", "ok"), run
        assert torn(run) == []


def _sweep(place: Place) -> list[str | Path]:
    knobs = ("--topics", "1,2", "--partitions", "1,4", "--message-size", "64", "--stream-size", "1000")
    return ["sweep", *knobs, "--warm-up-messages", "1", "--out", place.out]


def _runs(place: Place) -> list[Path]:
    return sorted(folder for folder in place.out.iterdir() if (folder / "plan.json").exists())


def _unfinished_runs(place: Place) -> list[Path]:
    return [run for run in _runs(place) if command_to_go_on(run)]


def _unfinished(place: Place) -> list[str]:
    return next((command_to_go_on(run) for run in _unfinished_runs(place)), [])


def _said(place: Place, ended: Ended) -> str:
    runs = [listed(RunDir(str(run))) for run in _runs(place)]
    newest = f"{runs[-1].state}, {runs[-1].cases} cases" if runs else "no run yet"
    return f"{ended.how}: {newest}"
