"""Where the clients of a swarm find their gateway, when it has a host of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.core.errors import CaseFailed
from streamgauge.core.run_dir import RunDir
from streamgauge.core.served_files import IDENTITY_VARIABLE
from streamgauge.families.fanout.gateway_life import gateway_endpoints, tell_gateway
from tests.families.fanout.test_point import point


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunDir:
    monkeypatch.delenv(IDENTITY_VARIABLE, raising=False)
    return RunDir(str(tmp_path / "run"))


def test_swarms_go_round_the_gateways(run: RunDir, monkeypatch: pytest.MonkeyPatch) -> None:
    there = point(10, gateway_hosts=("g1", "g2"))
    for number in (0, 1):
        tell_gateway(run, "001", f"gateway-{number}", f"http://10.0.0.{number}:8080")
    found = [gateway_endpoints(run, "001", there, swarm, 0.0)["gateway"] for swarm in range(3)]
    assert found == ["http://10.0.0.0:8080", "http://10.0.0.1:8080", "http://10.0.0.0:8080"]
    monkeypatch.setenv(IDENTITY_VARIABLE, "of the run")
    assert "gateway_login" in gateway_endpoints(run, "001", there, 0, 0.0)


def test_a_gateway_that_does_not_come_is_said_by_its_host(run: RunDir) -> None:
    with pytest.raises(CaseFailed, match="the gateway on g2 was not there within 0 s"):
        gateway_endpoints(run, "001", point(10, gateway_hosts=("g1", "g2")), 1, 0.0)


def test_where_gateways_have_no_hosts_nothing_is_added(run: RunDir) -> None:
    assert gateway_endpoints(run, "001", point(10), 0, 0.0) == {}
