"""A RabbitMQ node with its stream plugin: the machine's own, else Debian's, unpacked into the cache.

Everything that RabbitMQ and Erlang share between nodes of a machine is the run's own: node name, cookie,
data, and the name server (epmd), which else would be started as a daemon and stay.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Literal

from streamgauge.core.errors import NotInstalled, SystemFailed
from streamgauge.spec.system import SystemSpec
from streamgauge.systems.debian_packages import Program, find_program
from streamgauge.systems.ports import HOST, free_ports
from streamgauge.systems.processes import end, log_text, spawn
from streamgauge.systems.server_process import ServerProcess

# The first needs no root; Debian's own command on the PATH does.
NAMES = ("/usr/lib/rabbitmq/bin/rabbitmq-server", "rabbitmq-server")
_PACKAGE = "rabbitmq-server"
_INSIDE = "usr/lib/rabbitmq/bin/rabbitmq-server"
_NODE = "streamgauge@localhost"
_READY = "Server startup complete"
_DETAIL = re.compile(r"\[error\] \S+ +- (.+)")
_BOOT_ERROR = re.compile(r"Error during startup: (.+)")
_OWN = ("listeners.", "stream.listeners.", "stream.advertised_")
"""What finding it depends on."""


class RabbitMqServerSpec(SystemSpec):
    """A node with its stream plugin, for the run; `properties` are lines of its rabbitmq.conf."""

    kind: Literal["rabbitmq_server"] = "rabbitmq_server"


class RabbitMqServer(ServerProcess):
    """On 127.0.0.1 only, with a fresh, temporary data folder."""

    spec_model = RabbitMqServerSpec

    what = "the RabbitMQ server"
    process_name = "rabbitmq-server"
    data_prefix = "streamgauge-rabbitmq-"
    lost_a_port = "eaddrinuse"

    _program: Program | None = None
    _epmd: subprocess.Popen[bytes] | None = None
    _epmd_port = _node_port = 0

    def _is_own(self, name: str) -> bool:
        return name.startswith(_OWN)

    def _prepare(self) -> None:
        self._program = rabbitmq_program()
        self._port, self._epmd_port, self._node_port = free_ports(3)
        command = [str(epmd_of(self._program)), "-address", HOST, "-port", str(self._epmd_port)]
        self._epmd = spawn(
            command,
            self.log_dir / "epmd.log",
            dies_with_parent=True,
            environment=self._program.environment(),
        )

    def _command(self) -> list[str]:
        assert self._program is not None
        lines = [f"{name} = {value}\n" for name, value in self._configuration().items()]
        (self.folder / "rabbitmq.conf").write_text("".join(lines))
        (self.folder / "enabled_plugins").write_text("[rabbitmq_stream].\n")
        if self._program.root is not None:
            _write_erl(self.folder / "bin" / "erl", _erts_folder(self._program.root))
        # It looks for other scripts beside itself, where a link to it has none.
        return [str(self._program.executable.resolve())]

    def _configuration(self) -> dict[str, str]:
        return {
            "listeners.tcp": "none",
            "stream.listeners.tcp.1": f"{HOST}:{self._port}",
            "stream.advertised_host": HOST,
            "stream.advertised_port": str(self._port),
            "log.console": "true",
            "log.console.level": "info",
            "log.file": "false",
            **self._properties,
        }

    def _environment(self) -> dict[str, str]:
        assert self._program is not None
        inherited = self._program.environment() or dict(os.environ)
        # Of another node on this machine; ours has nothing to do with it.
        kept = {
            name: value for name, value in inherited.items() if not name.startswith(("RABBITMQ_", "ERL_"))
        }
        folder = self.folder
        own = {
            "HOME": folder,
            "PATH": f"{folder / 'bin'}:{inherited.get('PATH', os.defpath)}",
            # A dump would be written to wherever the user happens to be.
            "ERL_CRASH_DUMP_SECONDS": 0,
            "ERL_EPMD_ADDRESS": HOST,
            "ERL_EPMD_PORT": self._epmd_port,
            # Its script then becomes the server instead of waiting for it.
            "RUNNING_UNDER_SYSTEMD": "true",
            "RABBITMQ_CONF_ENV_FILE": folder / "none",
            "RABBITMQ_CONFIG_FILE": folder / "rabbitmq.conf",
            "RABBITMQ_DIST_PORT": self._node_port,
            "RABBITMQ_ENABLED_PLUGINS_FILE": folder / "enabled_plugins",
            "RABBITMQ_LOG": "-color",
            "RABBITMQ_LOG_BASE": folder / "log",
            "RABBITMQ_MNESIA_BASE": folder / "data",
            "RABBITMQ_NODENAME": _NODE,
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
        }
        if self._program.root is not None:
            own["RABBITMQ_PLUGINS_DIR"] = self._program.executable.resolve().parent.parent / "plugins"
        return kept | {name: str(value) for name, value in own.items()}

    def _is_ready(self) -> bool:
        return _READY in log_text(self.log_file())

    def _complaint(self) -> str:
        """Its own words stand far above the report of Erlang's supervisors."""
        text = log_text(self.log_file())
        details = _DETAIL.findall(text) or _BOOT_ERROR.findall(text)[-1:]
        return ": ".join(detail.strip() for detail in details)

    def endpoints(self) -> dict[str, str]:
        return {"url": f"rabbitmq-stream://{HOST}:{self._port}"}

    def description(self) -> str:
        """With what an ack is worth: that is what the report shows beside its latency."""
        return "RabbitMQ streams, one copy, written to its log, synced when the operating system flushes"

    def settings(self) -> dict[str, object]:
        return {"configuration": self._configuration()}

    def stop(self) -> None:
        """The name server last: a node that ends tells it."""
        try:
            super().stop()
        finally:
            if self._epmd is not None:
                end([self._epmd])
                self._epmd = None


def rabbitmq_program() -> Program:
    return find_program(NAMES, _PACKAGE, _INSIDE)


def epmd_of(program: Program) -> Path:
    """Erlang's name server, from where the program's Erlang is."""
    if program.root is not None:
        return _erts_folder(program.root) / "bin" / "epmd"
    if found := shutil.which("epmd"):
        return Path(found)
    beside = sorted(Path("/usr/lib/erlang").glob("erts-*/bin/epmd"))
    if not beside:
        raise NotInstalled(f"{program.executable} is there, but Erlang's epmd is not on the PATH")
    return beside[-1]


def _erts_folder(root: Path) -> Path:
    found = sorted(root.glob("usr/lib/erlang/erts-*"))
    if not found:
        raise SystemFailed(
            f"{root}: no Erlang came with {_PACKAGE}; remove that folder, and it is fetched again"
        )
    return found[-1]


def _write_erl(script: Path, erts: Path) -> None:
    """Debian's own `erl` knows only /usr/lib/erlang."""
    script.parent.mkdir()
    settings = f'ROOTDIR="{erts.parent}"\nBINDIR="{erts / "bin"}"\nEMU=beam\nPROGNAME=erl\n'
    script.write_text(
        f'#!/bin/sh\n{settings}export ROOTDIR BINDIR EMU PROGNAME\nexec "$BINDIR/erlexec" "$@"\n'
    )
    script.chmod(0o755)
