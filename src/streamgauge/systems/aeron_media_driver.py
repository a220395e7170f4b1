"""Aeron's media driver in a process of its own: the Java one, from its jar alone, or the C one if wanted."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from streamgauge.core.errors import SystemFailed
from streamgauge.core.guardian import memory_folder
from streamgauge.core.units import format_bytes
from streamgauge.jvm import aeron_directory
from streamgauge.jvm.aeron_directory import driver_state
from streamgauge.jvm.compiler import compiled
from streamgauge.jvm.jars import classpath, fetch, locked_version
from streamgauge.jvm.java import find_java
from streamgauge.spec.reach import ProgramFile
from streamgauge.spec.system import SystemSpec
from streamgauge.systems import aeron_profiles
from streamgauge.systems.aeron_c_driver import found_executable, in_its_words, version_of
from streamgauge.systems.server_process import ServerProcess

_SOURCES = Path(aeron_directory.__file__).parent / "media_driver"
"""Idle strategies of ours."""
_JVM = (
    "-Xmx256m",
    # Agrona, which Aeron is built on, looks into the JDK.
    "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED",
    "-XX:+UnlockDiagnosticVMOptions",
    # As transport-bench's command does: no pause just to have had one.
    "-XX:GuaranteedSafepointInterval=300000",
    "-Djava.net.preferIPv4Stack=true",
)


class AeronMediaDriverSpec(SystemSpec):
    """Aeron's media driver, started for the run and stopped after it."""

    kind: Literal["aeron_media_driver"] = "aeron_media_driver"
    profile: Literal["auto", "low_latency", "few_cores"] = "auto"
    """auto: low_latency from 5 cores on."""
    executable: ProgramFile | None = None
    """The C media driver, `aeronmd` on the PATH or wherever it lies; None: the Java one."""


class AeronMediaDriver(ServerProcess):
    """Its directory is a fresh one in memory, and goes with it."""

    spec_model = AeronMediaDriverSpec

    what = "Aeron's media driver"
    process_name = "media-driver"
    data_prefix = "streamgauge-aeron-"

    def __init__(
        self,
        *,
        log_dir: Path,
        profile: str = aeron_profiles.AUTO,
        executable: str | None = None,
        properties: Mapping[str, str] | None = None,
        memory: Path | None = None,
    ) -> None:
        """`properties`: Aeron's, beside or instead of the profile's. `memory`: where buffers are mapped."""
        super().__init__(log_dir=log_dir)
        self._profile = aeron_profiles.chosen(profile, os.cpu_count() or 1)
        self._wanted = {**aeron_profiles.PROFILES[self._profile], **(properties or {})}
        self._memory, self._wanted_executable = memory, executable
        self._executable: Path | None = None
        self.notes: list[str] = []

    def _prepare(self) -> None:
        if self._wanted_executable is not None:
            self._executable = found_executable(self._wanted_executable)
        self._properties, self.notes = aeron_profiles.within_limits(
            self._wanted, aeron_profiles.socket_limits()
        )
        self.notes += aeron_profiles.core_notes(self._profile, os.cpu_count() or 1)
        self._check_room(self._parent())

    def _check_room(self, memory: Path) -> None:
        """Buffers that do not fit would end clients with SIGBUS, later."""
        needed = aeron_profiles.needed_bytes(self._properties)
        try:
            free = shutil.disk_usage(memory).free
        except OSError as error:
            raise SystemFailed(f"{memory}: cannot be used for Aeron's buffers: {error}") from None
        if free < needed:
            raise SystemFailed(
                f"{memory} is too small: {format_bytes(free)} are free, Aeron's buffers need "
                f"{format_bytes(needed)}; enlarge it (mount -o remount,size={-(-needed // 2**20) + 64}m "
                f"{memory}), or take smaller ones (system.properties: "
                "aeron.term.buffer.length, aeron.ipc.term.buffer.length)"
            )

    def _parent(self) -> Path:
        return self._memory or memory_folder()

    def _command(self) -> list[str]:
        options = [f"-D{name}={value}" for name, value in self._all_properties().items()]
        if self._executable is not None:
            return [str(self._executable), *options]
        jars = fetch("aeron")
        path = classpath([*jars, compiled(_SOURCES, jars)])
        return [str(find_java().executable), *_JVM, *options, "-cp", path, "io.aeron.driver.MediaDriver"]

    def _is_ready(self) -> bool:
        return driver_state(self.directory).is_alive

    @property
    def directory(self) -> Path:
        return self.folder / "driver"

    def endpoints(self) -> dict[str, str]:
        return {"directory": str(self.directory)}

    def description(self) -> str:
        kind = "Aeron media driver" if self._wanted_executable is None else "Aeron C media driver"
        return f"{kind}, profile {self._profile}"

    def settings(self) -> dict[str, object]:
        own: dict[str, object] = {"aeron": locked_version("aeron", "aeron-all"), "java": find_java().version}
        if self._executable is not None:
            own = {"aeron": version_of(self._executable), "executable": str(self._executable)}
        return {
            **own,
            "profile": self._profile,
            "properties": self._all_properties(),
            "notes": self.notes,
        }

    def _all_properties(self) -> dict[str, str]:
        whole = {
            **self._properties,
            "aeron.dir": str(self.directory),
            "aeron.dir.delete.on.start": "true",
            "aeron.dir.delete.on.shutdown": "true",
            "aeron.print.configuration": "true",
        }
        return whole if self._executable is None else in_its_words(whole)
