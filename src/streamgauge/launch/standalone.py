"""Spark standalone from the pip package: a master (our leader) and workers (our followers)."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import psutil
import pyspark

from streamgauge.core.environment import FOLLOWER_VARIABLE
from streamgauge.core.errors import BadInput
from streamgauge.jvm.java import spark_java_home
from streamgauge.launch.driver_java import LAUNCHER_OPTIONS, light_options
from streamgauge.launch.same_version import VERSION_VARIABLE, own_version
from streamgauge.systems.processes import end, log_text, spawn, why_it_ended

SECRET_IN_SPARK = "_SPARK_AUTH_SECRET"
"""Where Spark itself looks for the secret: not on the command line, which everybody can read."""

SECURE = {"spark.authenticate": "true", "spark.network.crypto.enabled": "true"}
DAEMON_SETTINGS = {
    **SECURE,
    # A follower that does not answer for so long is lost; by default a minute.
    "spark.worker.timeout": "10",
    "spark.dead.worker.persistence": "0",
    "spark.master.rest.enabled": "false",
    "spark.ui.killEnabled": "false",
    "spark.worker.cleanup.enabled": "true",
}
_DAEMON_MEMORY = "256m"
_LOOK_DEADLINE_S = 2.0
_END_DEADLINE_S = 15.0
_NAME = re.compile(r"[A-Za-z0-9_.:-]+")
_JOINED = "Successfully registered with master"
_LOST = "Waiting for master to reconnect"
_REFUSED = "Failed to connect to master"
_FULL = "No space left on device"
_TAKEN = "BindException"
_LEAST_ROOM_BYTES = 1 << 20
"""With less nothing can be started; its log, which is on the same disk, may not be able to say so."""


@dataclass(frozen=True)
class JoinedFollower:
    name: str
    host: str
    cores: int
    version: str
    """Of its streamgauge; empty: it does not say."""


class _Daemon:
    """A Java process of Spark's that ends with us, however we end."""

    def __init__(self, arguments: list[str], settings: dict[str, str], secret: str, log: Path, **more: str):
        home = Path(pyspark.__file__).parent
        own = {**DAEMON_SETTINGS, **settings}
        options = " ".join([light_options(), *(f"-D{key}={value}" for key, value in own.items())])
        environment = {
            **os.environ,
            "JAVA_HOME": str(spark_java_home()),
            "SPARK_HOME": str(home),
            "SPARK_DAEMON_MEMORY": _DAEMON_MEMORY,
            "SPARK_DAEMON_JAVA_OPTS": options,
            "SPARK_LAUNCHER_OPTS": os.environ.get("SPARK_LAUNCHER_OPTS", LAUNCHER_OPTIONS),
            # Their web pages are for this machine only; what is for others has its own address.
            "SPARK_LOCAL_IP": "127.0.0.1",
            SECRET_IN_SPARK: secret,
            **more,
        }
        self.log = log
        self._process = spawn(
            [str(home / "bin" / "spark-class"), *arguments],
            log,
            dies_with_parent=True,
            environment=environment,
        )

    @property
    def process(self) -> subprocess.Popen[bytes]:
        return self._process

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def why_ended(self) -> str:
        return why_it_ended(self._process, self.log)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        end([self._process], _END_DEADLINE_S)


class Leader(_Daemon):
    """A Spark master; knows who has joined."""

    def __init__(self, host: str, port: int, secret: str, log: Path, *, listen: str | None = None) -> None:
        """`host`: by which others find it; `listen`: where it listens, if not there alone."""
        self._page_port = _free_port()
        self.master = f"spark://{host}:{port}"
        self._listens = (listen or host, port)
        self._own_name = f"spark://{listen or host}:{port}"
        super().__init__(
            [
                "org.apache.spark.deploy.master.Master",
                *("--host", listen or host, "--port", str(port), "--webui-port", str(self._page_port)),
            ],
            # Else it would take the next port, where nobody looks for it.
            {"spark.port.maxRetries": "0"},
            secret,
            log,
        )

    @property
    def lost_its_port(self) -> bool:
        """Whether somebody else took it between our look and the master's coming up."""
        return self.has_ended and _TAKEN in log_text(self.log)

    def port_taken(self) -> BadInput:
        return cannot_listen(
            *self._listens, "somebody else took the port a moment ago; is it another leader?"
        )

    def followers(self) -> list[JoinedFollower] | None:
        """Those that are there now; None while the master is not up."""
        try:
            # Straight to ourselves: a proxy in the environment has no business here.
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            address = f"http://127.0.0.1:{self._page_port}/json/"
            with opener.open(address, timeout=_LOOK_DEADLINE_S) as answer:
                told = json.load(answer)
        except (OSError, urllib.error.URLError, ValueError):
            return None
        if told.get("url") != self._own_name:
            return None
        return [joined_follower(worker) for worker in told["workers"] if worker["state"] == "ALIVE"]


class Follower(_Daemon):
    """A Spark worker; its cores are how many agents it takes."""

    def __init__(
        self, leader: tuple[str, int], *, name: str, host: str, cores: int, secret: str, folder: Path
    ) -> None:
        if not _NAME.fullmatch(name):
            raise BadInput(f"--name {name!r}: letters, digits, '.', '_', ':' and '-' only")
        # The leader learns them as parts of the worker's id.
        settings = {"spark.worker.idPattern": f"{name}/{own_version()}/%s-%s-%d"}
        arguments = [
            "org.apache.spark.deploy.worker.Worker",
            *("--host", host, "--cores", str(cores), "--webui-port", "0"),
            *("--work-dir", str(folder / "work")),
            f"spark://{leader[0]}:{leader[1]}",
        ]
        # Tasks run on this very Python: Spark looks for `python3` on the worker's PATH.
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
        about = {FOLLOWER_VARIABLE: name, VERSION_VARIABLE: own_version()}
        self.folder = folder
        super().__init__(arguments, settings, secret, folder / "worker.log", PATH=path, **about)

    @property
    def has_joined(self) -> bool:
        return _JOINED in log_text(self.log)

    @property
    def misses_leader(self) -> bool:
        """Whether it had joined, and then lost the leader."""
        text = log_text(self.log)
        return text.rfind(_LOST) > text.rfind(_JOINED) >= 0

    @property
    def is_out_of_space(self) -> bool:
        """Whether it could not start what it was to run, or could not start anything now."""
        return _FULL in log_text(self.log) or (self._has_no_room() and not self._runs_anything())

    def _has_no_room(self) -> bool:
        return shutil.disk_usage(self.folder).free < _LEAST_ROOM_BYTES

    def _runs_anything(self) -> bool:
        """Agents that have been started may do without that disk: they say so if they do not."""
        try:
            return bool(psutil.Process(self.process.pid).children())
        except psutil.Error:
            return False

    @property
    def was_refused(self) -> bool:
        """As far as its log tells; a master says nothing to whom it does not trust."""
        return _REFUSED in log_text(self.log)


def joined_follower(worker: Mapping[str, Any]) -> JoinedFollower:
    """As the master's page has a worker."""
    name, *rest = worker["id"].split("/")
    # One of an older version has its name alone.
    return JoinedFollower(name, worker["host"], worker["cores"], rest[0] if len(rest) > 1 else "")


def why_not_listening(host: str, port: int, deadline_s: float) -> str | None:
    """None when somebody answers there."""
    try:
        socket.create_connection((host, port), deadline_s).close()
    except OSError as error:
        return str(error)
    return None


def check_listening(host: str, port: int, deadline_s: float) -> None:
    """BadInput when nobody listens there."""
    if (why := why_not_listening(host, port, deadline_s)) is not None:
        raise BadInput(f"{host}:{port}: nothing answers there: {why}; is the leader up?")


def check_free(host: str, port: int) -> None:
    """BadInput when we could not listen there."""
    try:
        with socket.create_server((host, port)):
            pass
    except OSError as error:
        raise cannot_listen(host, port, error) from error


def cannot_listen(host: str, port: int, why: object) -> BadInput:
    return BadInput(f"--leader-host {host} --leader-port {port}: cannot listen there: {why}")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])
