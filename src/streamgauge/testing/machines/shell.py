"""`python -m streamgauge.testing.machines.shell NAME[:WHAT=NUMBER,…] …`: machines to play with, by hand.

WHAT: offset (ms) and drift (ppm) of its clock; delay and jitter (ms), loss (share of frames) and bandwidth
(bytes a second) of its cable. Then, a line each:

    run NAME COMMAND…    a process there, beside this one; what it says is seen here
    cut NAME | heal NAME
    jump NAME MS         its clock, at once
    off NAME             as when its power fails
    count NAME           frames that it sent, and what became of some
    end
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence

from streamgauge.core.errors import BadInput, StreamgaugeError
from streamgauge.testing.machines.bed import Machine, Machines
from streamgauge.testing.machines.clocks import ClockFault
from streamgauge.testing.machines.wire import Link

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}")
"""As hosts are called."""
_WHAT = ("offset", "drift", "delay", "jitter", "loss", "bandwidth")


def machine_of(text: str) -> tuple[str, Machine]:
    """As it stands on the command line."""
    name, _, rest = text.partition(":")
    given: dict[str, float] = {}
    for part in filter(None, rest.split(",")):
        what, _, number = part.partition("=")
        try:
            given[_WHAT[_WHAT.index(what)]] = float(number)
        except ValueError:
            raise BadInput(f"{text}: {part}: allowed: {', '.join(_WHAT)}, each =NUMBER") from None
    if not _NAME.fullmatch(name):
        raise BadInput(f"{text}: {name!r} is no name of a machine; letters, digits, '_' and '-'")
    clock = ClockFault(given.get("offset", 0.0), given.get("drift", 0.0))
    link = Link(
        given.get("delay", 0.0),
        given.get("jitter", 0.0),
        given.get("loss", 0.0),
        int(given.get("bandwidth", 0)),
    )
    return name, Machine(clock, link)


class Shell:
    def __init__(self, bed: Machines, say: Callable[[str], None]) -> None:
        self._bed, self._say = bed, say
        self._running: list[subprocess.Popen[bytes]] = []

    def obey(self, line: str) -> None:
        """BadInput for what it does not understand."""
        word, *parts = shlex.split(line)
        name, rest = (parts or [""])[0], parts[1:]
        if name not in self._bed.addresses:
            raise BadInput(f"{line}: {name!r} is no machine; there are: {', '.join(self._bed.addresses)}")
        if word == "run" and rest:
            self._running.append(subprocess.Popen(self._bed.on(name, rest)))
        elif word == "cut":
            self._bed.cut(name)
        elif word == "heal":
            self._bed.heal(name)
        elif word == "off":
            self._bed.power_off(name)
        elif word == "jump" and len(rest) == 1:
            self._bed.clocks[name].jump(float(rest[0]))
        elif word == "count":
            carried = self._bed.carried(name)
            self._say(f"{name}: {carried.sent} sent, {carried.lost} lost, {carried.dropped} dropped")
        else:
            raise BadInput(f"{line}: allowed: run, cut, heal, jump, off, count, each with a machine; end")

    def close(self) -> None:
        for process in self._running:
            process.terminate()
        for process in self._running:
            process.wait(30)


def main(arguments: Sequence[str]) -> int:
    def say(text: str) -> None:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()

    if not arguments or arguments[0] in ("-h", "--help"):
        say((__doc__ or "").strip())
        return 0
    try:
        with Machines(dict(machine_of(text) for text in arguments)) as bed:
            shell = Shell(bed, say)
            say("; ".join(f"{name} is {address}" for name, address in bed.addresses.items()))
            for line in filter(None, map(str.strip, sys.stdin)):
                if line == "end":
                    break
                try:
                    shell.obey(line)
                except (StreamgaugeError, ValueError, OSError) as error:
                    say(str(error))
            shell.close()
    except StreamgaugeError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
