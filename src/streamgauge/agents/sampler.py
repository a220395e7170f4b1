"""Looks at processes and at the machine, once a second, in a thread of its own."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from streamgauge.core.clock import clock_domain, now_ns
from streamgauge.tables.events import SAMPLES

INTERVAL_S = 1.0
CGROUP, OWN_CGROUP = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")
"""Where all groups of processes are (a container sees its own there), and which one we are in."""


@dataclass(frozen=True)
class Told:
    """What a process that cannot be looked at from here tells of itself: counters, and when it told them."""

    at_ns: int
    cpu_s: float
    rss_bytes: int
    sent_bytes: int | None = None
    received_bytes: int | None = None


class Sampler:
    """Collects rows of the `samples` table; `rows` is complete after `stop`."""

    def __init__(
        self,
        processes: Mapping[str, tuple[str, int]],
        machine: bool,
        each_time: Callable[[], None] | None = None,
        traffic: Mapping[str, Callable[[], tuple[int, int] | None]] | None = None,
        told: Mapping[str, tuple[str, Callable[[], Told]]] | None = None,
    ) -> None:
        """`processes`: name → (kind, pid). `each_time`: called after every look. `traffic`: by a process's
        name, what its sockets have sent and received, where that can be told. `told`: name → (kind, what a
        process elsewhere told last)."""
        self.rows: list[dict[str, Any]] = []
        self._machine, self._each_time, self._traffic = machine, each_time, traffic or {}
        self._told, self._told_ns = told or {}, dict[str, int]()
        self._about = {"host": clock_domain(), "cores": psutil.cpu_count() or 1}
        self._processes: list[tuple[str, str, psutil.Process]] = []
        for name, (kind, pid) in processes.items():
            with contextlib.suppress(psutil.NoSuchProcess):
                self._processes.append((name, kind, psutil.Process(pid)))
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sampler", daemon=True)

    def start(self) -> None:
        self._look()
        self._thread.start()

    def watch_machine(self) -> None:
        self._machine = True

    def stop(self) -> None:
        """Harmless when it was never started."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(5 * INTERVAL_S)
            self._look()

    def _run(self) -> None:
        while not self._stop.wait(INTERVAL_S):
            self._look()
            if self._each_time is not None:
                self._each_time()

    def _look(self) -> None:
        for name, kind, process in self._processes:
            # A process that has ended has no more samples; that is not the sampler's to report.
            with contextlib.suppress(psutil.Error):
                self.rows.append(self._process_row(name, kind, process))
        for name, (kind, latest) in self._told.items():
            told = latest()
            if self._told_ns.get(name) != told.at_ns:
                self._told_ns[name] = told.at_ns
                self.rows.append(self._told_row(name, kind, told))
        if self._machine:
            self.rows.append(self._machine_row())

    def _told_row(self, name: str, kind: str, told: Told) -> dict[str, Any]:
        """On this host's clock; of the other one's cores nothing is known."""
        return {
            **dict.fromkeys(SAMPLES.column_names),
            **self._about,
            "at_ns": told.at_ns,
            "source": name,
            "kind": kind,
            "cores": 1,
            "cpu_s": told.cpu_s,
            "rss_bytes": told.rss_bytes,
            "net_sent_bytes": told.sent_bytes,
            "net_received_bytes": told.received_bytes,
        }

    def _process_row(self, name: str, kind: str, process: psutil.Process) -> dict[str, Any]:
        sent, received = (self._traffic[name]() if name in self._traffic else None) or (None, None)
        with process.oneshot():
            cpu = process.cpu_times()
            disk = process.io_counters() if hasattr(process, "io_counters") else None
            return {
                **self._about,
                "at_ns": now_ns(),
                "source": name,
                "kind": kind,
                "cpu_s": cpu.user + cpu.system,
                "rss_bytes": process.memory_info().rss,
                "net_sent_bytes": sent,
                "net_received_bytes": received,
                "disk_read_bytes": disk.read_bytes if disk else None,
                "disk_written_bytes": disk.write_bytes if disk else None,
                "swapped_bytes": None,
                "throttled_count": None,
            }

    def _machine_row(self) -> dict[str, Any]:
        cpu = psutil.cpu_times()
        network, disk, memory = psutil.net_io_counters(), psutil.disk_io_counters(), psutil.virtual_memory()
        swap = psutil.swap_memory()
        return {
            **self._about,
            "at_ns": now_ns(),
            "source": "machine",
            "kind": "machine",
            "cpu_s": sum(cpu) - cpu.idle - getattr(cpu, "iowait", 0.0) - getattr(cpu, "guest", 0.0),
            "rss_bytes": memory.total - memory.available,
            "net_sent_bytes": network.bytes_sent if network else None,
            "net_received_bytes": network.bytes_recv if network else None,
            "disk_read_bytes": disk.read_bytes if disk else None,
            "disk_written_bytes": disk.write_bytes if disk else None,
            "swapped_bytes": swap.sin + swap.sout,
            "throttled_count": throttled_count(),
        }


def throttled_count(cgroup: Path = CGROUP, own: Path = OWN_CGROUP) -> int | None:
    """How often this process's group of processes, or one that it is in, had used up the CPU it is allowed;
    None: nobody counts. A service may have a limit of its own (CPUQuota), or a slice of many services."""
    counts = [count for place in _groups(cgroup, own) if (count := _throttled(place)) is not None]
    return sum(counts) if counts else None


def _groups(cgroup: Path, own: Path) -> Iterator[Path]:
    """From our own to the one that all are in; of version 1 those of the CPU."""
    lines: list[str] = []
    with contextlib.suppress(OSError):
        lines = own.read_text().splitlines()
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        top, group = cgroup / "cpu" if controllers else cgroup, Path(path.lstrip("/"))
        yield from (top / each for each in (group, *group.parents) if each != Path())
    yield from (cgroup, cgroup / "cpu")


def _throttled(group: Path) -> int | None:
    with contextlib.suppress(OSError, ValueError):
        for line in (group / "cpu.stat").read_text().splitlines():
            name, _, count = line.partition(" ")
            if name == "nr_throttled":
                return int(count)
    return None
