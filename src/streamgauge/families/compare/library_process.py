"""One library of a comparison, or all of them, in a process of its own, led by the referee.

in   {"comparison": …} once; then {"warm_up": …} and {"turn": …}; the end of the input means: end at once
out  {"ready": …}, {"warm": settings and warm_ups}, {"trials": rows}; {"failed": why} to any of them
"""

from __future__ import annotations

import gc
import json
import logging
import os
import queue
import signal
import sys
import threading
from typing import IO, Any

from streamgauge.agents.log_without_secrets import LogWithoutSecrets
from streamgauge.core.clock import sharpen_sleep
from streamgauge.core.errors import StreamgaugeError
from streamgauge.families.compare.planned_comparison import Cell, PlannedComparison, Turn
from streamgauge.families.compare.turn_taking import TurnTaking
from streamgauge.spec.secrets import strike_out


class LibraryProcess:
    """Answers one message after the other."""

    def __init__(self, outgoing: IO[str], log: LogWithoutSecrets) -> None:
        self._outgoing, self._log = outgoing, log
        self._sides: dict[str, TurnTaking] = {}
        self._environment: dict[str, str] = {}

    def answer(self, message: dict[str, Any]) -> None:
        try:
            answer = self._answer(message)
        except StreamgaugeError as error:
            answer = {"failed": self._failure(type(error).__name__, str(error))}
        except Exception as error:
            logging.getLogger(__name__).exception("%s", next(iter(message)))
            answer = {"failed": self._failure("CaseFailed", f"{type(error).__name__}: {error}")}
        self._outgoing.write(json.dumps(answer) + "\n")
        self._outgoing.flush()

    def _answer(self, message: dict[str, Any]) -> dict[str, Any]:
        if "comparison" in message:
            self._open(message)
            return {"ready": list(self._sides)}
        starts = {
            topic: {(t, p): offset for t, p, offset in places} for topic, places in message["starts"].items()
        }
        if "warm_up" in message:
            found = [
                self._sides[side].warm_up(topic, starts[topic]) for side, topic in message["warm_up"].items()
            ]
            # All that is there to stay need not be looked through between two trials.
            gc.collect()
            gc.freeze()
            settings = [row for rows, _ in found for row in rows]
            return {"warm": {"settings": settings, "warm_ups": [how.model_dump() for _, how in found]}}
        given = message["turn"]
        turn = Turn(**{**given, "cell": Cell(**given["cell"])})
        return {"trials": self._sides[turn.side].take_turn(turn, starts)}

    def _open(self, message: dict[str, Any]) -> None:
        self._environment = message["environment"]
        self._log.follow(self._environment, debug=message["debug"])
        planned = PlannedComparison.model_validate(message["comparison"])
        for side in message["sides"]:
            self._sides[side] = TurnTaking(
                side, planned, message["endpoints"], self._environment, message["seed"]
            )

    def _failure(self, kind: str, reason: str) -> dict[str, str]:
        return {"error": kind, "reason": strike_out(reason, self._environment)}


def main() -> None:
    # Ctrl-C in a terminal reaches every process of it; only the one in front decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Libraries may print: keep the pipe for ourselves, and let their words go to the log.
    outgoing = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    sharpen_sleep()
    gc.disable()  # it is collected between trials
    process = LibraryProcess(outgoing, LogWithoutSecrets())
    messages: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()

    def listen() -> None:
        for line in sys.stdin:
            messages.put(json.loads(line))
        # Whatever is under way: nobody is left to tell of it.
        os._exit(0)

    threading.Thread(target=listen, name="referee's words", daemon=True).start()
    while True:
        process.answer(messages.get())


if __name__ == "__main__":
    main()
