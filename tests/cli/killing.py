"""Ending a command at some moment in some way, and looking for anything of it that is left."""

from __future__ import annotations

import json
import os
import random
import re
import secrets
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pyarrow as pa
import pyarrow.parquet as pq
from confluent_kafka.admin import AdminClient

from streamgauge.core.errors import BadInput, CorruptRun
from streamgauge.core.guardian import FOLDER_PREFIX, MEMORY, without_mark
from streamgauge.core.run_dir import RunDir, runs_in
from streamgauge.report.listed_runs import listed
from streamgauge.report.results import results_document
from tests.cli.streamgauge_command import command
from tests.waiting import wait_for

SIGNALS = (signal.SIGKILL, signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_GUARDIAN = "streamgauge.core.guardian_process"
_VARIABLE = "STREAMGAUGE_TEST_MARK"
_END_DEADLINE_S = 90.0
_GONE_DEADLINE_S = 60.0


@dataclass
class Place:
    """Where a command is run: with folders and a mark of its own, so that whatever it leaves is found."""

    folder: Path
    kafka: str
    mark: str = field(default_factory=lambda: secrets.token_hex(6))

    def __post_init__(self) -> None:
        for path in (self.temporary, self.out):
            path.mkdir(parents=True, exist_ok=True)

    @property
    def temporary(self) -> Path:
        return self.folder / "temporary"

    @property
    def out(self) -> Path:
        return self.folder / "runs"

    @property
    def environment(self) -> dict[str, str]:
        own = {_VARIABLE: self.mark, "TMPDIR": str(self.temporary)}
        own |= {"STREAMGAUGE_STATE": str(self.folder / "state"), "STREAMGAUGE_SECRET": "of-nobody-but-us"}
        return {**without_mark(), **own}

    def processes(self) -> list[psutil.Process]:
        """Whatever the command started, and what that started: they all inherit the mark."""
        found = []
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                is_ours = process.environ().get(_VARIABLE) == self.mark
                if is_ours and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
        return found

    def topics(self) -> set[str]:
        if not self.kafka:
            return set()  # it has a broker of its own, or none
        found = AdminClient({"bootstrap.servers": self.kafka}).list_topics(timeout=30).topics
        return {name for name in found if not name.startswith("__")}

    def said(self) -> str:
        return (self.folder / "said.txt").read_text()


@dataclass
class Ended:
    """What became of a command, for the message of a test that fails."""

    how: str
    exit_code: int
    left: list[str]
    at_ns: int = 0
    """When it was, by the clock of events."""


def end_at(
    place: Place,
    arguments: Sequence[str | Path],
    sent: signal.Signals,
    moment: Callable[[], bool],
    *,
    to_all: bool = False,
    whole: bool = False,
) -> Ended:
    """Run a command, send it a signal when `moment` is there, and see what is left of it.

    `to_all`: as a terminal does, to every process in front. `whole`: to each process that it started, and
    that these did, but for its guardian.
    """
    topics, memory = place.topics(), _in_memory()
    with (place.folder / "said.txt").open("w") as said:
        process = subprocess.Popen(
            command(*arguments),
            env=place.environment,
            cwd=place.folder,
            stdout=subprocess.DEVNULL,
            stderr=said,
            start_new_session=True,
        )
    begun = time.monotonic()
    while process.poll() is None and not moment():
        time.sleep(0.02)
    how = f"{arguments[0]}: {sent.name} after {time.monotonic() - begun:.2f} s"
    started = place.processes()
    ports, at_ns = _ports(started), time.monotonic_ns()
    with suppress(ProcessLookupError):
        (os.killpg if to_all or whole else os.kill)(process.pid, sent)
    for each in started if whole else ():
        with suppress(psutil.Error):
            if _GUARDIAN not in each.cmdline():
                each.send_signal(sent)
    try:
        code = process.wait(_END_DEADLINE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        return Ended(how, process.wait(), [f"it did not end within {_END_DEADLINE_S:g} s"])
    left = _left(place, topics, memory, ports)
    if code == BadInput.exit_code:
        left.append(f"it was refused, and not ended: {place.said()}")
    return Ended(how, code, left, at_ns)


def torn(out: Path) -> list[str]:
    """Files of runs that are there under their own names, and cannot be read."""
    found = []
    for path in sorted(path for path in out.rglob("*") if path.is_file()):
        try:
            if path.suffix == ".parquet":
                pq.read_table(path, partitioning=None).validate(full=True)
            elif path.suffix == ".arrow":
                pa.ipc.open_file(path).read_all().validate(full=True)
            elif path.suffix == ".json" and not path.name.startswith("_"):
                json.loads(path.read_text())
        except (OSError, ValueError) as error:
            found.append(f"{path}: {error}")
    return found


def command_to_go_on(run: Path) -> list[str]:
    """As `streamgauge runs` says; empty: there is nothing to do."""
    said = re.search(r"streamgauge (run --resume|analyze|report) (\S+?)(?:;|$)", listed(RunDir(str(run))).why)
    return [] if said is None else [*said[1].split(), said[2]]


def after(seconds: float) -> Callable[[], bool]:
    until = time.monotonic() + seconds
    return lambda: time.monotonic() >= until


def drawn(name: str, number: int, span_s: float) -> tuple[signal.Signals, float, bool]:
    """A signal, a moment, and whether all in front get it: the same for the same number."""
    draw = random.Random(f"{name}-{number}")
    sent = SIGNALS[number % len(SIGNALS)]
    return sent, draw.uniform(0.02, span_s), sent in (signal.SIGINT, signal.SIGHUP) and draw.random() < 0.5


def _left(place: Place, topics: set[str], memory: set[str], ports: set[int]) -> list[str]:
    with suppress(AssertionError):  # then it is said what is left
        wait_for(lambda: not place.processes() and not any(place.temporary.iterdir()), _GONE_DEADLINE_S)
    left = [f"process {process.pid}: {_line(process)}" for process in place.processes()]
    left += [f"temporary: {path.name}" for path in place.temporary.iterdir()]
    left += [f"in memory: {name}" for name in _in_memory() - memory if not _is_guarded(name)]
    left += [f"topic {name}" for name in place.topics() - topics]
    left += [f"port {port}" for port in ports if is_taken(port)]
    left += _disagreements(place.out)
    # One without a line of ours is the interpreter's: it was not yet up.
    if "Traceback" in place.said() and "streamgauge" in place.said():
        left.append(f"a traceback: {place.said()}")
    return left


def _disagreements(out: Path) -> list[str]:
    """Where `runs` and `results` do not say the same of a run."""
    found = []
    for run in runs_in(str(out)):
        said = listed(run)
        try:
            shown = str(results_document(run).status)
        except CorruptRun as error:
            # `results` has no figures to show, and says in what state the run is instead.
            shown = said.state if f": {said.state}: {said.why}" in str(error) else str(error)
        if said.state != shown or said.state in ("running", "corrupt"):
            found.append(f"runs says {said.state} ({said.why}), results {shown}")
    return found


def _line(process: psutil.Process) -> str:
    with suppress(psutil.Error):
        words = process.cmdline()
        return f"{' '.join(words)[:100]} … {words[-1]}"
    return "gone by now"


def _ports(processes: list[psutil.Process]) -> set[int]:
    found = set()
    for process in processes:
        with suppress(psutil.Error):
            found |= {c.laddr.port for c in process.net_connections("tcp") if c.status == psutil.CONN_LISTEN}
    return found


def is_taken(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=2).close()
    except OSError:
        return False
    return True


def _in_memory() -> set[str]:
    return {path.name for path in MEMORY.glob("streamgauge-*")} if MEMORY.is_dir() else set()


def _is_guarded(name: str) -> bool:
    """Somebody else's, who is still there: every guardian has the mark among its arguments."""
    mark = name.removeprefix(FOLDER_PREFIX)
    return any(mark in (process.info["cmdline"] or ()) for process in psutil.process_iter(["cmdline"]))
