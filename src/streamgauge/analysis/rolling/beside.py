"""Rolling up beside a case, for whoever runs it."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from streamgauge.analysis.rolling.files import raw_bytes
from streamgauge.core.run_dir import RunDir
from streamgauge.plan.cases import Case
from streamgauge.plan.plan_file import Plan
from streamgauge.plan.roll_up_file import drop_unfinished
from streamgauge.spec.families import family_of

LOOK_S = 5.0
_END_DEADLINE_S = 10.0
_SOONEST_S, _LATEST_S = 5.0, 300.0
"""After so long one that ended is started again: the first time, and at most."""
_STEADY_S = 600.0
"""Who has run for so long may be started again soon."""


class RollingUp:
    def why_not(self, plan: Plan) -> str | None:
        """A family that analyses by itself reads all events."""
        if family_of(plan.kind).analysis_by() is not None:
            return f"a run of kind {plan.kind} is computed from all of them"
        return None

    @contextmanager
    def beside(self, run: RunDir, case: Case) -> Iterator[None]:
        """Its log says what it does. It never fails a case: if it ends, events are larger than asked for."""
        rolling = _Beside(run, case)
        try:
            yield
        finally:
            rolling.end()


class _Beside:
    """Most cases never get to their limit: only past it there is a process."""

    def __init__(self, run: RunDir, case: Case) -> None:
        self._run, self._case = run, case
        self._process: subprocess.Popen[bytes] | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="raw-limit", daemon=True)
        self._thread.start()

    def end(self) -> None:
        self._over.set()
        self._thread.join(_END_DEADLINE_S)
        if self._process is None:
            return
        # At once: whatever it was at, it did or it did not.
        self._process.kill()
        self._process.wait(_END_DEADLINE_S)
        if self._process.stdin is not None:
            self._process.stdin.close()
        drop_unfinished(self._run, self._case.id)

    def _watch(self) -> None:
        while not self._over.wait(LOOK_S):
            if raw_bytes(self._run, self._case.id) > self._case.load.recording.raw_limit:
                self._keep_going()
                return

    def _keep_going(self) -> None:
        """For hours: without it the disk fills up. What it left half done, the next one does again."""
        wait_s = _SOONEST_S
        while not self._over.is_set():
            begun = time.monotonic()
            ended = self._until_it_ends()
            if self._over.is_set():
                return
            wait_s = _SOONEST_S if time.monotonic() - begun >= _STEADY_S else wait_s
            self._note(f"{ended}; started again in {wait_s:g} s")
            self._over.wait(wait_s)
            wait_s = min(2 * wait_s, _LATEST_S)

    def _until_it_ends(self) -> str:
        try:
            self._process = self._started()
        except OSError as error:
            return f"not started: {error}"
        while self._process.poll() is None and not self._over.wait(LOOK_S):
            pass
        if self._process.returncode is not None and self._process.stdin is not None:
            self._process.stdin.close()
        return f"ended with {self._process.returncode}"

    def _note(self, what: str) -> None:
        with suppress(OSError), self._run.local(self._run.log("roll-up")).open("a") as log:
            log.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} roll-up process {what}\n")

    def _started(self) -> subprocess.Popen[bytes]:
        log = self._run.local(self._run.log("roll-up"))
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as output:
            return subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "streamgauge.analysis.rolling.process",
                    self._run.location,
                    self._case.id,
                ],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
            )
