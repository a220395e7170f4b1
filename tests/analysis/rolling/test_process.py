"""What is done beside a case: nothing while its events are few, and then as much as it takes."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa

from streamgauge.analysis.rolling.process import Rolling
from streamgauge.core.run_dir import RunDir
from streamgauge.plan.roll_up_file import last_roll_up
from streamgauge.tables.events import MARKS
from tests.analysis.recorded import SECOND, START_NS, CaseEvents
from tests.analysis.rolling.rolled_runs import ManyFiles, written


def a_case(raw_limit: int) -> CaseEvents:
    recording = {"raw_limit": raw_limit, "raw_last": 1}
    case = CaseEvents("c", load={"messages": 4000, "rate": 1000, "recording": recording})
    for sequence in range(4000):
        case.receive(case.send(sequence))
    return case


def keep_marks(run: RunDir, kinds: list[str], producers: int = 1) -> None:
    """As agents do in their journals."""
    for kind in kinds:
        case = CaseEvents("c")
        for number in range(producers if kind == "producer" else 1):
            case.mark(kind, number, "start", START_NS, silent_ns=None)
        content = pa.Table.from_pylist(case.marks, schema=MARKS.arrow_schema())
        content = content.replace_schema_metadata({"streamgauge": json.dumps({"table": MARKS.name})})
        path = f"{run.journal('001', f'{kind}-0')}/00000000.arrow"
        with run.open_output(path) as stream, pa.ipc.new_file(stream, content.schema) as file:
            file.write_table(content)


def looked_at(folder: Path, raw_limit: int, kinds: list[str]) -> tuple[ManyFiles, int]:
    recorded = written(folder, [a_case(raw_limit)], rows=500)
    keep_marks(recorded.run, kinds)
    return recorded, Rolling(recorded.run, "001").look(START_NS + 4 * SECOND)


def test_past_the_limit_all_but_the_last_is_rolled_up(tmp_path: Path) -> None:
    recorded, made = looked_at(tmp_path, 1, ["producer", "consumer"])
    last = last_roll_up(recorded.run, "001")
    assert made > 0
    assert last is not None
    assert 2900 < last.messages <= 3000
    recorded.run.remove(recorded.run.journals)
    results = recorded.analyze()
    assert results.row("accounting", "c", scope="case", phase="measure")["received"] == 4000
    broker = results.row("latency", "c", scope="case", leg="sent_to_broker")
    # By the clocks of its marks: events that are left were analysed without any.
    assert broker["count"] == last.messages


def test_below_the_limit_nothing_is_done(tmp_path: Path) -> None:
    recorded, made = looked_at(tmp_path, 1 << 30, ["producer", "consumer"])
    assert (made, last_roll_up(recorded.run, "001")) == (0, None)


def test_without_the_clocks_of_all_agents_it_waits(tmp_path: Path) -> None:
    recorded, made = looked_at(tmp_path, 1, ["producer"])
    assert (made, last_roll_up(recorded.run, "001")) == (0, None)


def test_before_every_producer_has_written_when_it_began_it_waits(tmp_path: Path) -> None:
    """Else seconds would count from elsewhere than in the end."""
    case = a_case(1)
    case.load |= {"producers": 2}
    recorded = written(tmp_path, [case], rows=500)
    keep_marks(recorded.run, ["producer", "consumer"], producers=2)
    assert Rolling(recorded.run, "001").look(START_NS + 4 * SECOND) == 0
    assert last_roll_up(recorded.run, "001") is None
