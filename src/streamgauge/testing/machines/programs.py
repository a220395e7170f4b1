"""The bed's programs in C, compiled for this machine when they are needed; and what it lacks for them."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from streamgauge.core.c_programs import NO_COMPILER, compile_c, compile_preloaded, compiler

_SOURCES = Path(__file__).parent
_TUN = Path("/dev/net/tun")


@dataclass(frozen=True)
class Programs:
    machine: Path
    """boots a machine, and enters one"""
    wire: Path
    """joins them"""
    clock: Path
    """the library that gives processes the clock of their machine"""


def compiled(folder: Path) -> Programs:
    """SystemFailed with what the compiler said."""
    made = Programs(folder / "machine", folder / "wire", folder / "clock.so")
    compile_c(_SOURCES / "machine.c", made.machine)
    compile_c(_SOURCES / "wire.c", made.wire)
    compile_preloaded(_SOURCES / "clock.c", made.clock)
    return made


def what_is_missing() -> str | None:
    """Why there can be no machines here, as far as it can be told without trying; None: nothing is."""
    if sys.platform != "linux":
        return "machines are Linux namespaces"
    if os.geteuid() != 0:
        return "machines are made by root alone"
    if compiler() is None:
        return NO_COMPILER
    if shutil.which("ip") is None:
        return "there is no `ip` (iproute2)"
    return None if _TUN.exists() else f"there is no {_TUN}"
