from __future__ import annotations

import socket
from pathlib import Path

import psutil
import pytest

from streamgauge.core.errors import BadInput, SystemFailed
from streamgauge.systems import redis_server
from streamgauge.systems.ports import HOST, free_ports
from streamgauge.systems.redis_server import RedisServer

needs_a_server = pytest.mark.usefixtures("redis_is_there")


@needs_a_server
def test_it_keeps_a_log_while_it_runs_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with RedisServer(log_dir=tmp_path) as server:
        folder, pid = server.folder, server.processes()["redis-server"]
        assert list(folder.glob("appendonlydir/*.aof"))
        listening = [one for one in psutil.Process(pid).net_connections() if one.status == psutil.CONN_LISTEN]
        assert {one.laddr.ip for one in listening} == {HOST}
        assert server.settings()["configuration"]["appendfsync"] == "everysec"  # type: ignore[index]
        assert "server" in str(server.settings()["redis_server"])
    assert not folder.exists()
    assert not psutil.pid_exists(pid)


@needs_a_server
def test_a_setting_that_it_refuses_is_said(tmp_path: Path) -> None:
    server = RedisServer(log_dir=tmp_path, properties={"appendfsync": "sometimes"})
    with pytest.raises(SystemFailed, match=r"at start: .*appendfsync sometimes: .*everysec, always, no"):
        server.start()


@needs_a_server
def test_a_port_that_somebody_took_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        taken.listen()
        ports = [[taken.getsockname()[1]], free_ports(1)]
        monkeypatch.setattr(redis_server, "free_ports", lambda count: ports.pop(0))
        with RedisServer(log_dir=tmp_path) as server:
            assert str(taken.getsockname()[1]) not in server.endpoints()["url"]
    assert ports == []


def test_what_an_ack_is_worth_is_in_its_description(tmp_path: Path) -> None:
    def said(**properties: str) -> str:
        return RedisServer(log_dir=tmp_path, properties=properties).description()

    assert said() == "Redis Streams, append-only file, synced once a second (appendfsync everysec)"
    assert "synced before every answer" in said(appendfsync="always")
    assert "gone with the server" in said(appendonly="no")


def test_a_setting_that_the_run_depends_on_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"system.properties.port cannot be set: .*settings.url"):
        RedisServer(log_dir=tmp_path, properties={"port": "6379"})
