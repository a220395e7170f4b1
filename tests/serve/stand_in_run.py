"""In the place of `streamgauge run FILE --out DIR …`: the same folder, agents that tell, and the same end.

There is no Spark in it, and not a message.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from streamgauge.core.run_dir import RunDir
from streamgauge.core.run_tags import tag_run
from streamgauge.core.stages import Stage, Stages
from streamgauge.core.status import CaseStatus, RunStatus, write_status
from streamgauge.launch.live_resources import ToldStages, tell_resources
from streamgauge.plan.plan_file import make_plan, write_plan
from streamgauge.spec.loading import load_workload

_LONGEST_S = 600.0


class Silent:
    def begin(self, stage: Stage) -> None: ...

    def end(self, stage: Stage, seconds: float) -> None: ...


def tell(run: RunDir, tick: int) -> None:
    for agent, counts in (("producer-0", "sent"), ("consumer-0", "received")):
        told = {
            "case": "001",
            "kind": agent.partition("-")[0],
            "counts": counts,
            "tick": tick,
            "messages": 100 * tick,
            "at_s": time.time(),
            "cpu_s": 0.05 * tick,
            "rss_bytes": 1 << 27,
            "buckets": [[1_000_000, 90], [3_000_000, 9], [9_000_000 + tick, 1]]
            if counts == "received"
            else [],
        }
        run.write_text(run.live(agent), json.dumps(told))
    about = {"kind": "machine", "cores": 2, "rss_bytes": 1 << 32}
    tell_resources(run, "001", [{"source": "machine", "cpu_s": 0.4 * tick, **about}])


def main() -> int:
    file, out, tags = (
        sys.argv[2],
        sys.argv[sys.argv.index("--out") + 1],
        sys.argv[sys.argv.index("--tag") + 1 :],
    )
    workload = load_workload(Path(file))
    run = RunDir.create(out, workload.name)
    write_plan(make_plan(workload, run.id), run)
    status = RunStatus(cases={"001": CaseStatus("running")})
    write_status(run, status)
    tag_run(run, tags)
    print(f"run {run.id}", file=sys.stderr, flush=True)  # noqa: T201
    Stages(ToldStages(run, Silent())).enter(Stage.MEASURING)
    end_s = time.monotonic() + _LONGEST_S
    try:
        for tick in range(1, 10**6):
            tell(run, tick)
            time.sleep(0.3)
            if time.monotonic() > end_s:
                return 1
    except KeyboardInterrupt:
        status.status, status.reason = "partial", "interrupted"
        write_status(run, status)
        print("interrupted; what was recorded is kept", file=sys.stderr, flush=True)  # noqa: T201
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
