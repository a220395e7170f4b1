from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from streamgauge.core.errors import Unreachable
from streamgauge.drivers.registry import open_driver
from streamgauge.spec.target import Target
from streamgauge.systems.nats_server import NatsServer
from streamgauge.testing.driver_suite import DriverSuite

pytestmark = pytest.mark.skipif(
    shutil.which("nats-server") is None and shutil.which("go") is None, reason="no nats-server, and no Go"
)


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with NatsServer(log_dir=tmp_path_factory.mktemp("logs")) as server:
        yield server.endpoints()["servers"]


class TestJetStream(DriverSuite):
    @pytest.fixture
    def target(self, servers: str) -> Target:
        return Target(name="nats", driver="nats_jetstream", settings={"servers": servers})


def test_a_server_that_is_not_there_is_said() -> None:
    target = Target(name="n", driver="nats_jetstream", settings={"servers": "nats://127.0.0.1:1"})
    driver = open_driver(target, {})
    with pytest.raises(Unreachable, match=r"NATS at nats://127\.0\.0\.1:1"):
        driver.check_reachable(15)
    driver.close()
