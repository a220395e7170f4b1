"""What the analysis of one tree costs: started by file name, with that tree first on the path.

The run is made up by the tree itself, since plans of before may look otherwise; the events are the same.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import psutil

from bench.analysis_cost import made_up_run
from streamgauge.analysis.pipeline import analyze
from streamgauge.launch.spark_session import spark_session

_COMPILES = 3_000_000
"""Messages of a run before: the first large one of a session compiles."""


def main(folder: Path, size: int) -> None:
    with spark_session("local[*]", log=folder / "spark.log") as session:
        small = made_up_run(str(folder), 3_000)
        first_s, again_s = (_cost(session, small)["seconds"] for _ in range(2))
        _cost(session, made_up_run(str(folder), _COMPILES))
        found = _cost(session, made_up_run(str(folder), size))
    print(json.dumps({"first_s": first_s, "again_s": again_s, **found}))


def _cost(session: Any, run: Any) -> dict[str, float]:
    begin, cpu_s = time.perf_counter(), _cpu_s()
    analyze(session, run)
    return {"seconds": time.perf_counter() - begin, "cpu_s": _cpu_s() - cpu_s}


def _cpu_s() -> float:
    """Of the machine, on which nothing else runs: nobody has the sum of Spark's processes that have ended."""
    spent = psutil.cpu_times()
    return spent.user + spent.system


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
