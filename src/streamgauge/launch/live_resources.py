"""What systems and the machine use, told while a case runs; and the stage that the run is in."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from streamgauge.core.errors import BadInput
from streamgauge.core.live_file import RESOURCES, STAGE, ResourceLine, ResourcesFile, StageFile
from streamgauge.core.run_dir import RunDir
from streamgauge.core.stages import Stage, StageView


def tell_resources(run: RunDir, case: str, rows: Sequence[dict[str, Any]]) -> None:
    """`rows`: of the `samples` table, as they came; the newest of each source is told. Best effort."""
    newest: dict[str, ResourceLine] = {}
    cores = 1
    for row in reversed(rows):
        if row["source"] in newest:
            break  # a look further back
        cores = max(cores, row["cores"])
        newest[row["source"]] = {
            "source": row["source"],
            "kind": row["kind"],
            "cpu_s": row["cpu_s"],
            "rss_bytes": row["rss_bytes"],
        }
    content: ResourcesFile = {
        "case": case,
        "at_s": time.time(),
        "cores": cores,
        "processes": list(reversed(newest.values())),
    }
    _write(run, RESOURCES, content)


class ToldStages:
    """Whoever shows stages, and a file that says which it is."""

    def __init__(self, run: RunDir, view: StageView) -> None:
        self._run, self._view = run, view

    def begin(self, stage: Stage) -> None:
        content: StageFile = {"stage": str(stage), "since_s": time.time()}
        _write(self._run, STAGE, content)
        self._view.begin(stage)

    def end(self, stage: Stage, seconds: float) -> None:
        self._view.end(stage, seconds)


def _write(run: RunDir, name: str, content: object) -> None:
    if run.is_local and run.exists():
        with suppress(BadInput):
            run.write_text(run.live(name), json.dumps(content, separators=(",", ":")))
