"""Named sets of media driver settings, and what an operating system or a machine makes of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from streamgauge.core.units import format_bytes, parse_bytes

AUTO, LOW_LATENCY, FEW_CORES = "auto", "low_latency", "few_cores"
ENOUGH_CORES = 5
"""Three threads that never sleep, and one each for a producer and a consumer."""

_IDLE = "org.agrona.concurrent."
_BUFFERS = {
    "aeron.mtu.length": "8k",
    "aeron.socket.so_sndbuf": "2m",
    "aeron.socket.so_rcvbuf": "2m",
    "aeron.rcv.initial.window.length": "2m",
    "aeron.term.buffer.sparse.file": "false",
    "aeron.pre.touch.mapped.memory": "true",
    "agrona.disable.bounds.checks": "true",
    "aeron.perform.storage.checks": "true",
}
PROFILES: dict[str, dict[str, str]] = {
    # transport-bench's command line for a machine with cores to spare.
    LOW_LATENCY: {
        **_BUFFERS,
        "aeron.threading.mode": "DEDICATED",
        "aeron.sender.idle.strategy": f"{_IDLE}NoOpIdleStrategy",
        "aeron.receiver.idle.strategy": f"{_IDLE}NoOpIdleStrategy",
        "aeron.conductor.idle.strategy": f"{_IDLE}BusySpinIdleStrategy",
        "aeron.term.buffer.length": "16m",
        "aeron.ipc.term.buffer.length": "64m",
    },
    # One thread that naps: it must not take the core that a client needs.
    FEW_CORES: {
        **_BUFFERS,
        "aeron.threading.mode": "SHARED",
        # jvm/media_driver: Aeron's own backoff naps for up to a millisecond.
        "aeron.shared.idle.strategy": "streamgauge.media.ShortNaps",
        "aeron.term.buffer.length": "16m",
        "aeron.ipc.term.buffer.length": "16m",
    },
}

_TERMS = 3
_STREAMS = 3
"""That may be there at once: of a case, of the one before, which lingers, and the receiving side of UDP."""
_REST_BYTES = 64 * 2**20
_DEFAULT_BYTES = 16 * 2**20


@dataclass(frozen=True)
class SocketLimits:
    """The largest socket buffers that the operating system lets anybody have; None: not known."""

    send_bytes: int | None
    receive_bytes: int | None


def chosen(profile: str, cores: int) -> str:
    if profile != AUTO:
        return profile
    return LOW_LATENCY if cores >= ENOUGH_CORES else FEW_CORES


def core_notes(profile: str, cores: int) -> list[str]:
    if profile != LOW_LATENCY or cores >= ENOUGH_CORES:
        return []
    return [
        f"profile {LOW_LATENCY} keeps three threads busy and wants {ENOUGH_CORES} cores; this machine has "
        f"{cores}: latencies will be milliseconds. Use profile {FEW_CORES}"
    ]


def socket_limits() -> SocketLimits:
    """Linux's own account."""

    def limit(name: str) -> int | None:
        try:
            return int(Path("/proc/sys/net/core", name).read_text())
        except (OSError, ValueError):
            return None

    return SocketLimits(limit("wmem_max"), limit("rmem_max"))


def within_limits(wanted: Mapping[str, str], limits: SocketLimits) -> tuple[dict[str, str], list[str]]:
    """Settings that the system grants, and what to do to have all that was wanted."""
    granted, notes = dict(wanted), []
    for names, limit, variable in (
        (("aeron.socket.so_sndbuf",), limits.send_bytes, "net.core.wmem_max"),
        (
            ("aeron.socket.so_rcvbuf", "aeron.rcv.initial.window.length"),
            limits.receive_bytes,
            "net.core.rmem_max",
        ),
    ):
        asked = max(_bytes(wanted.get(name, "0")) for name in names)
        if limit is None or asked <= limit:
            continue
        for name in names:
            granted[name] = str(min(_bytes(wanted.get(name, str(limit))), limit))
        notes.append(
            f"{names[0]}: the system grants {format_bytes(limit)} of {format_bytes(asked)}; "
            f"for all of it: sudo sysctl -w {variable}={asked}"
        )
    return granted, notes


def needed_bytes(properties: Mapping[str, str]) -> int:
    """What the driver's directory may grow to in a run."""
    terms = (
        _bytes(properties.get(name, str(_DEFAULT_BYTES)))
        for name in ("aeron.term.buffer.length", "aeron.ipc.term.buffer.length")
    )
    return _STREAMS * _TERMS * max(terms) + _REST_BYTES


def _bytes(text: str) -> int:
    """Aeron's own way to write sizes: 8k, 2m, 1g."""
    number, unit = (text[:-1], text[-1].lower()) if text and text[-1].isalpha() else (text, "")
    return parse_bytes(f"{number}{ {'': '', 'k': 'KiB', 'm': 'MiB', 'g': 'GiB'}[unit] }")
