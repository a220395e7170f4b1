"""Which hosts a case ran on, and how their clocks stood."""

from __future__ import annotations

from streamgauge.report.case_document import Case
from streamgauge.report.quantities import ms_text


def hosts_of(case: Case) -> dict[str, list[str]]:
    """Agents by host."""
    hosts: dict[str, list[str]] = {}
    for clock in case.clocks:
        hosts.setdefault(clock.hostname, []).append(clock.agent)
    return hosts


def clock_words(case: Case) -> list[str]:
    """Of each host the clock that is known worst."""
    words = []
    for host in hosts_of(case):
        read = [clock for clock in case.clocks if clock.hostname == host and clock.readings]
        if read:
            worst = max(read, key=lambda clock: clock.error_ms or 0.0)
            words.append(f"{host} {ms_text(worst.offset_ms)} ± {ms_text(worst.error_ms)}")
    return words
