from __future__ import annotations

import json
from pathlib import Path

import pytest

from streamgauge.cli import calibrating
from streamgauge.sizing.costs import read_costs, write_costs
from tests.cli.streamgauge_command import in_process
from tests.sizing.made_up import made_up_costs


@pytest.fixture
def costs(tmp_path: Path) -> Path:
    file = tmp_path / "costs.json"
    write_costs(made_up_costs(), file)
    return file


def test_a_plan_in_words(costs: Path) -> None:
    done = in_process("size", "--rate", "5M/s", "--size", "1KiB", "--costs", costs)
    assert done.returncode == 0, done.stderr
    first = done.stdout.splitlines()[0]
    assert first.startswith("5M/s of 1.0 KiB, acks all, 1 replica: ")
    assert " hosts of 8 cores" in first
    assert first.endswith("Gbit/s")
    for role in ("producer", "consumer", "broker"):
        assert f"\n{role} " in done.stdout


def test_both_plans_as_json(costs: Path) -> None:
    done = in_process(
        *("size", "--rate", "10k/s", "--clients", "1M", "--scenario", "2", "--json", "--costs", costs)
    )
    messages, clients = json.loads(done.stdout)["plans"]
    assert [part["role"] for part in messages["parts"]] == ["producer", "consumer", "broker"]
    assert [part["role"] for part in clients["parts"]] == ["gateway", "swarm"]
    assert clients["parts"][0]["cores"]["low"] <= clients["parts"][0]["cores"]["value"]


def test_without_costs_of_this_machine_ours_are_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STREAMGAUGE_STATE", str(tmp_path))
    ours = in_process("size", "--rate", "10k/s", "--json")
    assert ours.returncode == 0, ours.stderr
    write_costs(made_up_costs(), tmp_path / "costs.json")
    own = in_process("size", "--rate", "10k/s", "--json")
    assert "made up" not in ours.stdout
    assert json.loads(own.stdout)["plans"][0]["costs_of"].startswith("made up")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "size: say what is wanted: --rate, --clients or both; or --calibrate"),
        (("--rate", "quick"), "size: rate_per_s: 'quick' is not a rate"),
        (("--rate", "0"), "size: rate_per_s: "),
        (("--rate", "1k/s", "--size", "1 parsec"), "size: size_bytes: '1 parsec' is not a size in bytes"),
        (("--clients", "many"), "size: clients: 'many' is not a count"),
        (("--clients", "10", "--scenario", "9"), "--scenario 9: nothing was measured of it; allowed: 1, 2"),
        (("--rate", "1k/s", "--host-network", "fast"), "size: host: network_bits_per_s: 'fast' is not"),
        (("--rate", "1k/s", "--fill", "2"), "size: host: fill: "),
        (("--rate", "1e15"), "more than 100,000 processes"),
    ],
)
def test_what_cannot_be_planned_is_one_line(costs: Path, arguments: tuple[str, ...], words: str) -> None:
    done = in_process("size", *arguments, "--costs", costs)
    assert done.returncode == 2, done.stdout
    assert words in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_file_of_costs_that_is_not_there() -> None:
    done = in_process("size", "--rate", "1k/s", "--costs", "no.json")
    assert (done.returncode, "no.json: cannot be read" in done.stderr) == (2, True)


def test_a_calibration_is_kept_and_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibrating, "calibrate", lambda **_: made_up_costs())
    file = tmp_path / "new.json"
    done = in_process("size", "--calibrate", "--costs", file, "--rate", "1k/s")
    assert done.returncode == 0, done.stderr
    assert read_costs(file) == made_up_costs()
    assert "costs: made up" in done.stdout
