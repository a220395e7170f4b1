"""What Spark's Java is told, and what becomes of one that leaves its classes behind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pyspark import SparkContext

from streamgauge.core import guardian
from streamgauge.launch import driver_java
from streamgauge.launch.driver_java import DriverJava

pytestmark = pytest.mark.process

# As Java: at the end of its input it writes its archive, and ends.
LEAVES_ARCHIVE = "import pathlib, sys; sys.stdin.read(); pathlib.Path(sys.argv[1]).write_text('classes')"


class Gateway:
    def __init__(self, archive: str) -> None:
        self.proc = subprocess.Popen(
            [sys.executable, "-c", LEAVES_ARCHIVE, archive], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
        )


@pytest.fixture
def no_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No session has left one running, and nothing is archived."""
    monkeypatch.setenv("STREAMGAUGE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(SparkContext, "_gateway", None)
    monkeypatch.setattr(SparkContext, "_jvm", None)
    monkeypatch.setattr(guardian, "_to_finish", [])
    monkeypatch.setattr(driver_java, "_leaving", [])


def begun(java: DriverJava, monkeypatch: pytest.MonkeyPatch) -> Gateway:
    [making] = [option for option in java.options().split() if "ArchiveClassesAtExit" in option]
    gateway = Gateway(making.partition("=")[2])
    monkeypatch.setattr(SparkContext, "_gateway", gateway)
    return gateway


@pytest.mark.usefixtures("no_java")
def test_it_ends_and_its_classes_are_kept_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    java = DriverJava(is_light=True)
    gateway = begun(java, monkeypatch)
    java.end(leaves_archive=True)
    context: Any = SparkContext
    assert context._gateway is None, "the next session starts another"
    [finish] = guardian._to_finish
    finish()
    assert gateway.proc.returncode == 0
    assert "-XX:SharedArchiveFile=" in DriverJava(is_light=True).options()


@pytest.mark.usefixtures("no_java")
def test_the_next_one_in_this_process_starts_with_what_the_first_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Not at the end of the process: until then each would make it again."""
    java = DriverJava(is_light=True)
    assert begun(java, monkeypatch).proc.poll() is None
    java.end(leaves_archive=True)
    assert "-XX:SharedArchiveFile=" in DriverJava(is_light=False).options()
    for finish in guardian._to_finish:
        finish()
    assert "-XX:SharedArchiveFile=" in driver_java.light_options()


@pytest.mark.usefixtures("no_java")
def test_on_other_hosts_nothing_is_said_that_an_older_java_or_another_setting_would_refuse() -> None:
    assert driver_java.executor_options(is_light=True) == "-XX:TieredStopAtLevel=1"
    assert driver_java.executor_options(is_light=False) == ""


@pytest.mark.usefixtures("no_java")
def test_who_is_in_a_hurry_waits_for_no_archive(monkeypatch: pytest.MonkeyPatch) -> None:
    java = DriverJava(is_light=True)
    gateway = begun(java, monkeypatch)
    java.end(leaves_archive=False)
    assert gateway.proc.wait(60) == -9
    for finish in guardian._to_finish:
        finish()
    assert "ArchiveClassesAtExit" in DriverJava(is_light=True).options(), "the next one makes it"


@pytest.mark.usefixtures("no_java")
def test_it_compiles_for_speed_only_where_there_is_much_to_do() -> None:
    light, much = (DriverJava(is_light=is_light).options() for is_light in (True, False))
    assert "-XX:TieredStopAtLevel=1" in light
    assert "-XX:+UseSerialGC" in light
    assert "TieredStopAtLevel" not in much


def test_the_one_that_runs_already_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SparkContext, "_gateway", object())
    java = DriverJava(is_light=True)
    assert "jsa" not in java.options()
    java.end(leaves_archive=True)
    context: Any = SparkContext
    assert context._gateway is not None


def test_a_path_with_a_blank_is_one_option() -> None:
    assert driver_java._quoted("-Da=/with blank") == '"-Da=/with blank"'
