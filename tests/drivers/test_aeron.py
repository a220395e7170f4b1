from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from streamgauge.spec.target import Target
from streamgauge.systems.aeron_media_driver import AeronMediaDriver
from tests.drivers.conformance import DriverConformance


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with AeronMediaDriver(log_dir=tmp_path_factory.mktemp("logs")) as driver:
        yield driver.directory


class TestIpc(DriverConformance):
    transport = "ipc"

    @pytest.fixture
    def target(self, directory: Path) -> Target:
        settings = {"transport": self.transport, "directory": str(directory), "idle": "backoff"}
        return Target(name="aeron", driver="aeron", settings=settings)


class TestUdp(TestIpc):
    transport = "udp"
