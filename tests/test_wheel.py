"""The package as users get it: a wheel, in an environment of its own, elsewhere on the disk."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.cli.streamgauge_command import one_run
from tests.families.toy.installing import install_toy
from tests.native.played_librdkafka import COMPILES

ROOT = Path(__file__).parents[1]
PARTS = ("src", "pyproject.toml", "setup.py", "README.md", "LICENSE")
DEADLINE_S = 240

pytestmark = [pytest.mark.broker, pytest.mark.spark]


def run(*arguments: str | Path, cwd: Path) -> str:
    # What a shell adds to the places of modules is no part of that environment.
    own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        list(map(str, arguments)),
        cwd=cwd,
        env=own,
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the wheel and nothing else of ours; libraries are borrowed: installing them takes minutes."""
    place = tmp_path_factory.mktemp("wheel")
    source = place / "source"
    source.mkdir()
    for part in PARTS:
        there, here = ROOT / part, source / part
        if there.is_dir():
            # As in a fresh clone: what an earlier build left behind must not get into the wheel.
            shutil.copytree(there, here, ignore=shutil.ignore_patterns("__pycache__", "*.so", "*.egg-info"))
        else:
            shutil.copy(there, here)
    pip = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")
    run(*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", place, source, cwd=place)
    [wheel] = place.glob("streamgauge-*.whl")
    if COMPILES:
        with zipfile.ZipFile(wheel) as packed:
            loops = [name for name in packed.namelist() if name.startswith("streamgauge/native/_loops")]
        # Whoever cannot compile them gets a wheel all the same: that must not happen here unseen.
        assert any(name.endswith(".so") for name in loops), loops
    shutil.rmtree(source)
    run(sys.executable, "-m", "venv", "--without-pip", place / "venv", cwd=place)
    [packages] = (place / "venv" / "lib").glob("python*/site-packages")
    borrowed = [path for path in sys.path if Path(path).name == "site-packages"]
    (packages / "borrowed.pth").write_text("\n".join(borrowed) + "\n")
    python = place / "venv" / "bin" / "python"
    run(*pip, "--python", python, "install", "--no-deps", "--no-index", wheel, cwd=place)
    told = run(python, "-c", "import streamgauge; print(streamgauge.__file__)", cwd=place)
    assert Path(told.strip()).is_relative_to(packages)
    return place


def streamgauge(environment: Path, *arguments: str | Path) -> str:
    return run(environment / "venv" / "bin" / "streamgauge", *arguments, cwd=environment)


def test_it_measures_a_kafka(environment: Path, kafka: str, tmp_path: Path) -> None:
    streamgauge(
        environment,
        *("e2e", "--bootstrap", kafka, "--test-produce-messages", "500", "--warm-up-messages", "none"),
        *("--out", tmp_path),
    )
    [case] = json.loads(streamgauge(environment, "results", one_run(tmp_path), "--json"))["cases"]
    assert case["accounting"]["received"] == 500
    assert (one_run(tmp_path) / "report" / "index.html").exists()
    clients = json.loads((one_run(tmp_path) / "environment.json").read_text())["clients"]
    loops = {settings["loop"] for of_target in clients.values() for settings in of_target.values()}
    assert loops == ({"native"} if COMPILES else {"python"})


def test_a_family_that_is_installed_beside_it_is_found(environment: Path, tmp_path: Path) -> None:
    [packages] = (environment / "venv" / "lib").glob("python*/site-packages")
    (packages / "toy.pth").write_text(f"{install_toy(tmp_path / 'site')}\n")
    # What becomes of its runs is tested by tests/families/toy.
    assert "Let a drummer beat." in streamgauge(environment, "--help")
    printed = streamgauge(environment, "toy", "--beats", "3", "--print-workload")
    assert "beats: 3" in printed
