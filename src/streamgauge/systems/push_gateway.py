"""The push gateway as a system under test: started for a run, measured, and stopped."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from streamgauge.core.errors import SystemFailed, Unreachable
from streamgauge.gateway.server.settings import LISTENING, MONITORING
from streamgauge.systems.contract import START_DEADLINE_S, System
from streamgauge.systems.members import Members
from streamgauge.systems.processes import end, how_it_ended, log_text, spawn, why_it_ended

_MODULE = "streamgauge.gateway.server.gateway_process"
GATEWAY = "gateway"
_POLL_S = 0.05
# Its processes have 10 s of their own before they are killed, and Kafka's clients end within that.
_STOP_DEADLINE_S = 15.0


class PushGateway(System):
    """One gateway on this machine, of one process or several.

    It dies with the process that called `launch` (see `processes.spawn`).
    """

    def __init__(
        self,
        *,
        config: Path,
        log_dir: Path,
        processes: int = 1,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        """`settings`: of the server, before those of the file; without a port, any that is free is taken."""
        self._config, self._log = config.absolute(), log_dir.absolute() / "gateway.log"
        self._count, self._settings = processes, {"port": 0, **(settings or {})}
        self._own: dict[str, subprocess.Popen[bytes]] = {}
        self._members = Members(
            self._own, self._start, lambda name: bool(self._said(LISTENING)), self._log_of
        )
        self._address = self._monitoring = ""

    def launch(self) -> None:
        if self._running is not None:
            raise SystemFailed("this gateway is already running; stop it first")
        self._own[GATEWAY] = self._start(GATEWAY)

    @property
    def _running(self) -> subprocess.Popen[bytes] | None:
        return self._own.get(GATEWAY)

    def _start(self, name: str) -> subprocess.Popen[bytes]:
        """Where it was before, if it was: its clients know no other place."""
        port = {"port": int(self._address.rpartition(":")[2])} if self._address else {}
        command = [sys.executable, "-m", _MODULE, "--config", str(self._config)]
        command += ["--settings", json.dumps(self._settings | port), "--processes", str(self._count)]
        return spawn(command, self._log, dies_with_parent=True)

    def _log_of(self, name: str) -> Path:
        return self._log

    def members(self) -> Members:
        """One; where it serves by several processes, they end with it."""
        return self._members

    def wait_ready(self, deadline_s: float = START_DEADLINE_S) -> None:
        if self._running is None:
            raise SystemFailed("this gateway was not launched")
        until = time.monotonic() + deadline_s
        while not (address := self._said(LISTENING)):
            if self._running.poll() is not None:
                reason = why_it_ended(self._running, self._log)
                self.stop()
                raise SystemFailed(f"the gateway ended at start: {reason}")
            if time.monotonic() > until:
                self.stop()
                raise Unreachable(f"the gateway was not ready after {deadline_s:g} s; see {self._log}")
            time.sleep(_POLL_S)
        self._address, self._monitoring = address, self._said(MONITORING)

    def endpoints(self) -> dict[str, str]:
        return {"gateway": self._address, "monitoring": self._monitoring}

    def processes(self) -> dict[str, int]:
        """Those that serve: of several, the one that watches over them does not."""
        if self._running is None:
            return {}
        serving = [self._running.pid]
        if self._count > 1:
            with suppress(psutil.NoSuchProcess):
                serving = sorted(child.pid for child in psutil.Process(self._running.pid).children())
        return {f"gateway-{number}": pid for number, pid in enumerate(serving, 1)}

    def ended(self) -> str | None:
        if self._running is None or self._running.poll() is None or self._members.may_be_gone:
            return None
        return f"the gateway ended: {how_it_ended(self._running, self._log)}"

    def stop(self) -> None:
        try:
            if self._running is not None:
                end([self._running], deadline_s=_STOP_DEADLINE_S)
        finally:
            self._own.clear()
            self._address = self._monitoring = ""

    def _said(self, what: str) -> str:
        """The whole line: it may be there in part while it is written."""
        lines = log_text(self._log).splitlines(keepends=True)
        said = (line for line in lines if line.startswith(what) and line.endswith("\n"))
        return next(said, "").removeprefix(what).strip()
