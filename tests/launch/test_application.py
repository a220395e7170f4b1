from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from streamgauge.launch.application import application_settings, package_archive

pytestmark = pytest.mark.process


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("STREAMGAUGE_CACHE", str(tmp_path / "cache"))
    return package_archive()


def test_it_is_made_once(archive: Path) -> None:
    made = archive.stat().st_mtime_ns
    assert package_archive() == archive
    assert archive.stat().st_mtime_ns == made
    assert [path.name for path in archive.parent.iterdir()] == [archive.name]


def test_agents_and_drivers_are_found_in_it(archive: Path, tmp_path: Path) -> None:
    """As on a host that has the libraries, but another streamgauge or none."""
    zipfile.ZipFile(archive).extractall(tmp_path / "unpacked")
    code = (
        "import streamgauge.agents.process as agent; from streamgauge.drivers.registry import driver_names;"
        "print(agent.__file__); print(driver_names())"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": "unpacked"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    file, drivers = ran.stdout.splitlines()
    assert file.startswith((str(tmp_path / "unpacked"), "unpacked"))
    assert "kafka_confluent" in drivers


def test_spark_is_told_to_unpack_it_where_python_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STREAMGAUGE_CACHE", str(tmp_path / "cache"))
    settings = application_settings()
    archive, _, folder = settings["spark.archives"].partition("#")
    assert zipfile.is_zipfile(archive)
    assert settings["spark.executorEnv.PYTHONPATH"] == folder
