"""When to start: one moment for all agents of a case, told to each on its own clock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from streamgauge.agents.rendezvous import Start
from streamgauge.core.clock import NS_PER_S, ClockReading, now_ns


@dataclass(frozen=True)
class ReadyAgent:
    """What is known of an agent that is ready; its clock's offset is against the launcher's."""

    reading: ClockReading
    hostname: str = ""
    offset_ns: int = 0
    error_ns: int = 0


def agreed_start(agents: Mapping[str, ReadyAgent], lead_s: float, launcher_host: str) -> dict[str, Start]:
    """`lead_s` after the latest reading and from now, by the launcher's clock, which is the reference."""
    latest_ns = max(agent.reading.monotonic_ns + agent.offset_ns for agent in agents.values())
    # A launcher that had to wait for the CPU must not name a moment that has passed.
    start_ns = max(latest_ns, now_ns()) + int(lead_s * NS_PER_S)
    first_of_host = {agent.reading.host: name for name, agent in reversed(list(agents.items()))}
    return {
        name: Start(
            at_ns=start_ns - agent.offset_ns,
            reference_offset_ns=agent.offset_ns,
            reference_error_ns=agent.error_ns,
            sample_machine=agent.reading.host != launcher_host and first_of_host[agent.reading.host] == name,
        )
        for name, agent in agents.items()
    }
