"""An agent's diary: the moments of its life (marks), the looks at its process (samples), its manifest."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field
from typing import Any

from streamgauge.agents.assignment import Assignment
from streamgauge.agents.rendezvous import Start
from streamgauge.core.clock import ClockReading
from streamgauge.core.environment import host_name
from streamgauge.core.memory import peak_rss_bytes
from streamgauge.recording.parquet import EventFiles
from streamgauge.spec.secrecy import shown
from streamgauge.spec.secrets import strike_out
from streamgauge.tables.events import MARKS

KILLED = "killed"


@dataclass
class Manifest:
    """What an agent says of itself at the end; written last, so its presence means all else is there."""

    agent: str
    case: str
    outcome: str = "done"
    """done; stopped (the run was given up); timed_out; killed (by a fault of the case, on purpose); died or
    failed (with the reason)"""
    reason: str | None = None
    error: str | None = None
    """Name of the error's class, where one was raised."""
    hostname: str = ""
    """Where it ran."""
    counts: dict[str, int] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    """Client settings in force, secrets struck out."""
    counters: dict[str, int] = field(default_factory=dict)
    """What the client counted, e.g. JNI calls; most count nothing."""
    warm_up_messages: dict[str, int] = field(default_factory=dict)
    """By producer, where the warm-up went on until the load was at rest."""
    measured_slots: dict[str, int] = field(default_factory=dict)
    """By producer, then: the slot since which its messages count."""
    warm_up: dict[str, Any] = field(default_factory=dict)
    """Content of a `WarmUp` that this agent led by itself until all was at rest; else empty."""
    compression_ratio: float | None = None
    """By how much the codec in use makes a sample of a producer's messages smaller; None without one."""
    noise_floor: dict[str, float] = field(default_factory=dict)
    """How late a bare pacer woke beside a producer with a schedule, while messages counted; else empty."""
    peak_rss_bytes: int = 0
    """The most memory that its process had so far."""
    live: dict[str, Any] = field(default_factory=dict)
    """What was published for the live view, and what that cost; empty when nothing was."""

    @property
    def broken(self) -> bool:
        return self.outcome in ("died", "failed")


class Diary:
    def __init__(self, assignment: Assignment, files: EventFiles) -> None:
        self._assignment, self._files = assignment, files
        self._reading: ClockReading | None = None
        self._start: Start | None = None
        self._marks: list[tuple[str, int, float, int | None]] = []
        self._written = 0

    def set_clock(self, reading: ClockReading, start: Start) -> None:
        self._reading, self._start = reading, start

    def mark(self, name: str, at_ns: int, number: int | None = None, cpu_s: float | None = None) -> None:
        """`number`: of the one stream that it is a moment of; None: of all that the agent has. `cpu_s`: what
        the process had used then, if that is not now."""
        self._marks.append((name, at_ns, time.process_time() if cpu_s is None else cpu_s, number))

    def measured_ns(self) -> tuple[int, int] | None:
        """From when to when messages counted, for the first and the last of its streams; None: never."""
        begins = [at_ns for name, at_ns, _, _ in self._marks if name == "measure_begin"]
        ends = [at_ns for name, at_ns, _, _ in self._marks if name == "measure_end"]
        return (min(begins), max(ends)) if begins and ends else None

    def write(self) -> None:
        """What there is since the last time."""
        rows = self.rows()
        self._files.write_rows(MARKS, rows[self._written :])
        self._written = len(rows)

    def count(self) -> int:
        """How many moments there are for `rows`."""
        return 0 if self._start is None else len(self._marks)

    def rows(self) -> list[dict[str, Any]]:
        """Of table `marks`; none before the start is agreed on."""
        reading, start = self._reading, self._start
        if reading is None or start is None:
            return []
        task = self._assignment.task
        about = {
            "agent": task.agent,
            "kind": task.kind,
            "host": reading.host,
            "hostname": host_name(),
            "reference_offset_ns": start.reference_offset_ns,
            "reference_error_ns": start.reference_error_ns,
            "wall_offset_ns": reading.wall_offset_ns,
            "silent_ns": None,
        }
        return [
            {**about, "number": number, "mark": name, "at_ns": at, "cpu_s": cpu}
            for name, at, cpu, only in list(self._marks)
            for number in (task.numbers if only is None else (only,))
        ]


def write_manifest(assignment: Assignment, manifest: Manifest) -> None:
    """Secrets are struck out of the manifest itself, since it is also told to the launcher."""
    manifest.reason = manifest.reason and strike_out(manifest.reason, assignment.environment)
    manifest.settings = {
        key: shown(key, str(value), assignment.environment.values())
        for key, value in manifest.settings.items()
        if not callable(value)
    }
    manifest.peak_rss_bytes, manifest.hostname = peak_rss_bytes(), host_name()
    run = assignment.run_dir
    run.write_json(run.manifest(assignment.case, manifest.agent), asdict(manifest))
