from __future__ import annotations

import pytest

from streamgauge.systems.aeron_profiles import (
    PROFILES,
    SocketLimits,
    chosen,
    core_notes,
    needed_bytes,
    within_limits,
)

MIB = 2**20


@pytest.mark.parametrize(("cores", "profile"), [(1, "few_cores"), (4, "few_cores"), (5, "low_latency")])
def test_the_profile_follows_the_cores(cores: int, profile: str) -> None:
    assert chosen("auto", cores) == profile


def test_a_profile_that_was_asked_for_is_kept_but_too_few_cores_are_said() -> None:
    assert chosen("low_latency", 2) == "low_latency"
    [note] = core_notes("low_latency", 2)
    assert "wants 5 cores; this machine has 2" in note
    assert core_notes("low_latency", 8) == core_notes("few_cores", 2) == []


def test_low_latency_is_the_seeds_command_line() -> None:
    low = PROFILES["low_latency"]
    assert low["aeron.threading.mode"] == "DEDICATED"
    assert low["aeron.sender.idle.strategy"].endswith("NoOpIdleStrategy")
    assert low["aeron.conductor.idle.strategy"].endswith("BusySpinIdleStrategy")
    assert (low["aeron.mtu.length"], low["aeron.socket.so_rcvbuf"]) == ("8k", "2m")
    assert low["aeron.term.buffer.sparse.file"] == "false"
    assert low["aeron.pre.touch.mapped.memory"] == "true"


def test_what_the_system_refuses_is_lowered_and_said_with_the_command_that_mends_it() -> None:
    limits = SocketLimits(send_bytes=212_992, receive_bytes=212_992)
    granted, notes = within_limits(PROFILES["few_cores"], limits)
    assert granted["aeron.socket.so_sndbuf"] == granted["aeron.socket.so_rcvbuf"] == "212992"
    assert granted["aeron.rcv.initial.window.length"] == "212992"
    assert [note.rpartition("sudo ")[2] for note in notes] == [
        "sysctl -w net.core.wmem_max=2097152",
        "sysctl -w net.core.rmem_max=2097152",
    ]


@pytest.mark.parametrize("limit", [None, 2 * MIB, 64 * MIB])
def test_limits_that_are_high_enough_or_not_known_change_nothing(limit: int | None) -> None:
    wanted = PROFILES["low_latency"]
    assert within_limits(wanted, SocketLimits(limit, limit)) == (wanted, [])


def test_the_room_needed_follows_the_largest_term_buffers() -> None:
    small = needed_bytes({"aeron.term.buffer.length": "1m", "aeron.ipc.term.buffer.length": "64k"})
    large = needed_bytes({"aeron.term.buffer.length": "1m", "aeron.ipc.term.buffer.length": "2m"})
    assert large - small == 3 * 3 * MIB
