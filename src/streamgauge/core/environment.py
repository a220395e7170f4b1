"""Where a run took place: machine, kernel, versions."""

from __future__ import annotations

import contextlib
import getpass
import os
import platform
import socket
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import psutil

FOLLOWER_VARIABLE = "STREAMGAUGE_FOLLOWER"
"""A follower's name, in the environment of everything that runs on it."""
LAUNCHER_POD_VARIABLE = "STREAMGAUGE_POD"
"""The name of the pod that is the launcher, in its environment."""

_SYSCTLS = (
    "net.core.rmem_max",
    "net.core.wmem_max",
    "net.core.somaxconn",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
    "net.core.netdev_max_backlog",
    "net.ipv4.tcp_low_latency",
    "net.ipv4.tcp_congestion_control",
    "vm.swappiness",
    # When a broker's pages are written back, and how many files it may map.
    "vm.dirty_background_ratio",
    "vm.dirty_ratio",
    "vm.max_map_count",
)
"""What people turn before they measure; those that a kernel has not are left out."""
_PACKAGES = ("streamgauge", "confluent-kafka", "pyspark", "pyarrow", "numpy")


def describe_machine() -> dict[str, Any]:
    """What a reader needs to know to set another machine's figures beside these."""
    return {
        "user": _user(),
        "hostname": socket.gethostname(),
        "machine": platform.machine(),
        "cpu": _cpu_model(),
        "cores": os.cpu_count() or 1,
        "memory_bytes": psutil.virtual_memory().total,
        "swap_bytes": psutil.swap_memory().total,
        "distribution": _distribution(),
        "kernel": f"{platform.system()} {platform.release()}",
        "disk": _disk(Path(tempfile.gettempdir())),
        "sysctls": {name: value for name in _SYSCTLS if (value := _sysctl(name)) is not None},
        "python": sys.version.split()[0],
        "versions": {name: _version(name) for name in _PACKAGES},
    }


def _user() -> str | None:
    """Who ran it; a container may have a number and no name."""
    with contextlib.suppress(OSError, KeyError):
        return getpass.getuser()
    return None


def _distribution() -> str | None:
    with contextlib.suppress(OSError):
        return platform.freedesktop_os_release().get("PRETTY_NAME")
    return None


def _disk(folder: Path) -> dict[str, str]:
    """What the data of a broker of ours lie on: the file system, and the device as far as it has a name."""
    mounted = [part for part in psutil.disk_partitions(all=True) if folder.is_relative_to(part.mountpoint)]
    if not mounted:
        return {}
    part = max(mounted, key=lambda one: len(one.mountpoint))
    found = {"folder": str(folder), "device": part.device, "file_system": part.fstype}
    block = Path("/sys/class/block") / Path(part.device).name
    # A partition lies below its disk.
    for place in (block / "device/model", block / "../device/model"):
        with contextlib.suppress(OSError):
            return {**found, "model": place.read_text().strip()}
    return found


def _sysctl(name: str) -> str | None:
    with contextlib.suppress(OSError):
        return " ".join((Path("/proc/sys") / name.replace(".", "/")).read_text().split())
    return None


def host_name() -> str:
    """What people call this host: a follower may have a name of its own."""
    return os.environ.get(FOLLOWER_VARIABLE) or socket.gethostname()


def _cpu_model() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
