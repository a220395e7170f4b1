"""The disks of a system's members, of which one may be full, or slow, though the machine's are well.

A small library (disk.c) stands before libc in a member's process and asks, at each write below its data
folder, a file that is mapped here and there. It needs no root, only a C compiler, and hits one member alone.
"""

from __future__ import annotations

import itertools
import mmap
import os
import struct
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from streamgauge.core.c_programs import NO_COMPILER, compile_preloaded, compiler
from streamgauge.core.clock import NS_PER_S

_SOURCE = Path(__file__).with_name("disk.c")
_PRELOAD = "LD_PRELOAD"
_LAW = struct.Struct("=qqq")
_HITS = struct.Struct("=QQ")
_SIZE = _LAW.size + _HITS.size


@dataclass(frozen=True)
class DiskFault:
    is_full: bool = False
    """There is no room for what is written."""
    write_delay_s: float = 0.0
    """Each write takes so much longer."""
    sync_delay_s: float = 0.0
    """So does each wait until it is on the disk."""


@dataclass(frozen=True)
class DiskHits:
    """So far, of all that was done to a disk."""

    refused_count: int
    delayed_count: int


def why_no_disks() -> str | None:
    """None: they can be had here."""
    if sys.platform != "linux":
        return "the disk of one process can be full, or slow, on Linux alone"
    return NO_COMPILER if compiler() is None else None


class _Disk:
    def __init__(self, state: Path) -> None:
        state.write_bytes(bytes(_SIZE))
        self.state = state
        self.faults: dict[int, DiskFault] = {}
        with state.open("r+b") as file:
            self._mapped = mmap.mmap(file.fileno(), _SIZE)

    def tell(self) -> None:
        """In place: the member has it mapped."""
        faults = list(self.faults.values())
        _LAW.pack_into(
            self._mapped,
            0,
            int(any(fault.is_full for fault in faults)),
            int(sum(fault.write_delay_s for fault in faults) * NS_PER_S),
            int(sum(fault.sync_delay_s for fault in faults) * NS_PER_S),
        )

    def hits(self) -> DiskHits:
        return DiskHits(*_HITS.unpack_from(self._mapped, _LAW.size))

    def close(self) -> None:
        self._mapped.close()


class Disks:
    """`folder`: where the library and what it is told lie, beside the data of the members."""

    def __init__(self, folder: Path, names: Iterable[str]) -> None:
        folder.mkdir()
        self._library = folder / "disk.so"
        compile_preloaded(_SOURCE, self._library)
        self._disks = {name: _Disk(folder / name) for name in names}
        self._numbers = itertools.count()

    def environment(self, name: str, data: Path) -> dict[str, str]:
        """What the process of a member has to be started with. `data`: all that is on its disk."""
        before = os.environ.get(_PRELOAD)
        return {
            _PRELOAD: f"{self._library}:{before}" if before else str(self._library),
            "STREAMGAUGE_DISK_STATE": str(self._disks[name].state),
            "STREAMGAUGE_DISK_FOLDER": str(data.resolve()),
        }

    def disturb(self, name: str, fault: DiskFault) -> int:
        """From now on; what is given back ends it. Several at once add up."""
        number = next(self._numbers)
        self._disks[name].faults[number] = fault
        self._disks[name].tell()
        return number

    def clear(self, number: int) -> None:
        for disk in self._disks.values():
            disk.faults.pop(number, None)
            disk.tell()

    def hits(self, name: str) -> DiskHits:
        return self._disks[name].hits()

    def restore(self) -> None:
        for disk in self._disks.values():
            disk.faults.clear()
            disk.tell()

    def close(self) -> None:
        for disk in self._disks.values():
            disk.close()
