"""The Go benchmark's own example, line by line; its figures are planted, so theirs must come out."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import CaseStatus, RunStatus
from streamgauge.plan.plan_file import Plan, make_plan
from streamgauge.report.kafka_perf_csv import OURS, THEIRS, file_name, write_kafka_perf_csv
from streamgauge.report.result_tables import ResultTables
from streamgauge.spec.workload import Workload
from streamgauge.tables.results import PERCENTILES

from .sample_run import Rows, _write

HEADER = "Topic, Prtn, MsgSize, Messages, MinLat, MaxLat, AvgLat, Kbps, Msgps, Runtime"
SUMMARY = "  1,   4,     64,     64,     94,    897,    269,     1.1,    18.1,    14.2"
PARTITIONS = """\
  0,   0,     64,     16,    105,    897,    287,     0.3,     4.8,     3.3
  0,   1,     64,     16,     95,    688,    258,     0.3,     5.0,     3.2
  0,   2,     64,     16,    101,    513,    256,     0.2,     3.6,     4.5
  0,   3,     64,     16,     94,    840,    273,     0.3,     5.1,     3.1""".splitlines()
RUNTIMES_S = (3.33, 3.2, 4.5, 3.12)


def planned(**changes: Any) -> Plan:
    load = {
        "streams": "per_partition",
        "stream_size": 1024,
        "message": {"size": 64},
        "topics": {"partitions": 4, "replicas": 3},
        "acks": "1",
    }
    content = {
        "targets": [{"name": "pkc-ep9", "driver": "kafka_confluent"}],
        "load": load | changes.pop("load", {}),
        **changes,
    }
    return make_plan(Workload.model_validate(content), "run")


@pytest.fixture
def example(tmp_path: Path) -> RunDir:
    """Two rounds: the Go benchmark's first, and one that broke."""
    plan = planned(iterations=2)
    rows: Rows = defaultdict(list)
    whole = {"case": "001", "scope": "case", "topic": None, "partition": None, "second": None}
    topic = whole | {"scope": "topic", "topic": plan.cases[0].topics[0]}
    _plant(rows, whole, 64, RUNTIMES_S, (94, 897, 268.6))
    _plant(rows, topic, 64, RUNTIMES_S, (94, 897, 268.6))
    for number, (runtime_s, line) in enumerate(zip(RUNTIMES_S, PARTITIONS, strict=True)):
        lowest, highest, mean = (int(cell) for cell in line.split(",")[4:7])
        place = topic | {"scope": "partition", "partition": number}
        _plant(rows, place, 16, (runtime_s,), (lowest, highest, mean))
    run = RunDir(str(tmp_path / "run"))
    statuses = {"001": CaseStatus("ok"), "002": CaseStatus("failed", "no luck")}
    _write(run, plan, rows, RunStatus(status="failed", cases=statuses))
    return run


def _plant(rows: Rows, place: dict[str, Any], messages: int, times_s: Any, latency: Any) -> None:
    runtime_s, streams = sum(times_s), len(times_s)
    rows["runtimes"].append(
        place
        | {"partitions": streams, "messages": messages, "bytes": 64 * messages, "wall_s": max(times_s)}
        | {"runtime_s": runtime_s, "messages_per_s": messages * streams / runtime_s}
        | {"kib_per_s": messages * 64 / 1024 * streams / runtime_s}
    )
    lowest, highest, mean = (float(value) for value in latency)
    statistics = {"count": messages, "negative_count": 0, "mean": mean, "sd": 1.0}
    statistics |= {"min": lowest, "max": highest, **dict.fromkeys(PERCENTILES, 200.0)}
    rows["latency"].append(place | {"leg": "intended_to_received"} | statistics)
    counts = dict.fromkeys(("acked", "received"), messages) | {"sent": messages, "phase": "measure"}
    zeros = (
        "failed",
        "aborted",
        "lost_write",
        "unseen",
        "duplicate",
        "out_of_order",
        "corrupt",
        "unexpected",
    )
    rows["accounting"].append(place | counts | dict.fromkeys(zeros, 0))


def lines_of(run: RunDir, kind: str) -> list[str]:
    places = write_kafka_perf_csv(run, ResultTables.read(run))
    [place] = [place for place in places if f"-{kind}-" in place]
    return run.read_text(place).splitlines()


def test_names_are_the_seeds() -> None:
    [case] = planned().cases
    for kind in ("summary", "topic", "partition"):
        expected = f"KafkaPerf-pkc-ep9-{kind}-T01-P04-R03-M000064b-S000001024-A01-Ctrue.csv"
        assert file_name(case, kind) == expected


@pytest.mark.parametrize(
    ("load", "end"),
    [
        ({"acks": "all"}, "-A-1-Ctrue.csv"),
        ({"acks": "0", "completions": False}, "-A00-Cfalse.csv"),
        ({"acks": "all", "transactions": {}}, "-A-1-Ctrue-Etrue.csv"),
    ],
)
def test_names_tell_what_was_turned(load: dict[str, Any], end: str) -> None:
    assert file_name(planned(load=load).cases[0], "summary").endswith(end)


def test_a_knob_that_the_seed_did_not_have_is_named_where_it_was_turned() -> None:
    one, other = planned(sweep={"compression": ["lz4", "zstd"], "topics.partitions": [4]}).cases
    assert file_name(one, "summary").endswith("-Ctrue-compression=lz4.csv")
    assert file_name(one, "summary") != file_name(other, "summary")


def test_the_summary_is_laid_out_as_the_seeds(example: RunDir) -> None:
    header, first, second = lines_of(example, "summary")
    assert header == f"{HEADER}, {', '.join(OURS)}"
    assert header.split(", ")[: len(THEIRS)] == list(THEIRS)
    assert first.startswith(SUMMARY + ",")
    assert first.endswith(", 001, 1, ok")
    assert second.endswith(", 002, 2, failed")
    assert second.split(",")[3].strip() == "0"


def test_partitions_are_laid_out_as_the_seeds(example: RunDir) -> None:
    header, *rows = lines_of(example, "partition")
    assert header.startswith(f"{HEADER}, ")
    assert [row[: len(PARTITIONS[0])] for row in rows[:4]] == PARTITIONS
    assert len(rows) == 8


def test_every_row_has_a_cell_for_every_column(example: RunDir) -> None:
    for kind in ("summary", "topic", "partition"):
        header, *rows = lines_of(example, kind)
        assert {len(row.split(",")) for row in rows} == {len(header.split(","))}


def test_sums_agree_as_the_seed_explains(example: RunDir) -> None:
    """Its parts add up to 1.1 KiB/s and to 14.1 s where the whole says 14.2: each is rounded by itself."""
    whole = lines_of(example, "summary")[1].split(",")
    parts = [row.split(",") for row in lines_of(example, "partition")[1:5]]
    for column in (7, 9):
        assert sum(float(part[column]) for part in parts) == pytest.approx(float(whole[column]), abs=0.11)
    assert sum(int(part[3]) for part in parts) == int(whole[3]) == 64


def test_runs_without_streams_of_a_size_have_no_such_files(one_case: RunDir) -> None:
    assert write_kafka_perf_csv(one_case, ResultTables.read(one_case)) == []
