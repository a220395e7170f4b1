"""What is published: a source archive that the wheel is made from, as PyPI takes them; and how."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
WORKFLOW = ROOT / ".github" / "workflows" / "release.yml"
DEADLINE_S = 240


@pytest.mark.process
def test_the_source_archive_is_whole_and_taken_by_twine(tmp_path: Path) -> None:
    """Made from what git has, as a release is."""
    source = tmp_path / "source"
    source.mkdir()
    files = subprocess.run(
        ["git", "ls-files", "-z", "src", "pyproject.toml", "setup.py", "README.md", "LICENSE", "MANIFEST.in"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout.split("\0")
    for name in filter(None, files):
        if (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes((ROOT / name).read_bytes())
    pytest.importorskip("twine", reason="a dev dependency")
    made = "import setuptools.build_meta as b, sys; print(b.build_sdist(sys.argv[1]))"
    run(sys.executable, "-c", made, str(tmp_path), cwd=source)
    [archive] = tmp_path.glob("streamgauge-*.tar.gz")
    with tarfile.open(archive) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    wanted = {name for name in files if name.endswith((".c", ".h", ".py", ".yaml", ".lock", ".java"))}
    assert wanted - names == set()
    said = run(sys.executable, "-m", "twine", "check", "--strict", str(archive), cwd=tmp_path)
    assert "PASSED" in said


def run(*command: str, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_workflow_publishes_what_was_checked_and_keeps_no_token() -> None:
    workflow = yaml.safe_load(WORKFLOW.read_text("utf-8"))
    jobs = workflow["jobs"]
    assert jobs["publish"]["needs"] == ["check", "image"]
    assert jobs["check"]["needs"] == ["wheels", "sdist"], "wheels are checked, too"
    checked = [step.get("run") for step in jobs["check"]["steps"]]
    assert checked[-1] == "twine check --strict dist/*"
    assert "docker build --file deploy/Dockerfile" in jobs["image"]["steps"][-1]["run"]
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert workflow["permissions"] == {"contents": "read"}
    assert "secrets." not in WORKFLOW.read_text("utf-8")
    steps = [step.get("uses", "") for job in jobs.values() for step in job["steps"]]
    assert all(re.fullmatch(r"|[\w./-]+@[\w./]+", step) for step in steps)


def test_wheels_are_made_for_every_python_that_the_package_takes() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["requires-python"] == ">=3.11"
    for found in ("cp311", "cp312", "cp313"):
        assert found in WORKFLOW.read_text("utf-8")
