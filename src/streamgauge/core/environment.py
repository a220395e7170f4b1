"""Where a run took place: machine, kernel, versions."""

from __future__ import annotations

import os
import platform
import socket
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import psutil

FOLLOWER_VARIABLE = "STREAMGAUGE_FOLLOWER"
"""A follower's name, in the environment of everything that runs on it."""

_PACKAGES = ("streamgauge", "confluent-kafka", "pyspark", "pyarrow", "numpy")


def describe_machine() -> dict[str, Any]:
    """What a reader needs to know to set another machine's figures beside these."""
    return {
        "hostname": socket.gethostname(),
        "machine": platform.machine(),
        "cpu": _cpu_model(),
        "cores": os.cpu_count() or 1,
        "memory_bytes": psutil.virtual_memory().total,
        "kernel": f"{platform.system()} {platform.release()}",
        "python": sys.version.split()[0],
        "versions": {name: _version(name) for name in _PACKAGES},
    }


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
