"""The local cluster: one Kafka cluster of this user that outlives the command that started it.

Its state file remembers each broker's process id, creation time and data folder. A process
is ours only when all three agree, so a process id that was given to somebody else since is
never taken for a broker, and never killed.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import psutil

from streamgauge.core.errors import BadInput, StreamgaugeError
from streamgauge.core.file_lock import locked_within
from streamgauge.core.folders import state_folder
from streamgauge.core.guardian import promise
from streamgauge.core.process_identity import same_process
from streamgauge.core.scratch import remove_abandoned
from streamgauge.core.units import counted
from streamgauge.systems.kafka_cluster import DATA_PREFIX, KafkaCluster
from streamgauge.systems.kafka_locks import SECURITY_FILE, TOKEN_ENDPOINT, KafkaLocks
from streamgauge.systems.kafka_properties import check_brokers
from streamgauge.systems.kafka_rights import Right
from streamgauge.systems.kafka_security import FOLDER as SECURITY_FOLDER
from streamgauge.systems.kafka_security import SecurityKind
from streamgauge.systems.processes import STOP_DEADLINE_S

_MODULE = "streamgauge.systems.local_cluster"
_LOCK_DEADLINE_S = 90.0
_KILL_DEADLINE_S = 5.0


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
    client_files: dict[str, str] = field(default_factory=dict)
    """Way in → what clients need for it; the first one's is that of the bootstrap address."""
    acls: bool = False
    without: tuple[Right, ...] = ()

    @property
    def pids(self) -> dict[str, int]:
        return {name: broker.pid for name, broker in self.processes.items()}

    @property
    def words(self) -> str:
        return broker_count(self.brokers)

    @property
    def locks(self) -> dict[str, Any]:
        """As a target's `system` has them; empty without any."""
        if not self.client_files:
            return {}
        found: dict[str, Any] = {"security": list(self.client_files)}
        if self.acls:
            found["acls"] = True
        return found | ({"without": list(self.without)} if self.without else {})

    @property
    def lock_words(self) -> str:
        return _lock_words(tuple(self.client_files), self.acls, self.without)

    def is_locked_as(self, security: Sequence[str], *, acls: bool, without: Sequence[str]) -> bool:
        mine = (tuple(self.client_files), self.acls, set(self.without))
        return mine == (tuple(security), acls, set(without))

    def endpoints(self) -> dict[str, str]:
        files = list(self.client_files.values())
        locked = {f"bootstrap{SECURITY_FILE}": files[0]} if files else {}
        return {"bootstrap": self.bootstrap, **locked}

    def alive(self) -> dict[str, psutil.Process]:
        """Those of its brokers that still run."""
        found = ((name, _ours(broker, self.data)) for name, broker in self.processes.items())
        return {name: process for name, process in found if process is not None}

    def ended(self) -> str | None:
        """When none of its brokers is left; with some, clients go on, and somebody may want to see how."""
        if self.alive().keys() - {TOKEN_ENDPOINT}:
            return None
        return (
            f"the local cluster at {self.bootstrap} is gone: no broker of it runs any more; see {self.logs}, "
            "and start it again with: streamgauge cluster up"
        )


def up(
    brokers: int = 1,
    security: Sequence[SecurityKind] = (),
    *,
    acls: bool = False,
    without: Sequence[Right] = (),
) -> LocalCluster:
    """Start the local cluster, or return the one that is up already with as many brokers and such locks."""
    check_brokers(brokers)
    KafkaLocks(security, acls=acls, without=without)
    with _only_one():
        state = last_state()
        if state is not None and _is_up(state):
            if state.brokers == brokers and state.is_locked_as(security, acls=acls, without=without):
                return state
            found, wanted = f"with {state.words}", str(brokers)
            if state.brokers == brokers:
                found, wanted = state.lock_words, _lock_words(security, acls, without)
            raise BadInput(
                f"a local cluster {found} is up, not {'with ' * (state.brokers != brokers)}{wanted}; "
                "run `streamgauge cluster down` first"
            )
        settled = promise(_MODULE, {})
        _clean_up(state)
        started = _start(brokers, security, acls=acls, without=without)
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
        without = tuple(fields.pop("without", ()))
        return LocalCluster(processes=processes, without=without, **fields)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise StreamgaugeError(
            f"{path}: cannot be read as the local cluster's state ({error}); "
            "end its brokers if any run, then delete the file"
        ) from error


def _lock_words(security: Sequence[str], acls: bool, without: Sequence[str]) -> str:
    if not security:
        return "without security"
    missing = f" but no right to {', '.join(without)}" if without else ""
    return f"with security {', '.join(security)}{' with ACLs' if acls else ''}{missing}"


def broker_count(brokers: int) -> str:
    return counted(brokers, "broker")


def _start(
    brokers: int, security: Sequence[SecurityKind], *, acls: bool, without: Sequence[Right]
) -> LocalCluster:
    cluster = KafkaCluster(
        brokers=brokers,
        log_dir=_folder() / "logs",
        data_dir=_folder() / "data",
        security=security,
        acls=acls,
        without=without,
        dies_with_parent=False,
    )
    try:
        cluster.launch()
        _point_to_security(cluster)
        # Written before they are ready: if we are killed now, `down` can still find them.
        locks = {"acls": acls, "without": tuple(without)}
        _write(_state_of(cluster, ready=False, **locks))
        cluster.wait_ready()
        state = _state_of(cluster, ready=True, **locks)
        _write(state)
    except BaseException:
        cluster.stop()
        _state_file().unlink(missing_ok=True)
        raise
    cluster.release()
    return state


def _point_to_security(cluster: KafkaCluster) -> None:
    """A path that stays the same, whatever the folder of the data is called this time."""
    _security_link().unlink(missing_ok=True)
    if cluster.client_files:
        _security_link().symlink_to(cluster.data_folder / SECURITY_FOLDER)


def _state_of(cluster: KafkaCluster, ready: bool, **locks: Any) -> LocalCluster:
    processes = {name: BrokerProcess(pid, _created_s(pid)) for name, pid in cluster.processes().items()}
    return LocalCluster(
        brokers=cluster.brokers,
        bootstrap=cluster.endpoints()["bootstrap"],
        processes=processes,
        data=str(cluster.data_folder),
        logs=str(cluster.log_dir),
        ready=ready,
        client_files={
            kind: str(_security_link() / Path(file).name) for kind, file in cluster.client_files.items()
        },
        **locks,
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
    _security_link().unlink(missing_ok=True)
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
    return state.ready and len(state.alive()) == len(state.processes)


def _ours(broker: BrokerProcess, data: str) -> psutil.Process | None:
    """The live process that this broker is, or None."""
    process = same_process(broker.pid, broker.created_s)
    return process if process is not None and _has_data_in(process, data) else None


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


def _security_link() -> Path:
    return _folder() / SECURITY_FOLDER


def _state_file() -> Path:
    return _folder() / "cluster.json"


if __name__ == "__main__":
    settle()  # for the guardian of an `up` or a `down`
