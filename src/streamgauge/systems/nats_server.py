"""A NATS server with JetStream: the one on the PATH, else one that Go builds once from its module proxy."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from streamgauge.core.errors import NotInstalled, Unreachable
from streamgauge.core.folders import cache_folder
from streamgauge.systems.contract import START_DEADLINE_S, System, SystemFailed
from streamgauge.systems.processes import end, log_text, spawn, why_it_ended
from streamgauge.systems.scratch import ScratchFolder

VERSION = "v2.15.2"
MODULE = f"github.com/nats-io/nats-server/v2@{VERSION}"
DATA_PREFIX = "streamgauge-nats-"
HOST = "127.0.0.1"
_BUILD_DEADLINE_S = 300.0
_POLL_S = 0.02
_PORT_ATTEMPTS = 3


class NatsServer(System):
    """On 127.0.0.1, with a fresh, temporary data folder."""

    def __init__(self, *, log_dir: Path, properties: Mapping[str, str] | None = None) -> None:
        """`properties`: lines of its configuration file, by name."""
        self.log_dir = log_dir.absolute()
        self._properties = dict(properties or {})
        self._port = 0
        self._data: ScratchFolder | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def launch(self) -> None:
        if self._process is not None:
            raise SystemFailed("this NATS server is already running; stop it first")
        executable = nats_executable()
        try:
            self._data = ScratchFolder(DATA_PREFIX)
            self._port = _free_port()
            configuration = self._data.path / "nats.conf"
            configuration.write_text(self._configuration())
            self._process = spawn(
                [str(executable), "-c", str(configuration)],
                self.log_file(),
                dies_with_parent=True,
                pass_fds=[self._data.lock_fd],
            )
        except BaseException:
            self.stop()
            raise

    def _configuration(self) -> str:
        assert self._data is not None
        own = {"host": HOST, "port": str(self._port), **self._properties}
        lines = [f"{name}: {value}" for name, value in own.items()]
        return "\n".join([*lines, f'jetstream {{ store_dir: "{self._data.path / "jetstream"}" }}']) + "\n"

    def wait_ready(self, deadline_s: float = START_DEADLINE_S) -> None:
        until, attempt = time.monotonic() + deadline_s, 1
        while not self._is_ready():
            if self._process is None:
                raise SystemFailed("this NATS server was not launched")
            if self._process.poll() is not None:
                reason = why_it_ended(self._process, self.log_file())
                lost_port = "address already in use" in log_text(self.log_file())
                self.stop()
                if not lost_port or attempt == _PORT_ATTEMPTS:
                    raise SystemFailed(f"the NATS server ended at start: {reason}")
                attempt += 1
                self.launch()
            if time.monotonic() > until:
                self.stop()
                raise Unreachable(
                    f"the NATS server was not ready after {deadline_s:g} s; see {self.log_file()}"
                )
            time.sleep(_POLL_S)

    def _is_ready(self) -> bool:
        try:
            with socket.create_connection((HOST, self._port), timeout=1.0) as connection:
                connection.settimeout(1.0)
                return connection.recv(4) == b"INFO"
        except OSError:
            return False

    def endpoints(self) -> dict[str, str]:
        return {"servers": f"nats://{HOST}:{self._port}"}

    def processes(self) -> dict[str, int]:
        return {} if self._process is None else {"nats-server": self._process.pid}

    def log_file(self) -> Path:
        return self.log_dir / "nats-server.log"

    def description(self) -> str:
        return "NATS server with JetStream, file storage"

    def settings(self) -> dict[str, object]:
        return {"nats_server": str(nats_executable()), "configuration": self._configuration()}

    def stop(self) -> None:
        try:
            if self._process is not None:
                end([self._process])
        finally:
            self._process = None
            if self._data is not None:
                self._data.remove()
                self._data = None


def nats_executable() -> Path:
    """Built into the cache where there is Go and no server."""
    if found := shutil.which("nats-server"):
        return Path(found)
    built = cache_folder() / "tools" / f"nats-server-{VERSION}" / "nats-server"
    if built.exists():
        return built
    go = shutil.which("go")
    if go is None:
        raise NotInstalled(
            f"nats-server is not installed: put it on the PATH (go install {MODULE}), or install Go, "
            "and it is built when it is needed"
        )
    built.parent.mkdir(parents=True, exist_ok=True)
    try:
        ran = subprocess.run(
            [go, "install", MODULE],
            env={**os.environ, "GOBIN": str(built.parent)},
            capture_output=True,
            text=True,
            timeout=_BUILD_DEADLINE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise SystemFailed(f"go install {MODULE} was not done after {_BUILD_DEADLINE_S:g} s") from None
    if ran.returncode != 0 or not built.exists():
        said = [line for line in ran.stderr.splitlines() if line.strip()] or [f"exit code {ran.returncode}"]
        raise SystemFailed(f"go install {MODULE} failed: {said[-1]}")
    return built


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])
