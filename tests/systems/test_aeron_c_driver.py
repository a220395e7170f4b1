from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamgauge.core.errors import SystemFailed
from streamgauge.jvm.aeron_directory import driver_state
from streamgauge.spec.target import Target
from streamgauge.systems.aeron_c_driver import found_executable, in_its_words, version_of
from streamgauge.systems.aeron_media_driver import AeronMediaDriver
from streamgauge.systems.aeron_profiles import PROFILES
from streamgauge.testing.driver_suite import DriverSuite


def test_one_that_is_not_there_is_said_with_what_to_do(tmp_path: Path) -> None:
    driver = AeronMediaDriver(log_dir=tmp_path, executable="no-such-aeronmd")
    with pytest.raises(SystemFailed, match=r"no-such-aeronmd to start, .*or leave it out"):
        driver.launch()
    assert driver.processes() == {}


def test_a_path_is_as_good_as_a_name(tmp_path: Path) -> None:
    file = tmp_path / "aeronmd"
    file.write_text("#!/bin/sh\necho '<aeronmd> version=9.8.7 commit=abc'\n")
    with pytest.raises(SystemFailed, match=r"no .*aeronmd to start"):
        found_executable(str(file))
    file.chmod(0o755)
    assert found_executable(str(file)) == file
    assert version_of(file) == "9.8.7"


def test_one_that_does_not_tell_its_version_has_none(tmp_path: Path) -> None:
    file = tmp_path / "aeronmd"
    file.write_text("#!/bin/sh\nexit 3\n")
    file.chmod(0o755)
    assert version_of(file) is None
    assert version_of(tmp_path / "gone") is None


def test_idle_strategies_have_other_names_in_c() -> None:
    low_latency, few_cores = (in_its_words(PROFILES[name]) for name in ("low_latency", "few_cores"))
    assert low_latency["aeron.sender.idle.strategy"] == "noop"
    assert low_latency["aeron.conductor.idle.strategy"] == "spin"
    assert few_cores["aeron.shared.idle.strategy"] == "backoff"
    assert few_cores["aeron.shared.idle.strategy.init.args"] == "10-20-1us-100us"
    assert few_cores["aeron.term.buffer.length"] == "16m"
    assert not any(name.startswith("agrona.") for name in low_latency | few_cores)


def test_a_name_of_ones_own_is_passed_on() -> None:
    assert in_its_words({"aeron.shared.idle.strategy": "my_strategy"}) == {
        "aeron.shared.idle.strategy": "my_strategy"
    }


@pytest.fixture(scope="module")
def c_driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AeronMediaDriver]:
    with AeronMediaDriver(log_dir=tmp_path_factory.mktemp("logs"), executable="aeronmd") as driver:
        yield driver


if shutil.which("aeronmd") is not None:
    # Else the test below says once that it is not there.

    class TestIpc(DriverSuite):
        """Our clients through the C driver keep the contract that they keep through the Java one."""

        transport = "ipc"

        @pytest.fixture
        def target(self, c_driver: AeronMediaDriver) -> Target:
            directory = str(c_driver.directory)
            settings = {"transport": self.transport, "directory": directory, "idle": "backoff"}
            return Target(name="aeron", driver="aeron", settings=settings)

    class TestUdp(TestIpc):
        transport = "udp"


@pytest.mark.skipif(
    shutil.which("aeronmd") is None,
    reason="Aeron's C media driver (aeronmd) is not on the PATH; no package has it: docs/transports.md",
)
def test_it_is_there_while_it_runs_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with AeronMediaDriver(log_dir=tmp_path, executable="aeronmd", profile="few_cores") as driver:
        directory = driver.directory
        state = driver_state(directory)
        assert state.is_alive
        assert state.pid == driver.processes()["media-driver"]
        told = driver.settings()
        assert told["executable"] == shutil.which("aeronmd")
        assert str(told["aeron"]).startswith("1.")
        assert driver.description() == "Aeron C media driver, profile few_cores"
        assert "java" not in told
    assert not directory.parent.exists()
