"""Aeron's media driver in a process of its own: the Java one, from its jar alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from streamgauge.core.errors import Unreachable
from streamgauge.core.units import format_bytes
from streamgauge.jvm.aeron_directory import driver_state
from streamgauge.jvm.jars import classpath, fetch, locked_version
from streamgauge.jvm.java import find_java
from streamgauge.systems import aeron_profiles
from streamgauge.systems.contract import START_DEADLINE_S, System, SystemFailed
from streamgauge.systems.processes import end, spawn, why_it_ended
from streamgauge.systems.scratch import ScratchFolder

DATA_PREFIX = "streamgauge-aeron-"
_MEMORY = Path("/dev/shm")
_POLL_S = 0.02
_LOG = "media-driver"
_JVM = (
    "-Xmx256m",
    # Agrona, which Aeron is built on, looks into the JDK.
    "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED",
    "-XX:+UnlockDiagnosticVMOptions",
    # As the seed's command does: no pause just to have had one.
    "-XX:GuaranteedSafepointInterval=300000",
    "-Djava.net.preferIPv4Stack=true",
)


class AeronMediaDriver(System):
    """Its directory is a fresh one in memory, and goes with it."""

    def __init__(
        self,
        *,
        log_dir: Path,
        profile: str = aeron_profiles.AUTO,
        properties: Mapping[str, str] | None = None,
        memory: Path | None = None,
    ) -> None:
        """`properties`: Aeron's, beside or instead of the profile's. `memory`: where buffers are mapped."""
        self.log_dir = log_dir.absolute()
        self._profile = aeron_profiles.chosen(profile, os.cpu_count() or 1)
        self._wanted = {**aeron_profiles.PROFILES[self._profile], **(properties or {})}
        self._memory = memory or (_MEMORY if _MEMORY.is_dir() else None)
        self._properties: dict[str, str] = {}
        self.notes: list[str] = []
        self._scratch: ScratchFolder | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def launch(self) -> None:
        if self._process is not None:
            raise SystemFailed("this media driver is already running; stop it first")
        self._properties, self.notes = aeron_profiles.within_limits(
            self._wanted, aeron_profiles.socket_limits()
        )
        self.notes += aeron_profiles.core_notes(self._profile, os.cpu_count() or 1)
        self._check_room()
        java = find_java()
        jars = classpath(fetch("aeron"))
        try:
            self._scratch = ScratchFolder(DATA_PREFIX, self._memory)
            options = [f"-D{name}={value}" for name, value in self._all_properties().items()]
            self._process = spawn(
                [str(java.executable), *_JVM, *options, "-cp", jars, "io.aeron.driver.MediaDriver"],
                self.log_file(),
                dies_with_parent=True,
                pass_fds=[self._scratch.lock_fd],
            )
        except BaseException:
            self.stop()
            raise

    def _check_room(self) -> None:
        """Buffers that do not fit would end clients with SIGBUS, later."""
        if self._memory is None:
            return
        needed = aeron_profiles.needed_bytes(self._properties)
        try:
            free = shutil.disk_usage(self._memory).free
        except OSError as error:
            raise SystemFailed(f"{self._memory}: cannot be used for Aeron's buffers: {error}") from None
        if free < needed:
            raise SystemFailed(
                f"{self._memory} is too small: {format_bytes(free)} are free, Aeron's buffers need "
                f"{format_bytes(needed)}; enlarge it (mount -o remount,size={-(-needed // 2**20) + 64}m "
                f"{self._memory}), or take smaller ones (system.properties: "
                "aeron.term.buffer.length, aeron.ipc.term.buffer.length)"
            )

    def wait_ready(self, deadline_s: float = START_DEADLINE_S) -> None:
        if self._process is None:
            raise SystemFailed("this media driver was not launched")
        until = time.monotonic() + deadline_s
        while not driver_state(self.directory).is_alive:
            if self._process.poll() is not None:
                reason = why_it_ended(self._process, self.log_file())
                self.stop()
                raise SystemFailed(f"Aeron's media driver ended at start: {reason}")
            if time.monotonic() > until:
                self.stop()
                raise Unreachable(
                    f"Aeron's media driver was not ready after {deadline_s:g} s; see {self.log_file()}"
                )
            time.sleep(_POLL_S)

    @property
    def directory(self) -> Path:
        if self._scratch is None:
            raise SystemFailed("this media driver was not launched")
        return self._scratch.path / "driver"

    def endpoints(self) -> dict[str, str]:
        return {"directory": str(self.directory)}

    def processes(self) -> dict[str, int]:
        return {} if self._process is None else {"media-driver": self._process.pid}

    def log_file(self) -> Path:
        return self.log_dir / f"{_LOG}.log"

    def description(self) -> str:
        return f"Aeron media driver, profile {self._profile}"

    def settings(self) -> dict[str, object]:
        return {
            "aeron": locked_version("aeron", "aeron-all"),
            "java": find_java().version,
            "profile": self._profile,
            "properties": self._all_properties(),
            "notes": self.notes,
        }

    def _all_properties(self) -> dict[str, str]:
        return {
            **self._properties,
            "aeron.dir": str(self.directory),
            "aeron.dir.delete.on.start": "true",
            "aeron.dir.delete.on.shutdown": "true",
            "aeron.print.configuration": "true",
        }

    def stop(self) -> None:
        try:
            if self._process is not None:
                end([self._process])
        finally:
            self._process = None
            if self._scratch is not None:
                self._scratch.remove()
                self._scratch = None
