"""Rolls up until it has done so many things to files, and then kills itself as nobody can prevent."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

from streamgauge.core import run_dir
from streamgauge.core.run_dir import RunDir
from tests.analysis.rolling.rolled_runs import Terms, rolled_up


def main() -> None:
    location, until_ns, things = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    left = [things]

    def then_maybe_killed(done: Any) -> Any:
        def doing(*given: Any, **more: Any) -> Any:
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)
            left[0] -= 1
            return done(*given, **more)

        return doing

    for owner, name in (
        (run_dir._WholeFile, "__enter__"),
        (run_dir._WholeFile, "__exit__"),
        (Path, "replace"),
        (Path, "unlink"),
    ):
        setattr(owner, name, then_maybe_killed(getattr(owner, name)))
    rolled_up(RunDir(location), until_ns, Terms(60, 100_000))


if __name__ == "__main__":
    main()
