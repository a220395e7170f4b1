"""Trouble that is planted in real runs is named as the reason why figures may not be quoted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

from streamgauge.agents.rendezvous import Start
from streamgauge.analysis.pipeline import analyze_with
from streamgauge.cli.exit_codes import NOT_DECIDABLE_EXIT_CODE, NOT_OK_EXIT_CODE
from streamgauge.core.clock import NS_PER_MS, NS_PER_S, ClockReading
from streamgauge.core.outcomes import Outcome
from streamgauge.core.run_dir import RunDir
from streamgauge.report.case_document import Case, CasesDocument
from streamgauge.report.results import results_document
from tests.cli.streamgauge_command import Streamgauge, log_of, one_run
from tests.launch import simulated_run
from tests.waiting import beside

REAL_TIME: dict[str, Any] = {
    "kind": "e2e",
    "name": "trouble",
    # Nothing but memory between producer and consumer: whatever takes time is not the transport.
    "targets": [{"name": "memory", "driver": "simulated", "settings": {"time": "real"}}],
    "load": {"messages": 1500, "rate": 500, "warm_up_messages": 0},
}
STOPPED_S, RUNNING_S = 0.3, 0.3


Measured = Callable[..., tuple[int, Case]]


@pytest.fixture
def measured(run_here: Streamgauge, tmp_path: Path) -> Measured:
    """The exit code of a run, and its case; `meanwhile` is called over and over while it goes on."""

    def measure(meanwhile: Callable[[Path], None], *flags: str) -> tuple[int, Case]:
        file, out = tmp_path / "trouble.yaml", tmp_path / "runs"
        file.write_text(yaml.safe_dump(REAL_TIME))
        is_over = threading.Event()

        def trouble() -> None:
            while not is_over.is_set():
                meanwhile(out)

        with beside(trouble):
            try:
                done = run_here("run", file, "--out", out, *flags)
            finally:
                is_over.set()
        assert done.returncode in (0, NOT_OK_EXIT_CODE, NOT_DECIDABLE_EXIT_CODE), done.stderr
        document = results_document(RunDir.open(str(one_run(out))))
        assert isinstance(document, CasesDocument)
        return done.returncode, document.cases[0]

    return measure


def agents(out: Path, role: str) -> list[int]:
    """Processes whose log is that of an agent of this role, in the only run there is."""
    return [pid for pid in psutil.pids() if log_of(pid).startswith(str(out)) and f"/{role}-" in log_of(pid)]


def causes(case: Case) -> dict[str, dict[str, float]]:
    return {cause.code.value: dict(cause.figures) for cause in case.validity.causes}


def outcomes(case: Case) -> dict[str, Outcome]:
    return {found.objective: found.outcome for found in case.objectives}


@pytest.mark.spark
def test_a_producer_that_is_stopped_now_and_then_is_named_as_late(measured: Measured) -> None:
    def stop_and_go(out: Path) -> None:
        producers = agents(out, "producer")
        for sign, wait_s in ((signal.SIGSTOP, STOPPED_S), (signal.SIGCONT, RUNNING_S)):
            for pid in producers:
                with suppress(ProcessLookupError):
                    os.kill(pid, sign)
            time.sleep(wait_s)

    asked = ("--slo", "p99<1h", "--slo", "lost=0")
    code, case = measured(stop_and_go, *asked)
    found = causes(case)["generator_late"]
    # As late as it was stopped for, and that is all that the latency consists of.
    assert found["lag_p99_ms"] > 0.5 * STOPPED_S * 1000
    assert found["lag_p99_ms"] > 0.8 * found["latency_p99_ms"]
    assert case.integrity.verdict == "ok"
    # A bound as lax as that is not held by a figure that may not be quoted; counts are exact.
    assert outcomes(case) == {"p99<3600000ms": Outcome.NOT_DECIDABLE, "lost=0": Outcome.MET}
    assert code == NOT_DECIDABLE_EXIT_CODE


@pytest.mark.spark
def test_a_machine_without_cpu_left_is_named(measured: Measured) -> None:
    with burners() as burn:

        def while_there_are_agents(out: Path) -> None:
            burn(bool(agents(out, "producer")))
            time.sleep(0.2)

        code, case = measured(while_there_are_agents, "--slo", "valid")
    assert causes(case)["no_cpu_left"]["machine_busy_share"] > 0.9
    assert outcomes(case) == {"valid": Outcome.MISSED}
    assert code == NOT_OK_EXIT_CODE


@pytest.mark.spark
def test_a_fault_that_never_came_is_named_and_no_pass(run_here: Streamgauge, tmp_path: Path) -> None:
    faults = [{"kind": "topic_delete", "at": "10m"}]
    file, out = tmp_path / "trouble.yaml", tmp_path / "runs"
    # Nobody knows beforehand that it takes less than ten minutes.
    load = {"messages": 1500, "rate": "unlimited", "warm_up_messages": 0, "faults": faults}
    file.write_text(yaml.safe_dump(REAL_TIME | {"load": load}))

    done = run_here("run", file, "--out", out)

    document = results_document(RunDir.open(str(one_run(out))))
    assert isinstance(document, CasesDocument)
    [case] = document.cases
    assert done.returncode == NOT_DECIDABLE_EXIT_CODE, done.stderr
    assert causes(case)["fault_not_as_planned"] == {"fault_count": 1}
    assert "fault_during_measuring" not in causes(case)


@contextmanager
def burners() -> Iterator[Callable[[bool], None]]:
    """Whether every core is to be kept busy from now on; it ends with the context, or with us."""
    started: list[subprocess.Popen[bytes]] = []
    parent = os.getpid()
    loop = f"import os\nwhile os.getppid() == {parent}:\n for _ in range(10**6): pass"

    def burn(is_wanted: bool) -> None:
        if is_wanted and not started:
            count = 2 * (os.cpu_count() or 1)
            started.extend(subprocess.Popen([sys.executable, "-c", loop]) for _ in range(count))
        while started and not is_wanted:
            process = started.pop()
            process.kill()
            process.wait()

    try:
        yield burn
    finally:
        burn(False)


@pytest.mark.parametrize(
    ("consumer_offset_ms", "error_ms", "figure", "least"),
    [
        # Nobody knows by how much the clocks of the hosts are apart: more than the latency is long.
        (0.0, 5.0, "clock_error_ms", 5.0),
        # The offset that was stored is wrong: messages are received before they are sent.
        (-3.0, 0.1, "below_zero_count", 1999),
    ],
)
def test_a_clock_error_that_is_large_against_the_latency_is_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    consumer_offset_ms: float,
    error_ms: float,
    figure: str,
    least: float,
) -> None:
    class HostsApart(simulated_run.OneAfterAnother):
        """Producer and consumer on two hosts: each is told how its clock stands to the reference."""

        def __init__(self) -> None:
            super().__init__()
            self._offsets_ns = iter((0, round(consumer_offset_ms * NS_PER_MS)))
            self._at_ns: int | None = None

        def ready(self, reading: ClockReading, meanwhile: Callable[[], object]) -> Start:
            self._at_ns = self._at_ns or reading.monotonic_ns + 3600 * NS_PER_S
            return Start(self._at_ns, next(self._offsets_ns), round(error_ms * NS_PER_MS))

    monkeypatch.setattr(simulated_run, "OneAfterAnother", HostsApart)
    run, _ = simulated_run.simulate(
        tmp_path,
        [{"latency": {"law": "constant", "median_ms": 1.0}}],
        {"messages": 2000, "rate": 400, "warm_up_messages": 0},
    )
    analyze_with(lambda: pytest.fail("Spark was asked for"), run)
    document = results_document(run)
    assert isinstance(document, CasesDocument)
    [case] = document.cases
    assert set(causes(case)) == {"clock_error"}
    assert causes(case)["clock_error"][figure] >= least
    assert max(clock.error_ms or 0.0 for clock in case.clocks) == pytest.approx(error_ms, rel=0.01)
    # Nothing was dropped for it.
    assert case.latency_ms.intended_to_received.count == 2000


def test_without_trouble_nothing_is_named(tmp_path: Path) -> None:
    run, _ = simulated_run.simulate(tmp_path, [{}], {"messages": 2000, "rate": 400, "warm_up_messages": 0})
    analyze_with(lambda: pytest.fail("Spark was asked for"), run)
    document = results_document(run)
    assert isinstance(document, CasesDocument)
    assert causes(document.cases[0]) == {}
