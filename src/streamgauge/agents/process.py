"""An agent in a process of its own, led through a pipe by whoever started it; it takes case after case.

in   {"assignment": …} begins a case; then {"start": …}, {"measure": …} again and again while a load
     settles, and {"producers_finished": ends}; the end of the input means
     that there is nothing more to do, and in the middle of a case that it is given up
out  {"ready": …}, {"levels": …} while a load settles, {"finished": ends} (producers), {"done": manifest}
"""

from __future__ import annotations

import gc
import json
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import IO

from streamgauge.agents.assignment import Assignment
from streamgauge.agents.life import live_through
from streamgauge.agents.log_without_secrets import LogWithoutSecrets
from streamgauge.agents.rendezvous import Ends, Levels, Start
from streamgauge.core.clock import ClockReading
from streamgauge.core.errors import CaseFailed, GivenUp
from streamgauge.recording.arrow_alone import keep_arrow_alone

START_DEADLINE_S = 900.0
"""Longer than a launcher waits for a thousand agents; one that has ended closes our input before."""
_GIVE_UP_S = 30.0

keep_arrow_alone()


class PipeRendezvous:
    """The contract over a pair of pipes, for one case after another."""

    def __init__(self, incoming: IO[str], outgoing: IO[str]) -> None:
        self._incoming, self._outgoing = incoming, outgoing
        self._assignments: queue.SimpleQueue[Assignment | None] = queue.SimpleQueue()
        self._start: Start | None = None
        self._acked_ends: Ends = {}
        self._measured_slot: int | None = None
        self._speaking = threading.Lock()
        self._news = threading.Event()
        self._producers_finished = self._stopping = False
        threading.Thread(target=self._listen, name="rendezvous", daemon=True).start()

    def next_assignment(self) -> Assignment | None:
        """Wait for the next case; None when there is none."""
        return self._assignments.get()

    def ready(self, reading: ClockReading, meanwhile: Callable[[], object]) -> Start:
        self.say({"ready": asdict(reading)})
        deadline = time.monotonic() + START_DEADLINE_S
        while not self._news.is_set():
            if time.monotonic() > deadline:
                raise CaseFailed(f"the other agents were not ready within {START_DEADLINE_S:g} s")
            meanwhile()
        if self._start is None:
            raise GivenUp("the run was given up before the start")
        return self._start

    def tell_levels(self, levels: Levels) -> None:
        self.say({"levels": levels})

    def measured_slot(self) -> int | None:
        return self._measured_slot

    def finished(self, ends: Ends) -> None:
        self.say({"finished": [[*place, end] for place, end in ends.items()]})

    def producers_finished(self) -> bool:
        return self._producers_finished

    def acked_ends(self) -> Ends:
        return self._acked_ends

    def stopping(self) -> bool:
        return self._stopping

    def say(self, message: object) -> None:
        try:
            # The thread that tells of levels speaks, too.
            with self._speaking:
                self._outgoing.write(json.dumps(message) + "\n")
                self._outgoing.flush()
        except BrokenPipeError:
            self._stopping = True

    def _listen(self) -> None:
        try:
            self._hear_all()
        finally:  # whatever broke: who is not led any more ends
            self._end()

    def _hear_all(self) -> None:
        for line in self._incoming:
            message = json.loads(line)
            if "assignment" in message:
                # Here and not where it is taken: what follows in the pipe is about this case.
                self._start, self._producers_finished, self._acked_ends = None, False, {}
                self._measured_slot = None
                self._news.clear()
                self._assignments.put(Assignment.model_validate(message["assignment"]))
            elif "start" in message:
                self._start = Start(**message["start"])
                self._news.set()
            elif "measure" in message:
                self._measured_slot = message["measure"]["slot"]
            elif "producers_finished" in message:
                self._acked_ends = {(t, p): end for t, p, end in message["producers_finished"]}
                self._producers_finished = True

    def _end(self) -> None:
        self._stopping = True
        self._news.set()
        self._assignments.put(None)
        # Nobody is left who could end this process if it got stuck.
        timer = threading.Timer(_GIVE_UP_S, os._exit, (1,))
        timer.daemon = True
        timer.start()


def main() -> int:
    # What ends a command may reach every process of it; the end of our input tells that it is our turn.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    # Libraries may print: keep the pipe for ourselves, and let their words go to the log.
    outgoing = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    rendezvous = PipeRendezvous(sys.stdin, outgoing)
    log = LogWithoutSecrets()
    # The hot loops make no cycles; looking for some would only cause pauses.
    gc.collect()
    gc.freeze()
    gc.disable()
    while (assignment := rendezvous.next_assignment()) is not None:
        log.follow(assignment.environment, debug=assignment.debug)
        manifest = live_through(assignment, rendezvous)
        # What a case leaves behind goes between two cases, before anybody waits for the next one.
        gc.collect()
        rendezvous.say({"done": asdict(manifest)})
        if manifest.broken:
            return 1
    return 0


if __name__ == "__main__":
    code = main()
    # Without the interpreter's farewell, in which a library's threads may get stuck.
    sys.stderr.flush()
    os._exit(code)
