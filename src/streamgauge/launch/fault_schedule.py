"""The faults of a case at their times: each in a thread of its own, each taken back whatever happens."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from streamgauge.core.clock import NS_PER_S, now_ns
from streamgauge.core.errors import StreamgaugeError
from streamgauge.faults.contract import Ending, Fault, Scene
from streamgauge.plan.fault_file import FaultRecord
from streamgauge.spec.fault import FaultSpec, fault_class

_CLOSE_DEADLINE_S = 90.0
"""An election that is waited for, and a broker that is started again, take their time."""


@dataclass
class _Planned:
    fault: Fault
    record: FaultRecord

    def note(self, **known: object) -> None:
        self.record = self.record.model_copy(update=known)


class FaultSchedule:
    """`begin` is told since when messages count; until then nothing happens."""

    def __init__(
        self,
        specs: Sequence[FaultSpec],
        scene: Scene,
        note: Callable[[Sequence[FaultRecord]], None],
        tell: Callable[[str], None] = lambda line: None,
    ) -> None:
        """`note`: keeps the records, each time that one has changed; `tell`: a line for whoever looks on."""
        self._planned = [
            _Planned(
                fault_class(spec.kind)(spec, scene),
                FaultRecord(kind=spec.kind, planned_at_s=spec.at, planned_for_s=spec.for_),
            )
            for spec in specs
        ]
        self._scene, self._note, self._tell = scene, note, tell
        self._lock = threading.Lock()
        self._is_over = threading.Event()
        self._threads: list[threading.Thread] = []
        self._keep()

    @property
    def records(self) -> list[FaultRecord]:
        return [planned.record for planned in self._planned]

    def begin(self, since_ns: int) -> bool:
        """Messages count since then; a second word on it changes nothing. Whether anything is to come."""
        if self._threads or self._is_over.is_set():
            return bool(self._planned)
        for number, planned in enumerate(self._planned):
            thread = threading.Thread(
                target=self._happen, args=(planned, since_ns), name=f"fault-{number}", daemon=True
            )
            self._threads.append(thread)
            thread.start()
        return bool(self._planned)

    def close(self) -> None:
        """No more faults: those that last are taken back, and the system is as it was."""
        self._is_over.set()
        for thread in self._threads:
            thread.join(_CLOSE_DEADLINE_S)
        try:
            self._scene.restore()
        except Exception as error:
            # What was measured is no worse for it: it is the fault's problem, and the next case's.
            self._blame(error)

    def _blame(self, error: Exception) -> None:
        """Of faults that were not taken back; else of the last one."""
        begun = [planned for planned in self._planned if planned.record.began_ns is not None]
        if not begun:
            raise error
        begun.sort(key=lambda planned: planned.record.began_ns or 0)
        left = [
            planned
            for planned in begun
            if planned.record.ended_ns is None and planned.fault.ending is not Ending.NEVER
        ]
        for planned in left or begun[-1:]:
            self._say(planned, error)
            with self._noting(planned):
                self._keep()

    def _happen(self, planned: _Planned, since_ns: int) -> None:
        spec = planned.fault.spec
        begin_ns = since_ns + int(spec.at * NS_PER_S)
        if self._is_over.wait(max(0.0, (begin_ns - now_ns()) / NS_PER_S)):
            return
        planned.note(began_ns=now_ns())
        with self._noting(planned):
            self._keep()  # whoever is killed while it is done has said so
        with self._noting(planned):
            target = planned.fault.begin()
            planned.note(target=target, counts_from_ns=planned.fault.counts_from_ns, done_ns=now_ns())
            self._tell(f"fault: {spec.kind} of {target}")
        is_done = planned.record.done_ns is not None
        with self._noting(planned):
            self._keep()
        if is_done:
            self._take_back(planned)

    def _take_back(self, planned: _Planned) -> None:
        with self._noting(planned):
            self._outlast(planned)
        if planned.fault.ending is not Ending.NEVER:
            with self._noting(planned):
                planned.fault.end()
                planned.note(ended_ns=now_ns())
        with self._noting(planned):
            planned.note(effects=planned.fault.effects())
        with self._noting(planned):
            self._keep()

    @contextmanager
    def _noting(self, planned: _Planned) -> Iterator[None]:
        """Whatever goes wrong is said of this fault, the first of it; its thread goes on."""
        try:
            yield
        except Exception as error:
            self._say(planned, error)

    def _say(self, planned: _Planned, error: Exception) -> None:
        ours = isinstance(error, StreamgaugeError)
        said = str(error) if ours else f"{type(error).__name__}: {error}"
        if planned.record.problem is None:
            planned.note(problem=said)
        what = "could not be done" if planned.record.done_ns is None else "did not go as planned"
        self._tell(f"fault: {planned.fault.spec.kind} {what}: {said}")

    def _outlast(self, planned: _Planned) -> None:
        """Until it is to be taken back."""
        fault = planned.fault
        left_s, look_s = _lasts_s(fault), fault.look_s
        until_s = time.monotonic() + left_s
        while left_s > 0 and not self._is_over.wait(_next_look_s(left_s, look_s)):
            with self._noting(planned):
                fault.look()
            look_s = None if planned.record.problem is not None else look_s
            left_s = until_s - time.monotonic()

    def _keep(self) -> None:
        with self._lock:
            self._note(self.records)


def _lasts_s(fault: Fault) -> float:
    if fault.spec.for_ is not None:
        return fault.spec.for_
    return 0.0 if fault.ending is Ending.AT_ONCE else math.inf


def _next_look_s(left_s: float, look_s: float | None) -> float | None:
    """None: whenever all is over."""
    wait_s = left_s if look_s is None else min(left_s, look_s)
    return None if math.isinf(wait_s) else wait_s
