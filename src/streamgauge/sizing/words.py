"""A size plan in words: one line, a table, and what it rests on."""

from __future__ import annotations

from collections.abc import Iterator

from streamgauge.core.units import counted, format_bytes
from streamgauge.report.quantities import bits_text
from streamgauge.sizing.planning import Part, SizePlan

HEADS = ("role", "processes", "hosts", "cores", "memory", "sends", "receives", "disk")
"""Of network and disk what is used a second."""


def headline(plan: SizePlan) -> str:
    """ "5M/s of 1.0 KiB …: 9 hosts of 8 cores (up to 11), 44 Gbit/s"."""
    up_to = f" (up to {plan.most_hosts})" if plan.most_hosts > plan.hosts else ""
    hosts = f"{counted(plan.hosts, 'host')} of {counted(plan.host.cores, 'core')}{up_to}"
    return f"{plan.wanted}: {hosts}, {_bits(plan.network_bits_per_s.value)}"


def rows(plan: SizePlan) -> list[list[str]]:
    return [_row(part) for part in plan.parts]


def _row(part: Part) -> list[str]:
    hosts = str(part.hosts) if part.most_hosts == part.hosts else f"{part.hosts}–{part.most_hosts}"
    cores = f"{part.cores.value:.3g} ({part.cores.low:.3g}–{part.cores.high:.3g})"
    return [
        part.role,
        str(part.processes),
        hosts,
        cores,
        format_bytes(part.memory_bytes.value),
        *(
            f"{bits_text(bits.value)}bit" if bits.value else "–"
            for bits in (part.sent_bits_per_s, part.received_bits_per_s)
        ),
        format_bytes(part.disk_bytes_per_s.value) if part.disk_bytes_per_s.value else "–",
    ]


def _bits(per_s: float) -> str:
    text = bits_text(per_s)
    number, unit = (text[:-1], text[-1]) if text[-1:].isalpha() else (text, "")
    return f"{number} {unit}bit/s" if per_s else "–"


def below(plan: SizePlan) -> Iterator[str]:
    host = plan.host
    yield (
        f"a host: {counted(host.cores, 'core')}, {format_bytes(host.memory_bytes)}, "
        f"{_bits(host.network_bits_per_s)} each way, used to {100 * host.fill:.0f}% at the most"
    )
    yield from plan.notes
    yield f"costs: {plan.costs_of}; in brackets, where one more measurement would lie 19 times in 20"
