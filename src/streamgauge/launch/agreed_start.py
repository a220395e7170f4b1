"""When to start: one moment for all agents of a case, told to each on its own clock."""

from __future__ import annotations

from collections.abc import Mapping

from streamgauge.agents.rendezvous import Start
from streamgauge.core.clock import NS_PER_S, ClockReading, now_ns

_NTP_ERROR_NS = 10_000_000


def agreed_start(readings: Mapping[str, ClockReading], lead_s: float, launcher_host: str) -> dict[str, Start]:
    """`lead_s` after the latest reading, or from now; on the clock of the first agent's host.

    Agents on one host share its clock. Between hosts the offset is that of their wall clocks, and the
    bound is what NTP usually holds them to; both are recorded, and shown with the results.
    """
    reference = next(iter(readings.values()))
    offsets_ns = {
        agent: 0 if reading.host == reference.host else reading.wall_offset_ns - reference.wall_offset_ns
        for agent, reading in readings.items()
    }
    latest_ns = max(reading.monotonic_ns + offsets_ns[agent] for agent, reading in readings.items())
    if reference.host == launcher_host:
        # A launcher that had to wait for the CPU must not name a moment that has passed.
        latest_ns = max(latest_ns, now_ns())
    first_of_host = {reading.host: agent for agent, reading in reversed(list(readings.items()))}
    return {
        agent: Start(
            at_ns=latest_ns + int(lead_s * NS_PER_S) - offsets_ns[agent],
            reference_offset_ns=offsets_ns[agent],
            reference_error_ns=0
            if offsets_ns[agent] == 0
            else own.error_ns + reference.error_ns + _NTP_ERROR_NS,
            sample_machine=own.host != launcher_host and first_of_host[own.host] == agent,
        )
        for agent, own in readings.items()
    }
