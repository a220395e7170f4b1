"""docs/write-a-family.md: the family that it writes is a file, and works as anybody's would."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

DOCS = Path(__file__).parent.parent / "docs"
EXAMPLE = DOCS / "examples" / "family"
DEADLINE_S = 240


def blocks(language: str) -> list[str]:
    page = (DOCS / "write-a-family.md").read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)


def without_blank_lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """As by pip: its files, and beside them its name and its entry points."""
    [project] = map(tomllib.loads, blocks("toml"))
    about = tmp_path / "twice-1.0.dist-info"
    about.mkdir()
    for file in EXAMPLE.glob("*.py"):
        (tmp_path / file.name).write_text(file.read_text())
    name = project["project"]["name"]
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    [(group, points)] = project["project"]["entry-points"].items()
    lines = [f"{name} = {value}" for name, value in points.items()]
    (about / "entry_points.txt").write_text("\n".join([f"[{group}]", *lines, ""]))
    return tmp_path


def run_in(folder: Path, *words: str) -> str:
    paths = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_code_of_the_page_is_that_of_the_files() -> None:
    *family, suite = blocks("python")
    assert without_blank_lines("".join(family)) == without_blank_lines((EXAMPLE / "twice.py").read_text())
    assert suite == (EXAMPLE / "test_twice.py").read_text()


def test_the_family_of_the_page_passes_the_suite_where_it_is_installed(installed: Path) -> None:
    (installed / "pytest.ini").write_text("[pytest]\naddopts = --strict-config -p no:cacheprovider\n")
    said = run_in(installed, "-m", "pytest", "-q", "--basetemp", str(installed / "temporary"), str(installed))
    assert re.search(r"\b1\d passed", said), said


def test_the_command_of_the_page_makes_a_workload(installed: Path) -> None:
    main = "from streamgauge.cli.main import main; raise SystemExit(main())"
    words = ("twice", "--bootstrap", "localhost:9092", "--times", "3", "--print-workload")
    made = yaml.safe_load(run_in(installed, "-c", main, *words))
    assert (made["kind"], made["times"], made["load"]["warm_up_messages"]) == ("twice", 3, "auto")
