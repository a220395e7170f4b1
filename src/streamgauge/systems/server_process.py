"""A system that is one process with a folder of its own, both gone when it stops."""

from __future__ import annotations

import subprocess
import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import ClassVar

from streamgauge.core.errors import BadInput, SystemFailed, Unreachable
from streamgauge.core.guardian import temporary_folder
from streamgauge.core.scratch import ScratchFolder
from streamgauge.systems.contract import START_DEADLINE_S, System
from streamgauge.systems.processes import end, how_it_ended, log_text, spawn, why_it_ended

_POLL_S = 0.02
_ATTEMPTS = 3


def refuse_own(properties: Iterable[str], is_own: Callable[[str], bool]) -> None:
    """BadInput when somebody wants to set what finding or removing the server depends on."""
    if taken := sorted(filter(is_own, properties)):
        raise BadInput(
            f"system.properties.{taken[0]} cannot be set: the run depends on it; for a server that runs "
            "already, give settings.url and no system"
        )


class ServerProcess(System):
    """Dies with the process that launched it (see `processes.spawn`)."""

    what: ClassVar[str]
    """As it is spoken of: "Aeron's media driver"."""
    process_name: ClassVar[str]
    data_prefix: ClassVar[str]
    lost_a_port: ClassVar[str | None] = None
    """What it says when somebody took a port between our choosing it and its binding it."""

    _port = 0

    def __init__(self, *, log_dir: Path, properties: Mapping[str, str] | None = None) -> None:
        """`properties`: lines of its own configuration, by name."""
        self.log_dir = log_dir.absolute()
        self._properties = dict(properties or {})
        refuse_own(self._properties, self._is_own)
        self._scratch: ScratchFolder | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def _is_own(self, name: str) -> bool:
        """Whether finding or removing the server depends on a property."""
        return False

    @abstractmethod
    def _prepare(self) -> None:
        """What can be wrong before there is a folder."""

    @abstractmethod
    def _command(self) -> list[str]:
        """How to start it; its folder is there, and empty."""

    @abstractmethod
    def _is_ready(self) -> bool: ...

    def _environment(self) -> dict[str, str] | None:
        """Of its process; None: ours."""
        return None

    def _complaint(self) -> str:
        """What of its log tells why it ended; empty: the last line that looks like it."""
        return ""

    def _parent(self) -> Path:
        """Where its folder is made."""
        return temporary_folder()

    @property
    def folder(self) -> Path:
        if self._scratch is None:
            raise SystemFailed(f"{self.what} was not launched")
        return self._scratch.path

    def launch(self) -> None:
        if self._process is not None:
            raise SystemFailed(f"{self.what} is already running; stop it first")
        self._prepare()
        try:
            self._scratch = ScratchFolder(self.data_prefix, self._parent())
            self._process = spawn(
                self._command(),
                self.log_file(),
                dies_with_parent=True,
                pass_fds=[self._scratch.lock_fd],
                environment=self._environment(),
            )
        except BaseException:
            self.stop()
            raise

    def wait_ready(self, deadline_s: float = START_DEADLINE_S) -> None:
        until, attempt = time.monotonic() + deadline_s, 1
        while self._process is None or not self._is_ready():
            if self._process is None:
                raise SystemFailed(f"{self.what} was not launched")
            if self._process.poll() is not None:
                reason = why_it_ended(self._process, self.log_file(), self._complaint())
                again = self.lost_a_port is not None and self.lost_a_port in log_text(self.log_file())
                self.stop()
                if not again or attempt == _ATTEMPTS:
                    raise SystemFailed(f"{self.what} ended at start: {reason}")
                attempt += 1
                self.launch()
            if time.monotonic() > until:
                self.stop()
                raise Unreachable(f"{self.what} was not ready after {deadline_s:g} s; see {self.log_file()}")
            time.sleep(_POLL_S)

    def processes(self) -> dict[str, int]:
        return {} if self._process is None else {self.process_name: self._process.pid}

    def ended(self) -> str | None:
        if self._process is None or self._process.poll() is None:
            return None
        return f"{self.what} ended: {how_it_ended(self._process, self.log_file())}"

    def log_file(self) -> Path:
        return self.log_dir / f"{self.process_name}.log"

    def stop(self) -> None:
        try:
            if self._process is not None:
                end([self._process])
        finally:
            self._process = None
            if self._scratch is not None:
                self._scratch.remove()
                self._scratch = None
