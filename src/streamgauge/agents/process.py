"""An agent in a process of its own, led through a pipe by whoever started it.

in   one line, the assignment; then {"start": …} and {"producers_finished": true}; the end of the
     input means that the run has been given up
out  {"ready": …}, {"finished": true} (producers), {"done": manifest}
"""

from __future__ import annotations

import gc
import json
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import IO

from streamgauge.agents.assignment import Assignment
from streamgauge.agents.life import live_through
from streamgauge.agents.rendezvous import Start
from streamgauge.core.clock import ClockReading
from streamgauge.core.errors import CaseFailed
from streamgauge.spec.secrets import strike_out

START_DEADLINE_S = 180.0
_GIVE_UP_S = 30.0


class PipeRendezvous:
    """The contract over a pair of pipes."""

    def __init__(self, incoming: IO[str], outgoing: IO[str]) -> None:
        self._incoming, self._outgoing = incoming, outgoing
        self._start: Start | None = None
        self._news = threading.Event()
        self._producers_finished = self._stopping = False
        threading.Thread(target=self._listen, name="rendezvous", daemon=True).start()

    def ready(self, reading: ClockReading, meanwhile: Callable[[], object]) -> Start:
        self.say({"ready": asdict(reading)})
        deadline = time.monotonic() + START_DEADLINE_S
        while not self._news.is_set():
            if time.monotonic() > deadline:
                raise CaseFailed(f"the other agents were not ready within {START_DEADLINE_S:g} s")
            meanwhile()
        if self._start is None:
            raise CaseFailed("the run was given up before the start")
        return self._start

    def finished(self) -> None:
        self.say({"finished": True})

    def producers_finished(self) -> bool:
        return self._producers_finished

    def stopping(self) -> bool:
        return self._stopping

    def say(self, message: object) -> None:
        try:
            self._outgoing.write(json.dumps(message) + "\n")
            self._outgoing.flush()
        except BrokenPipeError:
            self._stopping = True

    def _listen(self) -> None:
        for line in self._incoming:
            message = json.loads(line)
            if "start" in message:
                self._start = Start(**message["start"])
                self._news.set()
            elif "producers_finished" in message:
                self._producers_finished = True
        self._stopping = True
        self._news.set()
        # Nobody is left who could end this process if it got stuck.
        timer = threading.Timer(_GIVE_UP_S, os._exit, (1,))
        timer.daemon = True
        timer.start()


def main() -> int:
    # Ctrl-C in a terminal reaches every process of it; only the one in front decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Libraries may print: keep the pipe for ourselves, and let their words go to the log.
    outgoing = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    assignment = Assignment.model_validate_json(sys.stdin.readline())
    _log_without_secrets(assignment)
    rendezvous = PipeRendezvous(sys.stdin, outgoing)
    # The hot loops make no cycles; looking for some would only cause pauses.
    gc.collect()
    gc.freeze()
    gc.disable()
    manifest = live_through(assignment, rendezvous)
    rendezvous.say({"done": asdict(manifest)})
    return 1 if manifest.broken else 0


def _log_without_secrets(assignment: Assignment) -> None:
    """Client libraries log what they were given, and the log lies in the run folder."""

    class Formatter(logging.Formatter):
        def format(self, record: logging.LogRecord) -> str:
            return strike_out(super().format(record), assignment.environment)

    handler = logging.StreamHandler()
    handler.setFormatter(Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.DEBUG if assignment.debug else logging.WARNING, handlers=[handler])


if __name__ == "__main__":
    code = main()
    # Without the interpreter's farewell, in which a library's threads may get stuck.
    sys.stderr.flush()
    os._exit(code)
