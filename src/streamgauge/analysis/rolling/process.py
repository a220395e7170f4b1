"""A process of low priority that keeps the events of a case small while it runs.

It is started when there are more than asked for, looks at their size every few seconds, and rolls up the
oldest while there are. It ends with its input, whatever it is at: that is then done again, or
never was.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pyarrow as pa

from streamgauge.analysis.clocks import agent_clocks
from streamgauge.analysis.feeding.event_files import case_row_groups
from streamgauge.analysis.feeding.slices import RowGroup
from streamgauge.analysis.joining.facts import AgentClocks
from streamgauge.analysis.rolling.files import raw_bytes
from streamgauge.analysis.rolling.keeping import YOUNGEST_NS
from streamgauge.analysis.rolling.step import roll_up
from streamgauge.core.clock import NS_PER_S, now_ns
from streamgauge.core.run_dir import RunDir
from streamgauge.plan.cases import Case
from streamgauge.plan.plan_file import read_plan
from streamgauge.plan.roll_up_file import drop_unfinished, finish
from streamgauge.tables.events import MARKS, RECEIVES, SENDS

LOOK_S = 5.0
_NICE = 19
LOGGER = logging.getLogger(__name__)


class Rolling:
    """Of one case."""

    def __init__(self, run: RunDir, case: str) -> None:
        self._run, self._id = run, case
        self._clocks: AgentClocks | None = None
        drop_unfinished(run, case)
        finish(run, case)

    def look(self, now: int) -> int:
        """How many roll-ups were made."""
        made = 0
        while True:
            # Again each time: there may be another fault meanwhile.
            case = next(case for case in read_plan(self._run).cases if case.id == self._id)
            asked = case.load.recording
            if raw_bytes(self._run, self._id) <= asked.raw_limit or not self._knows_clocks(case):
                return made
            assert self._clocks is not None
            least_ns = YOUNGEST_NS if case.load.faults else 0
            until_ns = now - max(int(asked.raw_last * NS_PER_S), least_ns)
            part = roll_up(self._run, case, self._clocks, self._groups(), until_ns)
            if part is None:
                return made
            made += 1
            LOGGER.info(
                "roll-up %d: %d messages so far, %d with a row", part.number, part.messages, part.kept
            )

    def _groups(self) -> Iterator[RowGroup]:
        for table in (SENDS, RECEIVES):
            yield from case_row_groups(self._run, self._id, table)

    def _knows_clocks(self, case: Case) -> bool:
        """They are read when agents start, and are in their journals by now."""
        if self._clocks is None:
            found = agent_clocks(list(_marks(self._run, self._id))).get(self._id, AgentClocks({}, {}))
            wanted = {(task.kind, number) for task in case.agents for number in task.numbers}
            known = {("producer", number) for number in found.producers}
            known |= {("consumer", number) for number in found.consumers}
            self._clocks = found if wanted <= known else None
        return self._clocks is not None


def _marks(run: RunDir, case: str) -> Iterator[dict[str, Any]]:
    for path in run.list_files(run.journals, ".arrow"):
        if not path.startswith(run.journal(case, "")):
            continue
        with suppress(OSError, pa.ArrowException), run.open_input(path) as stream:  # it may be gone by now
            content = pa.ipc.open_file(stream)
            about = json.loads(content.schema.metadata[b"streamgauge"])
            if about["table"] == MARKS.name:
                yield from ({**row, "case": case} for row in content.read_all().to_pylist())


def main() -> None:
    location, case = sys.argv[1:]
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    os.nice(_NICE)
    pa.set_cpu_count(1)
    threading.Thread(target=_end_with_input, name="input", daemon=True).start()
    rolling, wait = Rolling(RunDir(location), case), threading.Event()
    while True:
        rolling.look(now_ns())
        wait.wait(LOOK_S)


def _end_with_input() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    main()
