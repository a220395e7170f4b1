"""docs/write-a-driver.md: the driver that it writes is a file, and passes the suite as anybody's would."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import yaml

from streamgauge.core.guardian import memory_folder
from streamgauge.spec.loading import parse
from streamgauge.spec.workload import Workload

DOCS = Path(__file__).parent.parent / "docs"
EXAMPLE = DOCS / "examples" / "driver"
DEADLINE_S = 240
ALL_SKIPPED = 4
"""What SQLite does not promise: producers that are not told, transactions: two tests each."""


def blocks(language: str) -> list[str]:
    page = (DOCS / "write-a-driver.md").read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)


def without_blank_lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def test_the_code_of_the_page_is_that_of_the_files() -> None:
    *driver, suite = blocks("python")
    assert without_blank_lines("".join(driver)) == without_blank_lines(
        (EXAMPLE / "sqlite_log.py").read_text()
    )
    assert suite == (EXAMPLE / "test_sqlite_log.py").read_text()


def test_the_workload_of_the_page_is_one() -> None:
    [text] = blocks("yaml")
    workload = parse(Workload, yaml.safe_load(text), "page")
    assert [target.driver for target in workload.targets] == ["sqlite_log"]


def test_the_driver_of_the_page_passes_the_suite_where_it_is_installed() -> None:
    """As by pip: its files, and beside them its name and its entry points."""
    [project] = map(tomllib.loads, blocks("toml"))
    folder = memory_folder() / "write-a-driver"
    about = folder / "sqlite_log-1.0.dist-info"
    about.mkdir(parents=True)
    for file in EXAMPLE.glob("*.py"):
        (folder / file.name).write_text(file.read_text())
    (about / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['project']['name']}\nVersion: 1.0\n"
    )
    [(group, points)] = project["project"]["entry-points"].items()
    lines = [f"{name} = {value}" for name, value in points.items()]
    (about / "entry_points.txt").write_text("\n".join([f"[{group}]", *lines, ""]))
    (folder / "pytest.ini").write_text(
        "[pytest]\naddopts = --strict-markers --strict-config -p no:cacheprovider\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "--basetemp", str(folder / "temporary"), str(folder)]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=DEADLINE_S, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(rf"\b1\d passed, {ALL_SKIPPED} skipped\b", done.stdout), done.stdout
