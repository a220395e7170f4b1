"""Whatever is wrong with the input: one clear line that names it, the right exit code, no traceback."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import pytest

from streamgauge.launch import target_run
from streamgauge.plan.plan_file import make_plan
from streamgauge.spec.loading import load_workload
from tests.cli.streamgauge_command import Streamgauge, in_process

GOOD = """
targets: [{name: sim, driver: simulated}]
load: {messages: 100, rate: 1k/s}
"""


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("load: {", "load: {colour: red, "), "w.yaml: load.colour: unknown field"),
        (("1k/s", "5 parsec"), "w.yaml: load.rate: '5 parsec' is not a rate; allowed:"),
        (("1k/s", "-5"), "w.yaml: load.rate: -5 is not a rate: it must not be negative"),
        (
            ("1k/s", "1k/s, message: {size: 8, header_in: value}"),
            "size 8 is below the 32 bytes of the header",
        ),
        (("1k/s", "1k/s, message: {size: {lines_of: no.txt}}"), "no.txt: no such file"),
        (("1k/s", "1k/s, consumers: 3"), "load.consumers: 3 consumers for 1 partitions"),
        (("simulated}", "simulated, settings: {speed: 1}}"), "target sim: settings: speed: unknown field"),
        (("simulated}", "telepathy}"), "there is no driver 'telepathy'; allowed:"),
        (("simulated}", "simulated, client: {a: '${NO_SUCH_NAME}'}}"), "the environment has no NO_SUCH_NAME"),
        (("simulated}", "simulated, client: {sasl.password: x}}"), "holds a secret in the clear"),
        (("simulated}", "simulated, system: {brokers: 2}}"), "allowed: 1, 3 or 5"),
        (("load: {", "load: ["), "w.yaml: is not valid YAML"),
        (("targets:", "sweep: {no.such: [1]}\ntargets:"), "sweep.no.such: there is no such field in `load`"),
        (("targets:", "sweep: {rate: []}\ntargets:"), "sweep.rate: has no values"),
    ],
)
def test_a_wrong_workload(tmp_path: Path, change: tuple[str, str], words: str) -> None:
    file = tmp_path / "w.yaml"
    file.write_text(GOOD.replace(*change))
    done = in_process("run", file, "--out", tmp_path / "runs")
    assert done.returncode == 2, done.stderr
    assert words in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "runs").exists(), "nothing is left behind by what never ran"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "missing.yaml"), "missing.yaml: cannot be read: No such file or directory"),
        (("results", "runs/nothing"), "runs/nothing: no such run folder"),
        (("analyze", "."), "not a run folder: it has no plan.json"),
        (("e2e", "--message-size", "1 parsec"), "e2e: load.message.size: '1 parsec' is not a size in bytes"),
        (("e2e", "--test-produce-rate", "-1"), "e2e: load.rate: '-1' is not a rate"),
        (
            ("e2e", "--replicas", "3"),
            "topics.replicas: 3 replicas need as many brokers; target kafka has 1",
        ),
        (("e2e", "--bootstrap", "a:1", "--brokers", "3"), "--brokers is for the embedded Kafka"),
        (("e2e", "--master", "local[1]"), "2 agents need 2 Spark slots at once, it has 1"),
        (("e2e", "--target", "no.yaml"), "no.yaml: cannot be read"),
        (("sweep", "--partitions", "8:1:1"), "--partitions: '8:1:1' is an empty range: 8 is above 1"),
        (("sweep", "--partitions", "1:8:*1"), "--partitions: '1:8:*1' is a range that never ends"),
        (("sweep", "--topics", ","), "--topics: has no values"),
        (("sweep", "--message-size", "big"), "load.message.size: 'big' is not a size in bytes"),
        (("sweep", "--acks", "2"), "load.acks: must be '0', '1' or 'all', not '2'"),
        (("sweep", "--stream-size", "10", "--message-size", "64"), "10 bytes hold no message of 64 bytes"),
        (("sweep", "--stream-size", "64,10"), "sweep: load: stream_size: 10 bytes hold no message"),
        (("sweep", "--replicas", "3"), "3 replicas need as many brokers; target kafka has 1"),
        (("sweep", "--eos"), "--eos: exactly once needs --acks all; it is --acks 1"),
        (
            ("sweep", "--case", "colour=red"),
            "'colour=red' is not knob=value; knobs: topics",
        ),
        (("sweep", "--case", "completions=maybe"), "'maybe' is neither true nor false"),
        (("sweep", "--acks", "1,all", "--case", "acks=0"), "cases: acks is swept, too"),
        (("sweep", "--eos", "--acks", "1,all"), "--eos: exactly once needs --acks all; it is --acks 1,all"),
        (("sweep", "--case", "eos=true"), "--case eos=true: exactly once needs acks=all in it"),
        (("sweep", "--resume", "runs/nothing"), "runs/nothing: no such run folder"),
        (("run",), "run: give a workload, or --resume and a run"),
    ],
)
def test_a_wrong_command_line(tmp_path: Path, arguments: tuple[str, ...], words: str) -> None:
    state = {"STREAMGAUGE_STATE": str(tmp_path / "state")}
    done = in_process(*arguments, cwd=tmp_path, env=state)
    assert done.returncode == 2, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "runs").exists()


@pytest.mark.spark
def test_a_broker_that_cannot_be_reached(
    run_here: Streamgauge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(target_run, "REACH_DEADLINE_S", 1.5)
    done = run_here("e2e", "--bootstrap", "127.0.0.1:1", "--out", tmp_path)
    assert done.returncode == 3
    assert "Kafka at 127.0.0.1:1 did not answer within 1.5 s" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.spark
def test_what_only_spark_can_refuse_leaves_no_run_folder_either(
    run_here: Streamgauge, tmp_path: Path
) -> None:
    file = tmp_path / "w.yaml"
    file.write_text(GOOD)
    done = run_here("run", file, "--master", "nonsense", "--out", tmp_path / "runs")
    assert done.returncode == 2, done.stderr
    assert "--master nonsense: Spark cannot start" in done.stderr
    assert "go on with" not in done.stderr
    assert list((tmp_path / "runs").iterdir()) == []


def test_print_workload_is_a_workload(tmp_path: Path) -> None:
    """What `e2e` builds can be saved, and read back the same."""
    printed = in_process(
        "e2e", "--print-workload", "--test-produce-messages", "5k", "--partitions", "3"
    ).stdout
    file = tmp_path / "w.yaml"
    file.write_text(printed)
    again = in_process("run", file, "--print-workload")
    assert again.returncode == 0, again.stderr
    assert again.stdout == printed
    assert "messages: 5000" in printed
    assert "partitions: 3" in printed


def test_what_sweep_makes_is_a_workload_too(tmp_path: Path) -> None:
    flags = ("--partitions", "1:4:*2", "--message-size", "64,1KiB", "--acks", "1,-1", "--iterations", "2")
    listed = ("--case", "topics=2,completions=no", "--case", "topics=3")
    printed = in_process("sweep", "--print-workload", *flags, *listed).stdout
    file = tmp_path / "w.yaml"
    file.write_text(printed)
    again = in_process("run", file, "--print-workload")
    assert again.returncode == 0, again.stderr
    assert again.stdout == printed
    cases = list(make_plan(load_workload(file), "run").cases)
    assert len(cases) == 2 * 2 * 3 * 2 * 2
    assert {(case.load.topics.count, case.load.completions) for case in cases} == {(2, False), (3, True)}
    assert {case.load.acks for case in cases} == {"1", "all"}


def test_help_names_every_command() -> None:
    printed = in_process("--help").stdout
    for name in ("run", "e2e", "sweep", "limit", "plot", "cluster", "analyze", "report", "results", "runs"):
        assert f" {name} " in printed


def test_it_says_which_version_it_is() -> None:
    done = in_process("--version")
    assert (done.returncode, done.stdout) == (0, f"streamgauge {version('streamgauge')}\n")
