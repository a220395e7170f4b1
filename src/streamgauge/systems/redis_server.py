"""A Redis server, or Valkey, for streams: the one on the PATH, else Debian's, unpacked into the cache."""

from __future__ import annotations

import re
import socket
import subprocess
from typing import Literal

from streamgauge.core.errors import SystemFailed
from streamgauge.spec.system import SystemSpec
from streamgauge.systems.debian_packages import Program, find_program
from streamgauge.systems.ports import HOST, free_ports
from streamgauge.systems.processes import log_text
from streamgauge.systems.server_process import ServerProcess

_NAMES = ("redis-server", "valkey-server")
_PACKAGE = "redis-server"
_VERSION = re.compile(r"v=(\S+)")
_REFUSED = re.compile(r"^>>> '(.+)'\n(.+)$", re.MULTILINE)
_ASK_S = 10.0
_OWN = frozenset({"bind", "port", "dir", "daemonize", "unixsocket"})
"""What finding it, and removing it, depends on."""

DURABILITY = {
    # Written before the answer, synced once a second: what Kafka's page cache is to a broker that dies.
    "appendonly": "yes",
    "appendfsync": "everysec",
    # The log is enough; snapshots would fork in the middle of a case.
    "save": '""',
}
_SYNCED = {
    "always": "synced before every answer",
    "everysec": "synced once a second",
    "no": "synced when the operating system flushes",
}


class RedisServerSpec(SystemSpec):
    """Redis or Valkey, for the run; `properties` are lines of its configuration file, where `appendfsync`
    says what an ack is worth."""

    kind: Literal["redis_server"] = "redis_server"


class RedisServer(ServerProcess):
    """On 127.0.0.1, with a fresh, temporary data folder."""

    spec_model = RedisServerSpec

    what = "the Redis server"
    process_name = "redis-server"
    data_prefix = "streamgauge-redis-"
    lost_a_port = "Address already in use"

    _program: Program | None = None

    def _is_own(self, name: str) -> bool:
        return name in _OWN

    def _prepare(self) -> None:
        self._program = redis_program()
        self._port = free_ports(1)[0]

    def _command(self) -> list[str]:
        assert self._program is not None
        configuration = self.folder / "redis.conf"
        lines = [f"{name} {value}\n" for name, value in self._configuration().items()]
        configuration.write_text("".join(lines) + f"dir {self.folder}\n")
        return [str(self._program.executable), str(configuration)]

    def _environment(self) -> dict[str, str] | None:
        assert self._program is not None
        return self._program.environment()

    def _configuration(self) -> dict[str, str]:
        own = {"bind": HOST, "port": str(self._port), "daemonize": "no", **DURABILITY}
        return {**own, **self._properties}

    def _is_ready(self) -> bool:
        try:
            with socket.create_connection((HOST, self._port), timeout=1.0) as connection:
                connection.settimeout(1.0)
                connection.sendall(b"PING\r\n")
                # Also one that wants a password first is there.
                return connection.recv(7) in (b"+PONG\r\n", b"-NOAUTH")
        except OSError:
            return False

    def _complaint(self) -> str:
        """The line of its configuration that it does not take, and why."""
        found = _REFUSED.search(log_text(self.log_file()))
        return f"{found[1]}: {found[2]}" if found else ""

    def endpoints(self) -> dict[str, str]:
        return {"url": f"redis://{HOST}:{self._port}"}

    def description(self) -> str:
        """With what an ack is worth: that is what the report shows beside its latency."""
        own = self._configuration()
        if own["appendonly"] != "yes":
            return "Redis Streams, no append-only file: gone with the server"
        synced = _SYNCED.get(own["appendfsync"], own["appendfsync"])
        return f"Redis Streams, append-only file, {synced} (appendfsync {own['appendfsync']})"

    def settings(self) -> dict[str, object]:
        assert self._program is not None
        return {"redis_server": version_of(self._program), "configuration": self._configuration()}


def redis_program() -> Program:
    return find_program(_NAMES, _PACKAGE, "usr/bin/redis-server")


def version_of(program: Program) -> str:
    """As it says itself: "redis-server 7.0.15"."""
    try:
        done = subprocess.run(
            [program.executable, "--version"],
            env=program.environment(),
            capture_output=True,
            text=True,
            timeout=_ASK_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SystemFailed(f"{program.executable} --version: {error}") from None
    found = _VERSION.search(done.stdout)
    return f"{program.executable.name} {found[1] if found else '(version not known)'}"
