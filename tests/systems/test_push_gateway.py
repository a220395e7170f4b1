"""The gateway as runs start it."""

from __future__ import annotations

import socket
import urllib.request
from pathlib import Path

import psutil
import pytest

from streamgauge.core.errors import SystemFailed, Unreachable
from streamgauge.systems.push_gateway import PushGateway
from tests.waiting import wait_for

CONFIG = 'connections: {Q: {bootstrap.servers: "127.0.0.1:1", map.t.to: i, field.v: "#{VALUE}"}}'


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "gateway.yaml"
    path.write_text(CONFIG)
    return path


@pytest.mark.parametrize("processes", [1, 2])
def test_it_is_up_inside_and_gone_afterwards(config: Path, tmp_path: Path, processes: int) -> None:
    with PushGateway(config=config, log_dir=tmp_path / "logs", processes=processes) as gateway:
        address = gateway.endpoints()["monitoring"]
        with urllib.request.urlopen(f"{address}/healthz", timeout=60) as response:
            assert response.read() == b"ok\n"
        pids = gateway.processes()
        assert list(pids) == [f"gateway-{n + 1}" for n in range(processes)]
        running = [psutil.Process(pid) for pid in pids.values()]
        with pytest.raises(SystemFailed, match="already running"):
            gateway.launch()
    _, alive = psutil.wait_procs(running, timeout=60)
    assert alive == []
    assert gateway.processes() == {}
    gateway.stop()


@pytest.mark.parametrize("processes", [1, 2])
def test_a_killed_one_comes_back_where_it_was(config: Path, tmp_path: Path, processes: int) -> None:
    with PushGateway(config=config, log_dir=tmp_path / "logs", processes=processes) as gateway:
        address, members = gateway.endpoints()["gateway"], gateway.members()
        serving = [psutil.Process(pid) for pid in gateway.processes().values()]
        [name] = members.names

        members.kill(name)
        assert gateway.ended() is None  # it was to be
        _, alive = psutil.wait_procs(serving, timeout=60)
        assert alive == []
        members.start_again(name)

        host, _, port = address.removeprefix("http://").rpartition(":")
        socket.create_connection((host, int(port)), timeout=60).close()
        assert gateway.endpoints()["gateway"] == address
        assert not {process.pid for process in serving} & set(gateway.processes().values())
        assert gateway.ended() is None
        psutil.Process(next(iter(gateway.processes().values()))).kill()
        if processes == 1:
            wait_for(gateway.ended)


def test_settings_go_before_the_file(config: Path, tmp_path: Path) -> None:
    settings = {"max_delay_millis": 30, "limits": {"sessions": 0}}
    with PushGateway(config=config, log_dir=tmp_path, settings=settings) as gateway:
        assert gateway.endpoints()["gateway"].startswith("http://127.0.0.1:")
    with pytest.raises(SystemFailed, match="max_delay_millis"):
        PushGateway(config=config, log_dir=tmp_path, settings={"max_delay_millis": -1}).start()


def test_why_it_did_not_start_is_told(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("connections: {Q: {nonsense: 1}}")
    with pytest.raises(SystemFailed, match=r"the gateway ended at start: exit code 2: .*bootstrap\.servers"):
        PushGateway(config=tmp_path / "bad.yaml", log_dir=tmp_path).start()


def test_one_that_is_late_is_stopped(config: Path, tmp_path: Path) -> None:
    gateway = PushGateway(config=config, log_dir=tmp_path)
    gateway.launch()
    with pytest.raises(Unreachable, match="was not ready after 0 s"):
        gateway.wait_ready(0)
    with pytest.raises(SystemFailed, match="was not launched"):
        gateway.wait_ready()
