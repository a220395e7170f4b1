"""Who ran it, where, when, how long and against what: what a reader asks before believing a figure."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from streamgauge.core.memory import ANALYSING, LAUNCHER
from streamgauge.core.run_dir import RunDir
from streamgauge.core.stages import Stage
from streamgauge.core.units import format_bytes
from streamgauge.report.document import Document
from streamgauge.report.quantities import plural, s_text

_ADDRESSES_AT_MOST = 3


def origin_of(document: Document) -> list[tuple[str, str]]:
    """What is not known is left out."""
    return [(name, said) for name, said in _told(document) if said]


def _told(document: Document) -> Iterator[tuple[str, str]]:
    environment = document.environment
    who = [str(environment[name]) for name in ("user", "hostname") if environment.get(name)]
    yield "by", " on ".join(who)
    yield "machine", _machine(environment)
    begun_s = RunDir(document.run).begun_s
    yield "when", "" if begun_s is None else time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(begun_s))
    yield "took", _took(document.stages_s)
    yield "memory", _memory(environment.get("memory_peaks_bytes"))
    yield "against", ", ".join(_addresses(environment))


def _machine(environment: dict[str, Any]) -> str:
    cores, memory = environment.get("cores"), environment.get("memory_bytes")
    told = [str(environment["cpu"])] if environment.get("cpu") else []
    told += [plural(cores, "core")] if isinstance(cores, int) else []
    told += [format_bytes(memory)] if isinstance(memory, int) else []
    return ", ".join(told)


def _took(stages_s: dict[str, float]) -> str:
    if not stages_s:
        return ""
    measured = stages_s.get(Stage.MEASURING)
    return s_text(sum(stages_s.values())) + ("" if measured is None else f", measuring {s_text(measured)}")


def _memory(peaks_bytes: Any) -> str:
    """The most that the command, Spark with it, and the largest agent had."""
    if not isinstance(peaks_bytes, dict) or not peaks_bytes:
        return ""
    agents = {name: peak for name, peak in peaks_bytes.items() if name not in (LAUNCHER, ANALYSING)}
    told = [
        f"{words} {format_bytes(peaks_bytes[name])}"
        for name, words in ((LAUNCHER, "launcher"), (ANALYSING, "with Spark while analysing"))
        if name in peaks_bytes
    ]
    told += (
        [f"largest of {plural(len(agents), 'agent')} {format_bytes(max(agents.values()))}"] if agents else []
    )
    return f"at most {', '.join(told)}"


def _addresses(environment: dict[str, Any]) -> Iterator[str]:
    """Where clients were sent to, and what was there."""
    systems = environment.get("systems")
    for name, found in list(systems.items())[:_ADDRESSES_AT_MOST] if isinstance(systems, dict) else ():
        if not isinstance(found, dict):
            continue
        address = found.get("bootstrap") or found.get("address")
        version = f" {found['kafka']}" if isinstance(found.get("kafka"), str) else ""
        yield f"{name}{version}" + (f" at {address}" if address else "")
