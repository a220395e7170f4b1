from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from streamgauge.core.errors import BadInput, SystemFailed
from streamgauge.systems.rabbitmq_server import RabbitMqServer

needs_a_server = pytest.mark.usefixtures("rabbitmq_is_there")


def listening_on(pid: int) -> set[str]:
    connections = psutil.Process(pid).net_connections()
    return {one.laddr.ip for one in connections if one.status == psutil.CONN_LISTEN}


@needs_a_server
def test_it_is_this_machines_only_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with RabbitMqServer(log_dir=tmp_path) as server:
        folder, pid = server.folder, server.processes()["rabbitmq-server"]
        names = [one for one in psutil.Process().children() if one.name() == "epmd"]
        assert len(names) == 1
        assert listening_on(pid) == {"127.0.0.1"}
        assert listening_on(names[0].pid) <= {"127.0.0.1", "::1"}
        assert list(folder.glob("data/*"))
    assert not folder.exists()
    assert not psutil.pid_exists(pid)
    assert not names[0].is_running()


@needs_a_server
def test_a_setting_that_it_refuses_is_said_and_nothing_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = RabbitMqServer(log_dir=tmp_path, properties={"vm_memory_high_watermark.relative": "high"})
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemFailed, match=r"at start: .*high_watermark.relative: .high. cannot"):
        server.start()
    assert not (tmp_path / "erl_crash.dump").exists()
    assert [one for one in psutil.Process().children() if one.name() in ("epmd", "beam.smp")] == []


def test_a_setting_that_the_run_depends_on_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"system.properties.stream.listeners.tcp.1 cannot be set"):
        RabbitMqServer(log_dir=tmp_path, properties={"stream.listeners.tcp.1": "5552"})
