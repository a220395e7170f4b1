"""A media driver's directory, as its file cnc.dat describes it: is somebody there?

The first 128 bytes say how the file is laid out; the ring of commands behind them ends with a trailer in
which the driver leaves the time, about once a second, when it last looked.
"""

from __future__ import annotations

import struct
import time
from dataclasses import dataclass
from pathlib import Path

_FILE = "cnc.dat"
_HEAD = struct.Struct("<iiiiiiqqq")
_HEAD_BYTES = 128
_TRAILER_BYTES = 768
_HEARTBEAT_AT = 640
STALE_AFTER_S = 5.0


@dataclass(frozen=True)
class DriverState:
    is_there: bool
    version: str = ""
    pid: int = 0
    heartbeat_age_s: float = float("inf")

    @property
    def is_alive(self) -> bool:
        return self.is_there and self.heartbeat_age_s < STALE_AFTER_S


def driver_state(directory: Path) -> DriverState:
    """What the directory tells; of a file that is not complete yet, nothing."""
    try:
        with (directory / _FILE).open("rb") as file:
            head = file.read(_HEAD.size)
            if len(head) < _HEAD.size:
                return DriverState(False)
            version, commands_bytes, *_, pid = _HEAD.unpack(head)
            if version == 0 or commands_bytes <= _TRAILER_BYTES:
                return DriverState(False)
            file.seek(_HEAD_BYTES + commands_bytes - _TRAILER_BYTES + _HEARTBEAT_AT)
            heartbeat = file.read(8)
    except OSError:
        return DriverState(False)
    if len(heartbeat) < 8:
        return DriverState(False)
    at_ms = int.from_bytes(heartbeat, "little", signed=True)
    named = f"{version >> 16 & 255}.{version >> 8 & 255}.{version & 255}"
    return DriverState(True, named, pid, time.time() - at_ms / 1000)
