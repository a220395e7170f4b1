"""Machines that are none: namespaces on one Linux host, with what tells machines apart.

Each has its own address and name (and knows those of the others), its own processes, shared memory, boot id,
clock and cable. Disks and cores are those of the host. As root only:
`why_no_machines()` says what is missing elsewhere.

    with Machines({"leader": Machine(), "left": Machine(ClockFault(200, 50), Link(5, 1, 0.001))}) as bed:
        subprocess.Popen(bed.on("left", ["streamgauge", "follower", …]))
        bed.cut("left")

A machine lives as long as the process that made it: the kernel clears away whatever is left, so nothing has a
name that another test bed could fall over.
"""

from __future__ import annotations

import subprocess
import tempfile
import uuid
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Self

from streamgauge.core.errors import BadInput, StreamgaugeError, SystemFailed
from streamgauge.core.guardian import temporary_folder
from streamgauge.testing.machines.clocks import ClockFault, MachineClock
from streamgauge.testing.machines.programs import Programs, compiled, what_is_missing
from streamgauge.testing.machines.wire import Carried, Link, Wire

_NETWORK = "10.231.7"
_MOST = 64
_COMMAND_DEADLINE_S = 30.0
_END_DEADLINE_S = 10.0
_SEED = 22
_CLOCK_FILE = "{name}.clock"


@dataclass(frozen=True)
class Machine:
    clock: ClockFault = field(default_factory=ClockFault)
    link: Link = field(default_factory=Link)


class Machines:
    """By name; a context manager."""

    def __init__(self, machines: Mapping[str, Machine], *, seed: int = _SEED) -> None:
        """`seed`: of what is lost, and of the jitter."""
        if not 1 <= len(machines) <= _MOST:
            raise BadInput(f"{len(machines)} machines: there can be 1 to {_MOST}")
        self._asked, self._seed = dict(machines), seed
        self._names = list(machines)
        self.addresses = {name: f"{_NETWORK}.{number}" for number, name in enumerate(machines, 1)}
        self.clocks: dict[str, MachineClock] = {}
        self._running: dict[str, _Running] = {}
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        if (why := what_is_missing()) is not None:
            raise SystemFailed(f"no machines here: {why}")
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=temporary_folder())))
            self._programs = compiled(folder)
            self._boot(folder, stack)
            pids = [self._running[name].init for name in self._names]
            self._wire = Wire(self._programs.wire, pids, self._seed)
            stack.callback(self._wire.close)
            for name in self._names:
                self._join(name)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def on(self, name: str, command: Sequence[str]) -> list[str]:
        """The command, to be run there: signals reach it, and it ends with who runs it."""
        machine = self._running[name]
        clock = (str(self._programs.clock), str(self.clocks[name].file))
        return [str(self._programs.machine), "enter", str(machine.init), *clock, *command]

    def cut(self, name: str) -> None:
        """Nothing gets there, and nothing comes from there, until it is healed."""
        self._wire.cut(self._number(name))

    def heal(self, name: str) -> None:
        self._wire.heal(self._number(name))

    def link(self, name: str, link: Link) -> None:
        """Another cable."""
        self._wire.link(self._number(name), link)

    def carried(self, name: str) -> Carried:
        return self._wire.carried(self._number(name))

    def power_off(self, name: str) -> None:
        """At once: whoever talks to it hears nothing more, not even that it ended."""
        self.cut(name)
        self._running[name].end()

    def small_disk(self, name: str, folder: Path, size_bytes: int) -> None:
        """What lies below the folder is, on that machine, a disk of its own and of this size."""
        self._run(name, "mount", "-t", "tmpfs", "-o", f"size={size_bytes}", "tmpfs", str(folder))

    def _number(self, name: str) -> int:
        return self._names.index(name)

    def _boot(self, folder: Path, stack: ExitStack) -> None:
        hosts = folder / "hosts"
        lines = ["127.0.0.1 localhost", *(f"{address} {name}" for name, address in self.addresses.items())]
        hosts.write_text("\n".join(lines) + "\n")
        for name, asked in self._asked.items():
            clock = MachineClock(asked.clock, folder / _CLOCK_FILE.format(name=name))
            boot_id = folder / f"{name}.boot-id"
            boot_id.write_text(f"{uuid.uuid4()}\n")
            self.clocks[name] = clock
            self._running[name] = _Running(self._programs, name, hosts, boot_id, asked.clock.offset_ns)
            stack.callback(self._running[name].end)

    def _join(self, name: str) -> None:
        self._wire.link(self._number(name), self._asked[name].link)
        self._run(name, "ip", "link", "set", "lo", "up")
        self._run(name, "ip", "addr", "add", f"{self.addresses[name]}/24", "dev", "eth0")
        self._run(name, "ip", "link", "set", "eth0", "up")

    def _run(self, name: str, *command: str) -> None:
        done = subprocess.run(
            self.on(name, command), capture_output=True, text=True, timeout=_COMMAND_DEADLINE_S, check=False
        )
        if done.returncode != 0:
            raise SystemFailed(f"machine {name}: {' '.join(command)}: {done.stderr.strip()}")


class _Running:
    """A machine's init, which every process there ends with."""

    def __init__(self, programs: Programs, name: str, hosts: Path, boot_id: Path, shift_ns: int) -> None:
        self._process = subprocess.Popen(
            [str(programs.machine), "boot", name, str(hosts), str(boot_id), str(shift_ns)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        told = self._process.stdout.readline()
        if not told:
            why = self._process.stderr.read().strip()
            self.end()
            raise SystemFailed(f"machine {name}: does not boot: {why}")
        self.init = int(told)

    def end(self) -> None:
        pipes = (self._process.stdin, self._process.stdout, self._process.stderr)
        for pipe in pipes:
            assert pipe is not None
            pipe.close()
        try:
            self._process.wait(_END_DEADLINE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


@cache
def why_no_machines() -> str | None:
    """None where there can be some: they are tried."""
    if (why := what_is_missing()) is not None:
        return why
    try:
        with Machines({"one": Machine(), "other": Machine()}):
            return None
    except (OSError, StreamgaugeError, subprocess.SubprocessError) as error:
        return str(error)
