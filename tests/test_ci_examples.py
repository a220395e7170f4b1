"""examples/ci: what is there to copy is YAML that says what it means, and calls commands that there are."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from streamgauge.cli.commands import _AFTER, _BEFORE, _command
from streamgauge.comparing.expectations import load_expectations
from streamgauge.plan.plan_file import make_plan
from streamgauge.spec.loading import load_workload

ROOT = Path(__file__).parents[1]
CI = ROOT / "examples" / "ci"
CALL = re.compile(r"streamgauge (?P<command>run|check|results|runs tag|runs rm)\b(?P<rest>[^;&|\"\n>]*)")


def loaded(name: str) -> dict[Any, Any]:
    content = yaml.safe_load((CI / name).read_text("utf-8"))
    assert isinstance(content, dict)
    return content


def steps_of_github() -> list[dict[str, Any]]:
    [job] = loaded("github-workflow.yml")["jobs"].values()
    steps: list[dict[str, Any]] = job["steps"]
    return steps


def scripts() -> dict[str, str]:
    """What each of them has a shell do."""
    return {
        "github": "\n".join(step["run"] for step in steps_of_github() if "run" in step),
        "gitlab": "\n".join(loaded("gitlab-ci.yml")["latency"]["script"]),
    }


def flags_of(command: str) -> set[str]:
    name, *inner = command.split()
    made: Any = _command(name, None)
    for each in inner:
        made = made.commands[each]
    return {flag for parameter in made.params for flag in parameter.opts}


def test_the_workload_and_what_is_expected_of_it_fit() -> None:
    workload = load_workload(CI / "workload.yaml")
    assert [target.system is not None for target in workload.targets] == [True], "an embedded broker"
    assert len(make_plan(workload, "test").cases) == 3, "repeats, for the interval"
    alone = load_expectations(CI / "expectations.yaml", workload.kind)
    beside = load_expectations(CI / "expectations-with-baseline.yaml", workload.kind)
    assert alone.objectives == beside.objectives
    assert not alone.baseline
    assert {each.metric.name for each in beside.baseline} == {"p50", "p99", "rate"}


@pytest.mark.parametrize("which", ["github", "gitlab"])
def test_they_install_by_pip_and_call_commands_with_flags_that_there_are(which: str) -> None:
    script = scripts()[which]
    assert "python -m pip install streamgauge" in script
    calls = [(match["command"], match["rest"]) for match in CALL.finditer(script)]
    assert {command for command, _ in calls} == {"run", "check", "results", "runs tag", "runs rm"}
    assert {command.split()[0] for command, _ in calls} <= {*_BEFORE, *_AFTER}
    for command, rest in calls:
        flags = set(re.findall(r"--[a-z-]+", rest))
        assert flags <= flags_of(command), command
    gate = set(re.findall(r"\$gate (--[a-z-]+)|(--baseline)", script))
    assert {flag for found in gate for flag in found if flag} <= flags_of("check")


@pytest.mark.parametrize("which", ["github", "gitlab"])
def test_files_that_they_name_are_there(which: str) -> None:
    named = set(re.findall(r"examples/ci/[\w.-]+", scripts()[which]))
    assert len(named) == 3
    assert [name for name in sorted(named) if not (ROOT / name).is_file()] == []


@pytest.mark.parametrize("which", ["github", "gitlab"])
def test_what_is_cached_does_not_grow_with_every_push(which: str, tmp_path: Path) -> None:
    """The line itself, in a shell: the newest ten stay, and nothing is called when there are no more."""
    [line] = [line for line in scripts()[which].splitlines() if "runs rm" in line]
    runs = [f"202601{day:02d}-000000-ci-0001" for day in range(1, 13)]
    for run in runs:
        (tmp_path / "runs" / run).mkdir(parents=True)
    (tmp_path / "streamgauge").write_text('#!/bin/sh\necho "$@"\nshift 3\ncd runs && rmdir "$@"\n')
    (tmp_path / "streamgauge").chmod(0o755)
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    said = [
        subprocess.run(
            ["bash", "-euc", line], cwd=tmp_path, env=environment, capture_output=True, timeout=30, check=True
        ).stdout.decode()
        for _ in range(2)
    ]
    assert said == [f"runs rm --yes {' '.join(runs[:2])}\n", ""]
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == runs[2:]


def test_the_report_of_this_run_alone_is_uploaded() -> None:
    [upload] = [step for step in steps_of_github() if "upload-artifact" in step.get("uses", "")]
    assert upload["with"]["path"].split() == ["junit.xml", "report"]
    job = loaded("gitlab-ci.yml")["latency"]
    assert job["artifacts"]["paths"] == ["summary.md", "report"]
    taken = [line for line in scripts()["github"].splitlines() if line.startswith("cp ")]
    assert taken == job["after_script"]


def test_each_step_of_github_is_an_action_or_a_script() -> None:
    for step in steps_of_github():
        assert ("uses" in step) != ("run" in step), step
        if "uses" in step:
            assert re.fullmatch(r"actions/[\w/-]+@v\d+", step["uses"])


def test_what_nobody_can_say_is_no_pass_in_gitlab() -> None:
    assert loaded("gitlab-ci.yml")["latency"]["allow_failure"] == {"exit_codes": [5]}
