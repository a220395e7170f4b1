"""`streamgauge verify`: the exit code says whether a promise is broken."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from streamgauge.core.status import CaseStatus
from tests.analysis.recorded import CaseEvents, Recorded
from tests.analysis.verifying.logs import MadeLog, clean_log, duplicate, lost_write

from .streamgauge_command import in_process


def run_of(folder: Path, made: MadeLog) -> Recorded:
    run = Recorded(folder)
    run.add(made.events())
    run.write()
    run.run.write_json(run.run.environment, {"clients": {"t": {"producer": {"enable.idempotence": "false"}}}})
    return run


def test_a_log_that_keeps_its_promises_passes_and_is_analysed_if_it_was_not(tmp_path: Path) -> None:
    run = run_of(tmp_path, clean_log("clean", 1))

    done = in_process("verify", run.run.location)

    assert done.returncode == 0
    assert re.fullmatch(r"analysing: \d+\.\d s\n", done.stderr), "nothing else is said"
    assert "none lost" in done.stdout
    assert run.run.has(run.run.verification)


def test_a_lost_write_fails_and_is_pointed_at(tmp_path: Path) -> None:
    made = clean_log("lost", 2)
    planted = lost_write(made)
    run = run_of(tmp_path, made)

    done = in_process("verify", run.run.location)
    found = json.loads(in_process("verify", run.run.location, "--json").stdout)

    message = f"producer {planted.example['producer']} #{planted.example['sequence']}"
    assert done.returncode == 1
    assert message in done.stdout
    [finding] = found["cases"][0]["findings"]
    assert (finding["kind"], finding["count"], finding["allowed_by"]) == ("lost_write", 1, None)


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (None, "the case was not begun"),
        (CaseStatus("failed", "no broker"), "the case did not end as planned (no broker)"),
        (CaseStatus("partial", "cut off", is_cut_off=True), "the case did not end as planned (cut off)"),
    ],
)
@pytest.mark.parametrize("recorded", [True, False], ids=["something", "nothing"])
def test_a_case_that_did_not_end_neither_passes_nor_fails(
    status: CaseStatus | None, words: str, recorded: bool, tmp_path: Path
) -> None:
    case = clean_log("cut off", 4).events() if recorded else CaseEvents("cut off")
    run = Recorded(tmp_path)
    run.add(replace(case, status=status))
    run.write()

    done = in_process("verify", run.run.location)

    assert done.returncode == 5
    assert words in done.stdout
    assert ("none lost" in done.stdout) == recorded


@pytest.mark.parametrize(
    ("load", "question", "claims"),
    [
        (
            {"consumers": 0},
            "what arrives: there is no consumer",
            "nothing can be said of what became of them",
        ),
        (
            {"completions": False},
            "lost writes: producers were not told what became of their messages",
            "none written twice, none out of order, offsets agree",
        ),
    ],
)
def test_what_nobody_looked_at_does_not_pass_and_is_not_claimed(
    load: dict[str, Any], question: str, claims: str, tmp_path: Path
) -> None:
    made = clean_log("unanswered", 1)
    case = made.events()
    case.load = made.load | load
    if not case.planned("001").load.consumer_count:
        case.receives = []
    if not case.planned("001").load.completions:
        case.sends = [send | {"acked_ns": None, "error": None} for send in case.sends]
    run = Recorded(tmp_path)
    run.add(case)
    run.write()

    done = in_process("verify", run.run.location)

    assert done.returncode == 5
    assert f": {claims}. Not checked: {question}." in done.stdout
    assert "none lost" not in done.stdout


def test_a_case_that_ended_well_with_nothing_in_it_says_nothing(tmp_path: Path) -> None:
    run = Recorded(tmp_path)
    run.add(CaseEvents("empty"))
    run.write()

    done = in_process("verify", run.run.location)

    assert done.returncode == 5
    assert "nothing was acknowledged, and nothing received" in done.stdout


def test_a_case_that_did_not_end_and_lost_something_fails(tmp_path: Path) -> None:
    made = clean_log("lost", 2)
    lost_write(made)
    run = Recorded(tmp_path)
    run.add(replace(made.events(), status=CaseStatus("failed", "no broker")))
    run.write()

    assert in_process("verify", run.run.location, "--quiet").returncode == 1


CUT_OFF = CaseStatus("partial", "cut off", is_cut_off=True)


@pytest.mark.parametrize(
    ("partitions", "status", "count", "code"),
    [(2, CUT_OFF, "unseen", 5), (1, CUT_OFF, "lost_write", 1), (2, CaseStatus("ok"), "lost_write", 1)],
    ids=["read of another partition", "read of the same one", "all were read to their ends"],
)
def test_without_offsets_only_what_was_read_behind_a_message_says_that_it_is_lost(
    partitions: int, status: CaseStatus, count: str, code: int, tmp_path: Path
) -> None:
    """acks=0: the reader of one partition was ahead of the other's when the run was cut off."""
    load = {"messages": 10, "acks": "0", "topics": {"partitions": partitions}}
    case = CaseEvents("one", load=load, status=status)
    for sequence in range(10):
        send = case.send(sequence, partition=None, offset=None)
        if sequence % 2:
            case.receive(send, partition=0, offset=sequence)
    run = Recorded(tmp_path)
    run.add(case)
    run.write()

    accounting = run.analyze().row("accounting", "one", scope="case", phase="measure")
    done = in_process("verify", run.run.location)

    assert (accounting[count], accounting["lost_write"] + accounting["unseen"]) == (5, 5)
    assert f"5 {count.replace('_', ' ')}" in done.stdout
    assert done.returncode == code


@pytest.mark.parametrize(("flags", "code"), [((), 0), (("--strict",), 1)])
def test_what_the_settings_allow_fails_only_when_that_is_asked_for(
    flags: tuple[str, ...], code: int, tmp_path: Path
) -> None:
    made = clean_log("twice", 3)
    duplicate(made)
    run = run_of(tmp_path, made)

    assert in_process("verify", run.run.location, "--quiet", *flags).returncode == code
