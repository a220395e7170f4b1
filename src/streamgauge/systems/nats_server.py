"""A NATS server with JetStream: the one on the PATH, else one that Go builds once from its module proxy."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from pathlib import Path
from typing import Literal

from streamgauge.core.errors import NotInstalled, SystemFailed
from streamgauge.core.folders import cache_folder
from streamgauge.core.guardian import with_mark
from streamgauge.spec.system import SystemSpec
from streamgauge.systems.ports import HOST, free_ports
from streamgauge.systems.server_process import ServerProcess

VERSION = "v2.15.2"
MODULE = f"github.com/nats-io/nats-server/v2@{VERSION}"
_BUILD_DEADLINE_S = 300.0


class NatsServerSpec(SystemSpec):
    """Started for the run and stopped after it; `properties` are lines of its configuration file."""

    kind: Literal["nats_server"] = "nats_server"


class NatsServer(ServerProcess):
    """On 127.0.0.1, with a fresh, temporary data folder."""

    spec_model = NatsServerSpec

    what = "the NATS server"
    process_name = "nats-server"
    data_prefix = "streamgauge-nats-"
    lost_a_port = "address already in use"

    def _prepare(self) -> None:
        self._executable = nats_executable()
        self._port = free_ports(1)[0]

    def _command(self) -> list[str]:
        configuration = self.folder / "nats.conf"
        configuration.write_text(self._configuration())
        return [str(self._executable), "-c", str(configuration)]

    def _configuration(self) -> str:
        own = {"host": HOST, "port": str(self._port), **self._properties}
        lines = [f"{name}: {value}" for name, value in own.items()]
        return "\n".join([*lines, f'jetstream {{ store_dir: "{self.folder / "jetstream"}" }}']) + "\n"

    def _is_ready(self) -> bool:
        try:
            with socket.create_connection((HOST, self._port), timeout=1.0) as connection:
                connection.settimeout(1.0)
                return connection.recv(4) == b"INFO"
        except OSError:
            return False

    def endpoints(self) -> dict[str, str]:
        return {"servers": f"nats://{HOST}:{self._port}"}

    def description(self) -> str:
        """With what an ack is worth; syncing is JetStream's own default."""
        return "NATS server with JetStream, file storage, synced every 2 minutes"

    def settings(self) -> dict[str, object]:
        return {"nats_server": self._executable.name, "configuration": self._configuration()}


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
            env=with_mark({**os.environ, "GOBIN": str(built.parent)}),
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
