from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamgauge.core.errors import BadInput, CaseFailed, Unreachable
from streamgauge.drivers.contract import ConsumerOptions
from streamgauge.drivers.registry import open_driver
from streamgauge.spec.target import Target
from streamgauge.spec.topics import Topics
from streamgauge.systems.aeron_media_driver import AeronMediaDriver
from streamgauge.testing.driver_suite import DriverSuite


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with AeronMediaDriver(log_dir=tmp_path_factory.mktemp("logs")) as driver:
        yield driver.directory


class TestIpc(DriverSuite):
    transport = "ipc"

    @pytest.fixture
    def target(self, directory: Path) -> Target:
        settings = {"transport": self.transport, "directory": str(directory), "idle": "backoff"}
        return Target(name="aeron", driver="aeron", settings=settings)


class TestUdp(TestIpc):
    transport = "udp"


def udp_target(directory: Path, **settings: object) -> Target:
    return Target(
        name="a", driver="aeron", settings={"transport": "udp", "directory": str(directory), **settings}
    )


def test_a_port_in_use_is_said(directory: Path) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        driver = open_driver(udp_target(directory, port=port), {})
        driver.prepare_topics(Topics(name="t"), ("t",))
        with pytest.raises(BadInput, match=rf"endpoint=127\.0\.0\.1:{port}: the port is in use"):
            driver.consumer(ConsumerOptions(0, ("t",), "value", ((0, 0),), None, {}))
        driver.close()


def test_a_channel_that_is_none_is_said(directory: Path) -> None:
    driver = open_driver(udp_target(directory, channel="aeron:smoke"), {})
    with pytest.raises(CaseFailed, match=r"consumer 0: Aeron \(aeron:smoke\)"):
        driver.consumer(ConsumerOptions(0, ("t",), "value", ((0, 0),), None, {}))
    driver.close()


def test_a_directory_without_a_driver_is_said(tmp_path: Path) -> None:
    driver = open_driver(udp_target(tmp_path / "nobody"), {})
    with pytest.raises(Unreachable, match=r"nobody: no media driver has its files there"):
        driver.check_reachable(1)


def test_without_a_directory_and_a_system_it_is_refused() -> None:
    with pytest.raises(BadInput, match=r"settings.directory: no media driver, and no system to start"):
        open_driver(Target(name="a", driver="aeron"), {})
