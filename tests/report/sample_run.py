"""A run folder as analysis leaves it: small, realistic, and with every kind of trouble.

Case 001 is fine, 002 lost messages and failed, 003 broke off (partial), 004 has no
consumers, 005 was never begun. Case 002's figures are planted, so tests know them.
"""

from __future__ import annotations

import atexit
import math
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Callable
from functools import cache, wraps
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from streamgauge.analysis.cause_rows import cause_rows
from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import CaseStatus, RunStatus, write_status
from streamgauge.core.verdicts import CauseCode, cause
from streamgauge.families.limit.cases import search_case
from streamgauge.families.limit.rate_search import Trial
from streamgauge.families.limit.search_file import SearchRecord, write_search
from streamgauge.families.limit.workload import LimitWorkload
from streamgauge.plan.cases import Case
from streamgauge.plan.plan_file import Plan, make_plan, write_plan
from streamgauge.report.case_document import Case as CaseFigures
from streamgauge.report.case_document import CasesDocument
from streamgauge.report.results import results_document
from streamgauge.spec.workload import Workload
from streamgauge.tables.results import LEGS, PERCENTILES, RESULT_TABLES

HOSTILE = "</script><script>document.documentElement.dataset.injected=1</script><img src=x onerror=alert(1)>"

SECONDS, WARM_UP_SECONDS, RATE = 30, 4, 1000
STALLED = range(14, 17)

Rows = dict[str, list[dict[str, Any]]]


def make_workload(consumers: int = 2, **load: Any) -> Workload:
    return Workload.model_validate(
        {
            "name": "end-to-end",
            "targets": [{"name": "kafka", "driver": "kafka_confluent", "client": {"linger.ms": 0}}],
            "load": {
                "producers": 2,
                "consumers": consumers,
                "messages": (SECONDS - WARM_UP_SECONDS) * RATE,
                "warm_up_messages": WARM_UP_SECONDS * RATE,
                "rate": RATE,
                "topics": {"name": "orders", "partitions": 2},
                **load,
            },
        }
    )


def _made_once(make: Callable[..., RunDir]) -> Callable[..., RunDir]:
    """To make one takes seconds, and to copy it none: the first of a process is kept."""

    @cache
    def kept(*arguments: int, **named: int) -> Path:
        folder = Path(tempfile.mkdtemp(prefix="sample-run-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        make(folder / "run", *arguments, **named)
        return folder / "run"

    @wraps(make)
    def copied(folder: Path, *arguments: int, **named: int) -> RunDir:
        shutil.copytree(kept(*arguments, **named), folder, dirs_exist_ok=True)
        return RunDir(str(folder))

    return copied


@_made_once
def single_run(folder: Path, consumers: int = 2) -> RunDir:
    """One case, all well."""
    run = RunDir(str(folder))
    plan = make_plan(make_workload(consumers), "20260102-030405-end-to-end-ab12")
    rows: Rows = defaultdict(list)
    add_case(rows, plan.cases[0], seed=1)
    _write(run, plan, rows, RunStatus(status="ok", cases={"001": CaseStatus("ok")}))
    return run


@_made_once
def sweep_run(folder: Path) -> RunDir:
    """Five cases, of which only the first is well; names of the environment are hostile."""
    run = RunDir(str(folder))
    workload = make_workload()
    content = workload.model_dump(mode="json", by_alias=True)
    content["load"]["message"]["headers"] = {"note": HOSTILE}
    content["kind"], content["sweep"] = "sweep", {"message.size": [100, 700, 1024, 4096, 10240]}
    plan = make_plan(Workload.model_validate(content), "20260102-030405-sweep-cd34")
    cases = list(plan.cases)
    cases[3] = cases[3].model_copy(update={"work": cases[3].load.model_copy(update={"consumers": 0})})
    plan = plan.model_copy(update={"cases": tuple(cases)})

    rows: Rows = defaultdict(list)
    add_case(rows, cases[0], seed=1)
    add_case(rows, cases[1], seed=2, status="failed", faults={"lost_write": 7, "unseen": 2, "duplicate": 3})
    add_case(rows, cases[2], seed=3, status="partial", seconds=9)
    add_case(rows, cases[3], seed=4)
    statuses = {
        "001": CaseStatus("ok"),
        "002": CaseStatus("ok"),
        "003": CaseStatus("partial", f"consumer-1 died: {HOSTILE}"),
        "004": CaseStatus("ok"),
    }
    _write(run, plan, rows, RunStatus(status="partial", reason="case 003 broke off", cases=statuses))
    return run


@_made_once
def transports_run(folder: Path) -> RunDir:
    """A harness and three transports at two rates; the log lost 7 at its second, one transport never ran."""
    run = RunDir(str(folder))
    content = make_workload(1, producers=1, topics={"name": "t"}).model_dump(mode="json", by_alias=True)
    names = {"harness": "simulated", "log": "kafka_java", "socket": "aeron", "missing": "zeromq"}
    content |= {
        "kind": "transports",
        "name": "transports",
        "targets": [{"name": name, "driver": driver} for name, driver in names.items()],
        "harness": "harness",
        "cases": [{"rate": 1000}, {"rate": 25_000}],
    }
    plan = make_plan(Workload.model_validate(content), "20260102-030405-transports-ef56")
    rows: Rows = defaultdict(list)
    for number, case in enumerate(plan.cases[:6]):
        lost = {"lost_write": 7} if case.target.name == "log" and number % 2 else {}
        add_case(rows, case, seed=1 + number, status="failed" if lost else "ok", faults=lost)
    statuses = {case.id: CaseStatus("ok") for case in plan.cases[:6]}
    statuses |= {case.id: CaseStatus("failed", "zmq is not installed") for case in plan.cases[6:]}
    _write(run, plan, rows, RunStatus(status="failed", cases=statuses))
    promises = {"durable": True, "ordered": True, "acked": True}
    systems = {
        "log": {"description": "a log", "capabilities": promises},
        "socket": {
            "description": "a socket",
            "capabilities": promises | {"durable": False, "acked": False},
            "notes": ["so_rcvbuf: the system grants 208 KiB; sudo sysctl -w net.core.rmem_max=2097152"],
        },
    }
    run.write_json(run.environment, environment() | {"systems": systems})
    return run


@_made_once
def limit_run(folder: Path) -> RunDir:
    """A search: 2,000/s hold after they missed at first, 2,828/s do not; 4,000/s break their cases."""
    run = RunDir(str(folder))
    content = make_workload().model_dump(mode="json", by_alias=True)
    content["load"] |= {"messages": None, "duration": 5, "rate": "unlimited", "warm_up_messages": 0}
    content |= {
        "kind": "limit",
        "name": "limit",
        "search": {"slo": ["p99<20ms", "lost=0"], "from": 2000, "within_percent": 50},
    }
    workload = LimitWorkload.model_validate(content)
    plan = make_plan(workload, "20260102-030405-limit-ab56")
    tried = [(2000, False), (2000, False), (1000, True), (1000, True), (2000, True), (2000, True)]
    tried += [(4000, False), (4000, False), (2828, False), (2828, True), (2828, False)]
    cases, trials = [], []
    rows: defaultdict[str, list[Any]] = defaultdict(list)
    for number, (rate, holds) in enumerate(tried, 1):
        case = search_case(workload.search, workload.targets[0], workload.load, plan.run, number, float(rate))
        is_broken = rate == 4000
        add_case(rows, case, seed=number, status="failed" if is_broken else "ok")
        missed = [] if holds else ["p99 was 34.1 ms, not < 20 ms", f"late: {HOSTILE}"]
        trials.append(Trial(case.id, float(rate), missed, {"p99": 34.1}, 7.5))
        cases.append(case)
    plan = plan.model_copy(update={"cases": tuple(cases)})
    _write(run, plan, rows, RunStatus(status="ok", cases={case.id: CaseStatus("ok") for case in cases}))
    write_search(run, SearchRecord(trials, "found"))
    return run


def add_case(
    rows: Rows,
    case: Case,
    seed: int,
    *,
    status: str = "ok",
    faults: dict[str, int] | None = None,
    seconds: int = SECONDS,
    invalid: bool = False,
) -> None:
    """Rows of every result table for one case, from one set of random latencies."""
    faults = faults or {}
    whole = {"case": case.id, "scope": "case", "topic": None, "partition": None, "second": None}
    legs = _latencies(case, seed, seconds)
    measured = (seconds - WARM_UP_SECONDS) * RATE
    _add_scope(rows, whole, case, legs, sent=measured, faults=faults)
    rows["accounting"].append(whole | {"phase": "warm_up"} | _counts(case, WARM_UP_SECONDS * RATE, {}))
    topic = whole | {"scope": "topic", "topic": case.topics[0]}
    _add_scope(rows, topic, case, legs, sent=measured, faults=faults)
    for partition in range(case.load.topics.partitions):
        half = {leg: values[partition::2] for leg, values in legs.items()}
        place = topic | {"scope": "partition", "partition": partition}
        _add_scope(rows, place, case, half, sent=measured // 2, faults=faults if partition == 0 else {})
    for second in range(seconds):
        place = whole | {"scope": "second", "second": second}
        if second < WARM_UP_SECONDS:
            rows["accounting"].append(place | {"phase": "warm_up"} | _counts(case, RATE, {}))
            continue
        start = (second - WARM_UP_SECONDS) * RATE
        part = {leg: values[start : start + RATE] for leg, values in legs.items()}
        _add_scope(rows, place, case, part, sent=RATE, faults=faults if second == 20 else {})
    _add_histogram(rows, case, legs)
    _add_resources(rows, case, seed, seconds)
    _add_verdict(rows, case, status, faults, invalid or status == "partial")


def _latencies(case: Case, seed: int, seconds: int) -> dict[str, np.ndarray]:
    """A lognormal law, and a stall of which the schedule's own clock tells the truth."""
    random = np.random.default_rng(seed)
    count = (seconds - WARM_UP_SECONDS) * RATE
    to_ack = random.lognormal(math.log(0.7 * seed), 0.45, count)
    to_receive = to_ack + random.lognormal(math.log(0.5 * seed), 0.4, count)
    lag = random.lognormal(math.log(0.03), 0.5, count)
    for second in STALLED:
        start = (second - WARM_UP_SECONDS) * RATE
        if second < seconds:
            left = np.linspace(STALLED.stop - second, STALLED.stop - second - 1, RATE) * 90
            lag[start : start + RATE] += left
    legs = {"sent_to_acked": to_ack, "intended_to_sent": lag}
    if case.load.consumers:
        broker = np.floor(to_ack * 0.6 + random.random(count)) - random.random(count) * 0.2
        legs |= {
            "intended_to_received": to_receive + lag,
            "sent_to_received": to_receive,
            "sent_to_broker": broker,
            "broker_to_received": to_receive - broker,
        }
    return legs


def _add_scope(
    rows: Rows,
    place: dict[str, Any],
    case: Case,
    legs: dict[str, np.ndarray],
    *,
    sent: int,
    faults: dict[str, int],
) -> None:
    rows["accounting"].append(place | {"phase": "measure"} | _counts(case, sent, faults))
    for leg in LEGS:
        if leg in legs:
            rows["latency"].append(place | {"leg": leg} | _statistics(legs[leg]))
    span = 0.999 if place["scope"] == "second" else sent / RATE
    received = span + 0.002 if case.load.consumers else None
    ranges = {"sent_s": span, "acked_s": span + 0.001, "broker_s": received, "received_s": received}
    rows["ranges"].append(place | ranges)
    throughput: dict[str, Any] = {}
    for name, length in (("sent", span), ("acked", span + 0.001), ("received", received)):
        per_s = None if length is None else sent / length
        throughput[f"{name}_messages_per_s"] = per_s
        throughput[f"{name}_bytes_per_s"] = None if per_s is None else per_s * 700
    rows["throughput"].append(place | throughput)
    if received is not None and place["scope"] != "second":
        streams = case.load.topics.partitions if place["partition"] is None else 1
        delivery = {"partitions": streams, "messages": sent, "bytes": sent * 700, "wall_s": received}
        delivery |= {"runtime_s": streams * received, "messages_per_s": sent / received}
        rows["runtimes"].append(place | delivery | {"kib_per_s": sent / received * 700 / 1024})


def _counts(case: Case, sent: int, faults: dict[str, int]) -> dict[str, int]:
    lost = faults.get("lost_write", 0) + faults.get("unseen", 0)
    counts = dict.fromkeys(
        ("failed", "aborted", "lost_write", "unseen", "duplicate", "out_of_order", "corrupt", "unexpected"), 0
    )
    received = sent - lost if case.load.consumers else 0
    return counts | {"sent": sent, "acked": sent, "received": received} | faults


def _statistics(values: np.ndarray) -> dict[str, Any]:
    ends = {"min": float(values.min()), "max": float(values.max()), "mean": float(values.mean())}
    counts = {"count": len(values), "negative_count": int((values < 0).sum())}
    found = np.quantile(values, list(PERCENTILES.values()), method="inverted_cdf").tolist()
    percentiles = dict(zip(PERCENTILES, found, strict=True))
    return ends | counts | percentiles | {"sd": float(values.std(ddof=1))}


def _add_histogram(rows: Rows, case: Case, legs: dict[str, np.ndarray]) -> None:
    for leg, values in legs.items():
        buckets, counts = np.unique(np.round(values, 3), return_counts=True)
        rows["histogram"] += [
            {"case": case.id, "leg": leg, "value_ms": float(value), "count": int(count)}
            for value, count in zip(buckets, counts, strict=True)
        ]


def _add_resources(rows: Rows, case: Case, seed: int, seconds: int) -> None:
    random = np.random.default_rng(seed)
    use = {"producer-0": 0.42, "producer-1": 0.39, "broker-1": 0.6, "machine": 1.7}
    if case.load.consumers:
        use |= {"consumer-0": 0.21, "consumer-1": 0.24}
    for source, cores in use.items():
        for second in range(1, seconds):
            machine = source == "machine"
            rows["resources"].append(
                {
                    "case": case.id,
                    "source": source,
                    "kind": source.split("-")[0],
                    "host": "h",
                    "at_s": second + 0.01,
                    "cores": 2,
                    "cpu_cores": cores + 0.05 * float(random.standard_normal()),
                    "rss_bytes": int((1200 if machine else 90 + 200 * cores) * 2**20 + second * 2**16),
                    "net_sent_bytes_per_s": 9e5 * float(random.random()) if machine else None,
                    "net_received_bytes_per_s": 8e5 if machine else None,
                    "disk_read_bytes_per_s": 0.0 if machine else None,
                    "disk_written_bytes_per_s": 3e6 * float(random.random()) if machine else None,
                    "swapped_bytes_per_s": 0.0 if machine else None,
                    "throttled_per_s": None,
                }
            )
    for kind, per_message in (("producer", 24.1), ("consumer", 11.9), ("broker", 31.5)):
        if kind != "consumer" or case.load.consumers:
            figures = {
                "processes": 2,
                "cpu_s": 20.0,
                "busiest_cores": 0.42,
                "cpu_us_per_message": per_message,
            }
            rows["cpu"].append({"case": case.id, "kind": kind} | figures)


def _add_verdict(rows: Rows, case: Case, status: str, faults: dict[str, int], invalid: bool) -> None:
    faulty = [cause(CauseCode(name), message_count=count) for name, count in faults.items()]
    doubts = [cause(CauseCode.GENERATOR_LATE, lag_p99_ms=260.0, latency_p99_ms=262.0)] if invalid else []
    rows["verdicts"].append(
        {
            "case": case.id,
            "status": status,
            "integrity": "lost" if faults else "ok",
            "validity": "invalid" if invalid else "valid",
            "bottleneck": "broker" if status == "failed" else "none",
            "drift_ms_per_s": 0.0021,
            "noise_floor_p99_ms": None if status == "failed" else 0.21,
        }
    )
    why = [cause(CauseCode.LOAD_HELD, lag_p99_ms=0.5, busiest_producer_cores=0.6)]
    notes = [] if case.load.consumers else [cause(CauseCode.NO_CONSUMERS)]
    said = {"integrity": faulty, "validity": doubts, "bottleneck": why, "note": notes}
    for verdict, found in said.items():
        rows["causes"] += cause_rows(case.id, verdict, found)
    rows["clocks"] += [
        {
            "case": case.id,
            "agent": task.agent,
            "hostname": "bench-1",
            "offset_ms": 0.0,
            "error_ms": 0.0004,
            "drift_ppm": 0.0,
            "readings": 0,
        }
        for task in case.agents
    ]


def _write(run: RunDir, plan: Plan, rows: Rows, status: RunStatus) -> None:
    write_plan(plan, run)
    write_status(run, status)
    run.write_json(run.environment, environment())
    for table in RESULT_TABLES:
        if table.name == "messages":
            continue
        content = pa.Table.from_pylist(rows[table.name], schema=table.arrow_schema())
        folder = run.local(run.result(table.name))
        folder.mkdir(parents=True)
        pq.write_table(content, folder / "part-00000.parquet")
        (folder / "_SUCCESS").touch()


def doubtful(run: RunDir) -> RunDir:
    """The same, of which no case may be quoted: too few seconds were measured of each."""
    doubt = cause(CauseCode.TOO_SHORT, second_count=2, needed_count=5)
    verdicts, causes = (_part(run, name) for name in ("verdicts", "causes"))
    judged = pq.read_table(verdicts).to_pylist()
    said = pq.read_table(causes).to_pylist()
    for row in judged:
        row["validity"] = "invalid"
        said += cause_rows(row["case"], "validity", [doubt])
    for file, rows in ((verdicts, judged), (causes, said)):
        pq.write_table(pa.Table.from_pylist(rows, schema=pq.read_schema(file)), file)
    return run


def _part(run: RunDir, table: str) -> Path:
    return run.local(run.result(table)) / "part-00000.parquet"


def cases_of_run(run: RunDir) -> list[CaseFigures]:
    """The cases of its document."""
    document = results_document(run)
    assert isinstance(document, CasesDocument)
    return document.cases


def environment() -> dict[str, Any]:
    return {
        "machine": "bench-1 <b>bold</b>",
        "cpu": "AMD EPYC 7B13",
        "cores": 2,
        "memory_bytes": 8 * 2**30,
        "kernel": "Linux 6.8.0",
        "python": "3.12.1",
        "master": "local[4]",
        "versions": {"streamgauge": "0.1.0", "confluent-kafka": "2.16.0", "librdkafka": "2.16.0"},
        "system": {"kind": "kafka_cluster", "brokers": 1, "properties": {"num.network.threads": 3}},
        "clients": {
            "kafka": {
                "producer": {"linger.ms": "0", "client.id": HOSTILE, "acks": "-1"},
                "consumer": {"fetch.wait.max.ms": "500"},
            }
        },
    }
