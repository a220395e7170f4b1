"""`python -m tests.golden.storing RUN NAME`: keep a run, with what the code of today says of it.

Only what an analysis needs is kept. The host is taken out of it: it says nothing of the figures.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from streamgauge.core.run_dir import RunDir
from streamgauge.report.results import results_document

from .stored import EXPECTED, FOLDER

_KEPT = ("workload.yaml", "plan.json", "status.json", "search.json")


def store(source: Path, name: str) -> None:
    target = FOLDER / name
    target.mkdir()
    for file in _KEPT:
        if (source / file).exists():
            shutil.copy(source / file, target / file)
    shutil.copytree(source / "events", target / "events")
    environment = json.loads((source / "environment.json").read_text()) if _has_one(source) else {}
    if environment:
        environment |= {"hostname": "host", "kernel": "Linux", "cpu": "a processor"}
        (target / "environment.json").write_text(json.dumps(environment, indent=2) + "\n")
    document = results_document(RunDir.open(str(source))).model_dump(mode="json")
    document |= {"environment": environment}
    # One line: it is for programs, and a third as long.
    (target / EXPECTED).write_text(json.dumps(document, ensure_ascii=False, allow_nan=False) + "\n")


def _has_one(source: Path) -> bool:
    return (source / "environment.json").exists()


if __name__ == "__main__":
    store(Path(sys.argv[1]), sys.argv[2])
