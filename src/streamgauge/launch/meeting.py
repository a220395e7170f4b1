"""Where the launcher and the agents' Spark tasks talk: small files in the run folder.

Spark's own `allGather` takes a second each time and lets its tasks go up to two seconds apart. A file is
seen within milliseconds; on other hosts through launch/folder_server.

launcher                                     task of an agent
call ── the assignments of one case ──────▶  next_call
     ◀── ready: a clock reading ───────────  tell
say  ── start: when, on each one's clock ─▶  hear
     ◀── levels, again and again ──────────  tell    (where the warm-up lasts until
say  ── measure: since when it counts ────▶  hear     the load is at rest)
     ◀── finished: producers have sent all   tell
say  ── producers_finished ───────────────▶  hear
     ◀── done: the manifest ───────────────  tell
say  ── kill.<agent> ─────────────────────▶  hear: its task kills it, as a fault of the case
say  ── give_up ──────────────────────────▶  hear: keep what there is, and end
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any

from streamgauge.core.run_dir import RunDir

_LOCAL_LOOK_S, _SERVED_LOOK_S = 0.01, 0.05
_LOCAL_LEAD_S, _SERVED_LEAD_S = 0.4, 1.5
_LOCAL_LOOKS_PER_S, _SERVED_LOOKS_PER_S = 2000, 1000
"""Of all tasks together: of more the launcher's host would do little else. So many agents look less often."""
_BEGIN_CPU_S = 0.045
"""What an agent computes between hearing of the start and its first message; here all share these cores."""
_LAUNCHERS_LOOKS_PER_S = 5000
"""Of the launcher, which looks for a word of each agent."""
_SOON_S, _IDLE_LOOKS = 2.0, 5
_CALL, _END = "call", "end"
MEASURE = "measure"
"""{"slot": …}: since which slot messages count; the only word that may be said anew."""


def kill_word(agent: str) -> str:
    return f"kill.{agent}"


class Call:
    """What is said about one case; each word is a file, and is said once."""

    def __init__(self, run: RunDir, folder: str) -> None:
        self._run, self._folder = run, folder

    def say(self, word: str, content: object) -> None:
        """The launcher, to all."""
        self._run.write_json(f"{self._folder}/{word}.json", content)

    def hear(self, word: str) -> Any:
        """What the launcher said; None until then."""
        return self._read(f"{self._folder}/{word}.json")

    def tell(self, agent: str, word: str, content: object) -> None:
        """One agent's task, to the launcher."""
        self._run.write_json(f"{self._folder}/{agent}.{word}.json", {"content": content})

    def told(self, agent: str, word: str) -> tuple[Any] | None:
        """What an agent's task told, which may be None; no tuple until then."""
        found = self._read(f"{self._folder}/{agent}.{word}.json")
        return None if found is None else (found["content"],)

    def say_each(self, word: str, own: Mapping[str, object], everyone: object) -> None:
        """The launcher, to each agent its own, and then to all alike: what is for one is read by one."""
        for agent, content in own.items():
            self.say(f"{word}.{agent}", content)
        self.say(word, everyone)

    def hear_own(self, word: str, agent: str) -> Any:
        """What was said to this agent, once the word is there."""
        return self.hear(f"{word}.{agent}")

    def _read(self, path: str) -> Any:
        return self._run.read_json(path) if self._run.has(path) else None


class Meeting:
    """All calls of one crew, one after another."""

    def __init__(self, run: RunDir, place: str, *, is_served: bool = False, members: int = 1) -> None:
        """`place`: a name that no other crew of the run has; `is_served`: tasks are on other hosts;
        `members`: how many tasks there are."""
        self._run, self._folder, self._is_served = run, run.meeting(place), is_served or run.is_served
        self._calls, self._members = 0, members

    @property
    def look_s(self) -> float:
        """How often a task looks for news."""
        if self._is_served:
            return max(_SERVED_LOOK_S, self._members / _SERVED_LOOKS_PER_S)
        return max(_LOCAL_LOOK_S, self._members / _LOCAL_LOOKS_PER_S)

    @property
    def launchers_look_s(self) -> float:
        """How often the launcher looks, on its own disk."""
        return max(_LOCAL_LOOK_S, self._members / _LAUNCHERS_LOOKS_PER_S)

    @property
    def lead_s(self) -> float:
        """Longer than it takes all to hear a word."""
        return (_SERVED_LEAD_S if self._is_served else _LOCAL_LEAD_S) + 2 * self._extra_look_s

    @property
    def start_lead_s(self) -> float:
        """From the last agent's being ready to the start: by then all have heard of it and have begun."""
        beginning_s = 0.0 if self._is_served else _BEGIN_CPU_S * self._members / (os.cpu_count() or 1)
        return self.lead_s + beginning_s

    @property
    def _extra_look_s(self) -> float:
        return self.look_s - (_SERVED_LOOK_S if self._is_served else _LOCAL_LOOK_S)

    def before_the_first(self) -> Call:
        """Where tasks say where they are, before there is any case."""
        return Call(self._run, f"{self._folder}/00000")

    def call(self, assignments: Mapping[str, object]) -> Call:
        """The launcher: begin a case."""
        call = self._next()
        call.say_each(_CALL, assignments, list(assignments))
        return call

    def end(self) -> None:
        """The launcher: there are no more cases."""
        self._next().say(_END, {})

    def next_call(self, agent: str) -> tuple[Call, Any] | None:
        """A task: wait for the next case, with its agent's assignment; None when there are no more. One that
        has no part in the case has no assignment, but None."""
        call, begun = self._next(), time.monotonic()
        while (agents := call.hear(_CALL)) is None:
            if call.hear(_END) is not None:
                return None
            # The others may be measuring: who has no part in it looks less often.
            just_now = time.monotonic() - begun < _SOON_S
            time.sleep(self.look_s if just_now else _IDLE_LOOKS * self.look_s)
        return call, call.hear_own(_CALL, agent) if agent in agents else None

    def clear(self) -> None:
        """Leave no trace: all that matters is in the events."""
        self._run.remove(self._folder)

    def _next(self) -> Call:
        self._calls += 1
        return Call(self._run, f"{self._folder}/{self._calls:05d}")
