"""A machine's clock: what is true when it shows something."""

from __future__ import annotations

import struct
import time
from pathlib import Path

from streamgauge.testing.machines.clocks import ClockFault, MachineClock

S = 1_000_000_000


def test_a_shown_time_is_said_in_true_time(tmp_path: Path) -> None:
    clock = MachineClock(ClockFault(offset_ms=-200, drift_ppm=50), tmp_path / "clock")
    since_ns = struct.unpack("=qqqq", clock.file.read_bytes())[0] + 200_000_000
    shown_ns = since_ns - 200_000_000 + 1000 * S + 50_000_000
    assert clock.true_ns(shown_ns) == since_ns + 1000 * S


def test_a_jump_changes_what_is_read_in_place_and_what_is_true(tmp_path: Path) -> None:
    clock = MachineClock(ClockFault(), tmp_path / "clock")
    with clock.file.open("rb") as mapped:
        clock.jump(5000)
        clock.jump(-1000, monotonic=False)
        assert struct.unpack("=qqqq", mapped.read())[2:] == (5 * S, 4 * S)
    now_ns = time.monotonic_ns()
    assert clock.true_ns(now_ns + 5 * S) == now_ns
