from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import psutil
import pytest

from streamgauge.core.errors import BadInput, StreamgaugeError
from streamgauge.core.guardian import without_mark
from streamgauge.systems import local_cluster
from streamgauge.systems.local_cluster import BrokerProcess, LocalCluster
from tests.waiting import wait_for


@pytest.fixture(autouse=True)
def state_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("STREAMGAUGE_STATE", str(tmp_path / "state"))
    return tmp_path / "state" / "cluster"


@pytest.fixture
def stranger(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that stands in for a broker: it has the data folder in its arguments."""
    data = str(tmp_path / "data")
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)", f"{data}/broker-1"])
    # Popen comes back before the kernel has laid out the arguments of the new program.
    wait_for(psutil.Process(process.pid).cmdline)
    yield process
    process.kill()
    process.wait(60)


def write_state(folder: Path, state: LocalCluster) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cluster.json").write_text(json.dumps(asdict(state)))


def state_with(pid: int, created_s: float, data: Path) -> LocalCluster:
    return LocalCluster(
        brokers=1,
        bootstrap="127.0.0.1:9092",
        processes={"broker-1": BrokerProcess(pid, created_s)},
        data=str(data),
        logs="logs",
        ready=True,
    )


def test_nothing_is_up_at_first(state_folder: Path) -> None:
    assert local_cluster.status() is None
    assert local_cluster.status() is None
    assert local_cluster.down() is False
    assert not state_folder.exists(), "asking leaves no trace"


def test_a_live_broker_is_recognised(
    state_folder: Path, stranger: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    created_s = psutil.Process(stranger.pid).create_time()
    write_state(state_folder, state_with(stranger.pid, created_s, tmp_path / "data"))
    found = local_cluster.status()
    assert found is not None
    assert (found.bootstrap, found.words) == ("127.0.0.1:9092", "1 broker")
    with pytest.raises(BadInput, match="streamgauge cluster down"):
        local_cluster.up(3)
    assert local_cluster.up(1).bootstrap == "127.0.0.1:9092"


@pytest.mark.parametrize("difference", ["created", "data"])
def test_a_reused_process_id_is_neither_taken_nor_killed(
    state_folder: Path, stranger: subprocess.Popen[bytes], tmp_path: Path, difference: str
) -> None:
    created_s = psutil.Process(stranger.pid).create_time()
    if difference == "created":
        state = state_with(stranger.pid, created_s - 60, tmp_path / "data")
    else:
        state = state_with(stranger.pid, created_s, tmp_path / "elsewhere")
    write_state(state_folder, state)
    assert local_cluster.status() is None
    assert local_cluster.down() is True
    assert stranger.poll() is None
    assert not (state_folder / "cluster.json").exists()


def test_a_start_that_was_cut_off_is_not_up_but_can_be_taken_down(
    state_folder: Path, stranger: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    created_s = psutil.Process(stranger.pid).create_time()
    state = state_with(stranger.pid, created_s, tmp_path / "data")
    write_state(state_folder, replace(state, ready=False))
    (tmp_path / "data").mkdir()
    assert local_cluster.status() is None
    assert local_cluster.down() is True
    assert not psutil.pid_exists(stranger.pid)
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("text", ["{", "[]", '{"brokers": 1}', '{"processes": {}, "odd": 1}'])
def test_a_state_file_that_cannot_be_read_is_named(state_folder: Path, text: str) -> None:
    state_folder.mkdir(parents=True)
    (state_folder / "cluster.json").write_text(text)
    with pytest.raises(StreamgaugeError, match=r"cluster\.json: cannot be read"):
        local_cluster.status()


def test_a_broker_count_that_cannot_vote_is_refused() -> None:
    with pytest.raises(BadInput, match="1, 3 or 5"):
        local_cluster.up(2)


@pytest.mark.broker
def test_up_outlives_its_command_and_down_removes_everything(state_folder: Path) -> None:
    code = "from streamgauge.systems import local_cluster; print(local_cluster.up(1).bootstrap)"
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=90, check=False
    )
    try:
        assert (ran.returncode, ran.stderr) == (0, "")
        state = local_cluster.status()
        assert state is not None
        assert state.bootstrap == ran.stdout.strip()
        assert local_cluster.up(1) == state, "up again is the same cluster"
        (broker,) = state.processes.values()
        assert state.ended() is None
        psutil.Process(broker.pid).kill()
        psutil.wait_procs([psutil.Process(broker.pid)] if psutil.pid_exists(broker.pid) else [], timeout=60)
        assert local_cluster.status() is None, "a dead broker is noticed"
        assert f"the local cluster at {state.bootstrap} is gone" in (state.ended() or "")
        again = local_cluster.up(1)
        assert again.bootstrap != state.bootstrap
        assert not Path(state.data).exists()
        assert Path(again.data).exists()
    finally:
        assert local_cluster.down() is True
    assert not Path(again.data).exists()
    assert not psutil.pid_exists(again.processes["broker-1"].pid)
    assert local_cluster.status() is None


@pytest.mark.broker
def test_an_up_that_is_killed_leaves_no_broker_and_no_data(tmp_path: Path, state_folder: Path) -> None:
    """Killed as soon as a broker runs, before anybody wrote down that it does."""
    data = state_folder / "data"
    code = (
        "import os; from streamgauge.systems import kafka_cluster, local_cluster;"
        "start = kafka_cluster.KafkaCluster._start_broker;"
        "kafka_cluster.KafkaCluster._start_broker = lambda *a: (start(*a), os.kill(os.getpid(), 9));"
        "local_cluster.up()"
    )
    environment = {**without_mark(), "TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, timeout=120, check=False)
    assert done.returncode == -signal.SIGKILL
    wait_for(lambda: not list(data.iterdir()), 60)
    assert not [p for p in psutil.process_iter() if local_cluster._has_data_in(p, str(data))]
    assert local_cluster.last_state() is None
