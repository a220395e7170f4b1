"""What a command makes of its flags, where a workload alone does not say it all."""

from __future__ import annotations

from dataclasses import dataclass

from streamgauge.spec.workload import Workload


@dataclass(frozen=True)
class Asked:
    workload: Workload
    notes: tuple[str, ...] = ()
    """For whoever runs it."""
    exit_code: int = 0
    """Of a run that went well: not 0 where some of what was asked for had to be left out."""
