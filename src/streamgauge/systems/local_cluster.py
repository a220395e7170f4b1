"""The local cluster: one Kafka cluster of this user that outlives the command that started it.

Its state file remembers each broker's process id, creation time and data folder. A process
is ours only when all three agree, so a process id that was given to somebody else since is
never taken for a broker, and never killed.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from streamgauge.core.errors import BadInput, StreamgaugeError
from streamgauge.core.file_lock import locked_within
from streamgauge.core.folders import state_folder
from streamgauge.core.guardian import promise
from streamgauge.core.scratch import remove_abandoned
from streamgauge.core.units import counted
from streamgauge.systems.kafka_cluster import DATA_PREFIX, KafkaCluster
from streamgauge.systems.kafka_properties import check_brokers
from streamgauge.systems.processes import STOP_DEADLINE_S

_MODULE = "streamgauge.systems.local_cluster"
_LOCK_DEADLINE_S = 90.0
_KILL_DEADLINE_S = 5.0
# Linux counts a process's start from boot, and the time of boot moves when the clock is set.
_CREATED_TOLERANCE_S = 2.0


@dataclass(frozen=True)
class BrokerProcess:
    pid: int
    created_s: float


@dataclass(frozen=True)
class LocalCluster:
    """What the state file says."""

    brokers: int
    bootstrap: str
    processes: dict[str, BrokerProcess]
    data: str
    logs: str
    ready: bool
    """False while `up` waits; when nobody waits any more, a leftover of an `up` that was killed."""

    @property
    def pids(self) -> dict[str, int]:
        return {name: broker.pid for name, broker in self.processes.items()}

    @property
    def words(self) -> str:
        return broker_count(self.brokers)

    def alive(self) -> dict[str, psutil.Process]:
        """Those of its brokers that still run."""
        found = ((name, _ours(broker, self.data)) for name, broker in self.processes.items())
        return {name: process for name, process in found if process is not None}

    def ended(self) -> str | None:
        """When none of its brokers is left; with some, clients go on, and somebody may want to see how."""
        if self.alive():
            return None
        return (
            f"the local cluster at {self.bootstrap} is gone: no broker of it runs any more; see {self.logs}, "
            "and start it again with: streamgauge cluster up"
        )


def up(brokers: int = 1) -> LocalCluster:
    """Start the local cluster, or return the one that is up already with as many brokers."""
    check_brokers(brokers)
    with _only_one():
        state = last_state()
        if state is not None and _is_up(state):
            if state.brokers == brokers:
                return state
            raise BadInput(
                f"a local cluster with {broker_count(state.brokers)} is up, not with {brokers}; "
                "run `streamgauge cluster down` first"
            )
        settled = promise(_MODULE, {})
        _clean_up(state)
        started = _start(brokers)
        settled()
        return started


def status() -> LocalCluster | None:
    """The local cluster if all its brokers run, else None."""
    state = last_state()
    return state if state is not None and _is_up(state) else None


def down() -> bool:
    """Stop what is left of the local cluster and remove its data; False when there was none."""
    if not _folder().exists():
        return False
    with _only_one():
        settled = promise(_MODULE, {})
        state = last_state()
        _clean_up(state)
        settled()
        return state is not None


def settle() -> None:
    """After an `up` or a `down` that was killed: the cluster is up whole, or not at all."""
    with _only_one():
        state = last_state()
        if state is not None and _is_up(state):
            return
        _clean_up(state)
        # Those that were started when nobody had written down that they were.
        data = _folder() / "data"
        _end([process for process in psutil.process_iter() if _has_data_in(process, str(data))])
        remove_abandoned(DATA_PREFIX, data)


def last_state() -> LocalCluster | None:
    """The state file as it is, whether or not its brokers still run."""
    path = _state_file()
    try:
        fields = json.loads(path.read_text())
        processes = {name: BrokerProcess(**broker) for name, broker in fields.pop("processes").items()}
        return LocalCluster(processes=processes, **fields)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise StreamgaugeError(
            f"{path}: cannot be read as the local cluster's state ({error}); "
            "end its brokers if any run, then delete the file"
        ) from error


def broker_count(brokers: int) -> str:
    return counted(brokers, "broker")


def _start(brokers: int) -> LocalCluster:
    cluster = KafkaCluster(
        brokers=brokers,
        log_dir=_folder() / "logs",
        data_dir=_folder() / "data",
        dies_with_parent=False,
    )
    try:
        cluster.launch()
        # Written before they are ready: if we are killed now, `down` can still find them.
        _write(_state_of(cluster, ready=False))
        cluster.wait_ready()
        state = _state_of(cluster, ready=True)
        _write(state)
    except BaseException:
        cluster.stop()
        _state_file().unlink(missing_ok=True)
        raise
    cluster.release()
    return state


def _state_of(cluster: KafkaCluster, ready: bool) -> LocalCluster:
    processes = {name: BrokerProcess(pid, _created_s(pid)) for name, pid in cluster.processes().items()}
    return LocalCluster(
        brokers=cluster.brokers,
        bootstrap=cluster.endpoints()["bootstrap"],
        processes=processes,
        data=str(cluster.data_folder),
        logs=str(cluster.log_dir),
        ready=ready,
    )


def _write(state: LocalCluster) -> None:
    path = _state_file()
    unfinished = path.with_suffix(".new")
    unfinished.write_text(json.dumps(asdict(state), indent=2) + "\n")
    os.replace(unfinished, path)


def _clean_up(state: LocalCluster | None) -> None:
    """End the brokers that still run, then remove data and state."""
    if state is None:
        return
    _end(list(state.alive().values()))
    shutil.rmtree(state.data, ignore_errors=True)
    _state_file().unlink(missing_ok=True)


def _end(running: list[psutil.Process]) -> None:
    for process in running:
        with suppress(psutil.NoSuchProcess):
            process.terminate()
    _, late = psutil.wait_procs(running, timeout=STOP_DEADLINE_S)
    for process in late:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    _, left = psutil.wait_procs(late, timeout=_KILL_DEADLINE_S)
    if left:
        raise StreamgaugeError(f"broker process {left[0].pid} of the local cluster cannot be ended")


def _is_up(state: LocalCluster) -> bool:
    return state.ready and len(state.alive()) == state.brokers


def _ours(broker: BrokerProcess, data: str) -> psutil.Process | None:
    """The live process that this broker is, or None."""
    try:
        process = psutil.Process(broker.pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        same_age = abs(process.create_time() - broker.created_s) < _CREATED_TOLERANCE_S
        return process if same_age and _has_data_in(process, data) else None
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return None


def _has_data_in(process: psutil.Process, folder: str) -> bool:
    try:
        return any(argument.startswith(folder) for argument in process.cmdline())
    except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
        return False


def _created_s(pid: int) -> float:
    try:
        return psutil.Process(pid).create_time()
    except psutil.NoSuchProcess:
        return 0.0  # Died at once; `wait_ready` says why.


@contextmanager
def _only_one() -> Iterator[None]:
    """One `up` or `down` at a time."""
    folder = _folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / "lock").open("a")
    except OSError as error:
        raise BadInput(f"{folder}: cannot be used: {error}; set STREAMGAUGE_STATE") from error
    with lock:
        if not locked_within(lock, _LOCK_DEADLINE_S):
            raise StreamgaugeError(
                f"{folder}: another `streamgauge cluster` command has been busy for "
                f"{_LOCK_DEADLINE_S:.0f} s; try again when it is done"
            )
        yield


def _folder() -> Path:
    return state_folder() / "cluster"


def _state_file() -> Path:
    return _folder() / "cluster.json"


if __name__ == "__main__":
    settle()  # for the guardian of an `up` or a `down`
