"""Finding a run by its folder or its name."""

from __future__ import annotations

from pathlib import Path

from streamgauge.core.run_dir import RunDir

RUNS = "runs"


def find_run(text: str) -> RunDir:
    """A folder as given; else the folder of that name below `runs`."""
    if "://" not in text and "/" not in text and not Path(text).exists() and (Path(RUNS) / text).exists():
        return RunDir.open(str(Path(RUNS) / text))
    return RunDir.open(text)
