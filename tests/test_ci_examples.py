"""examples/ci: what is there to copy is YAML that says what it means, and calls commands that there are."""

from __future__ import annotations

import re
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
CALL = re.compile(r"streamgauge (?P<command>run|check|results|runs tag)\b(?P<rest>[^;&|\"\n>]*)")


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
    assert {command for command, _ in calls} == {"run", "check", "results", "runs tag"}
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


def test_each_step_of_github_is_an_action_or_a_script() -> None:
    for step in steps_of_github():
        assert ("uses" in step) != ("run" in step), step
        if "uses" in step:
            assert re.fullmatch(r"actions/[\w/-]+@v\d+", step["uses"])


def test_what_nobody_can_say_is_no_pass_in_gitlab() -> None:
    assert loaded("gitlab-ci.yml")["latency"]["allow_failure"] == {"exit_codes": [5]}
