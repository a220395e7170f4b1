"""Finding a run by its folder or its name."""

from __future__ import annotations

from pathlib import Path

from streamgauge.core.errors import BadInput
from streamgauge.core.run_dir import RunDir, runs_in

RUNS = "runs"


def find_run(text: str) -> RunDir:
    """A folder as given; else the folder of that name below `runs`."""
    if "://" not in text and "/" not in text and not Path(text).exists() and (Path(RUNS) / text).exists():
        return RunDir.open(str(Path(RUNS) / text))
    return RunDir.open(text)


def newest_run(out: str) -> RunDir:
    """The one that was begun last: names of runs begin with the time."""
    if not (found := runs_in(out)):
        raise BadInput(f"{out}: there is no run yet; name a run folder, or its parent with --out")
    return found[-1]
