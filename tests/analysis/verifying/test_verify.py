"""Checkers checked: runs with every kind of defect, all of which have to be found, and clean ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pyarrow.parquet as pq
import pytest

from streamgauge.analysis.feeding.event_files import checked_events
from streamgauge.analysis.feeding.here import feed_here
from streamgauge.analysis.pipeline import analyze_with
from streamgauge.analysis.verifying import fates, log_places
from streamgauge.analysis.verifying.verify import undecided, verify
from streamgauge.core.findings import FindingKind, Question, Verification
from streamgauge.core.run_dir import RunDir
from streamgauge.core.status import CaseStatus
from streamgauge.drivers.kafka.driver import ClientSettings
from streamgauge.plan.plan_file import read_plan
from streamgauge.tables import events
from streamgauge.tables.results import CAUSES
from tests.analysis.recorded import SECOND, START_NS, CaseEvents, Recorded
from tests.analysis.verifying.logs import (
    CLEAN,
    DEFECTS,
    MadeLog,
    Planted,
    clean_log,
    duplicate,
    group_log,
    retried_log,
)
from tests.proof import PROOF

ROUNDS = 16 if PROOF else 2
"""Of every defect; in a proof that makes 208 runs with one, and as many without."""


def verified(run: Recorded) -> Verification:
    plan = read_plan(run.run)
    groups = [
        group for table in (events.SENDS, events.RECEIVES) for group in checked_events(run.run, plan, table)
    ]
    feed_here(run.run, plan, groups, {})
    return verify(run.run, plan, groups).found


def _no_spark() -> NoReturn:
    raise AssertionError("so little needs no Spark")


def recorded(
    folder: Path, *cases: CaseEvents, rows_a_group: int | None = None, idempotent: bool = True
) -> Recorded:
    run = Recorded(folder)
    for case in cases:
        run.add(case)
    run.write(rows_a_group) if rows_a_group else run.write()
    told = {"producer": {"enable.idempotence": idempotent}}
    run.run.write_json(run.run.environment, {"clients": {"t": told}})
    return run


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.__name__)
def test_no_defect_leaves_a_case_with_all_accounted_for(
    defect: Callable[[MadeLog], Planted], tmp_path: Path
) -> None:
    log = clean_log("1", 1001)
    defect(log)
    run = recorded(tmp_path, log.events(), clean_log("2", 1002).events()).run
    analyze_with(_no_spark, run)
    causes = pq.read_table(run.url(run.result(CAUSES.name))).to_pylist()
    found, clean = (
        {row["code"] for row in causes if row["case"] == case and row["verdict"] == "integrity"}
        for case in ("001", "002")
    )
    of_producers = {"failed", "no_outcome"}
    assert clean <= of_producers, "what was said to have failed, or was never heard of, is no defect"
    assert found - of_producers


@pytest.mark.proof
@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.__name__)
def test_every_planted_defect_is_found_counted_and_pointed_at(
    defect: Callable[[MadeLog], Planted], tmp_path: Path
) -> None:
    made = [clean_log(f"{seed}", 1000 + seed) for seed in range(ROUNDS)]
    planted = [defect(log) for log in made]

    found = verified(recorded(tmp_path, *(log.events() for log in made), rows_a_group=37)).cases

    for case, wanted in zip(found, planted, strict=True):
        finding = next(one for one in case.findings if one.kind is wanted.kind)
        assert finding.count == wanted.count, case
        assert finding.allowed_by is None
        assert any(
            all(getattr(example, name) == value for name, value in wanted.example.items())
            for example in finding.examples
        ), (finding, wanted)
        assert {one.kind for one in case.findings} <= {wanted.kind, *wanted.beside}, (case, wanted)
        assert not case.is_good


@pytest.mark.proof
@pytest.mark.parametrize("clean", [*CLEAN, retried_log], ids=lambda clean: clean.__name__)
def test_a_log_that_keeps_its_promises_raises_no_alarm(
    clean: Callable[[str, int], MadeLog], tmp_path: Path
) -> None:
    made = [clean(f"{seed}", seed) for seed in range(ROUNDS * len(DEFECTS))]
    events = [log.events() for log in made]

    found = verified(recorded(tmp_path, *events, rows_a_group=37, idempotent=clean is not retried_log))

    assert found.is_good
    assert found.is_decided
    assert all(case.received and case.acked and case.partitions for case in found.cases)
    kinds = {one.kind for case in found.cases for one in case.findings}
    assert kinds <= ALLOWED.get(clean, set())


ALLOWED: dict[Callable[[str, int], MadeLog], set[FindingKind]] = {
    group_log: {FindingKind.REDELIVERED, FindingKind.NONMONOTONIC_POLL},
    retried_log: {FindingKind.DUPLICATE, FindingKind.REORDERED},
}
"""Nobody promised otherwise."""


def read_again(times: int, dealt_at_s: list[int], *, is_drained: bool = True) -> CaseEvents:
    """A member of a group that reads ten messages, and every 10 s once more the last three of them."""
    case = CaseEvents("group", load={"subscription": "group"})
    sent = [case.send(sequence) for sequence in range(10)]
    for send in sent:
        case.receive(send)
    for again in range(1, times + 1):
        for send in sent[-3:]:
            case.receive(send, received_ns=START_NS + again * 10 * SECOND)
    for at_s in dealt_at_s:
        case.mark("consumer", 0, events.DEALT_MARK, START_NS + at_s * SECOND)
    if is_drained:
        case.mark("consumer", 0, events.DRAINED_MARK, START_NS + 100 * SECOND)
    return case


@pytest.mark.parametrize(
    ("case", "is_allowed"),
    [
        (read_again(1, [-5, 9]), True),
        (read_again(2, [-5, 9, 19]), True),
        (read_again(2, [-5, -4, 9, 19]), True),
        (read_again(1, [-5]), False),
        (read_again(1, [-5, -4]), False),
        (read_again(2, [-5, 9]), False),
        (read_again(1, [-5, 11]), False),
        # Libraries that tell nothing, and members that were killed with their last marks.
        (read_again(1, []), True),
        (read_again(1, [-5], is_drained=False), True),
    ],
)
@pytest.mark.parametrize("rows_a_group", [3, 100])
def test_a_member_goes_back_only_when_its_group_has_dealt_anew(
    case: CaseEvents, is_allowed: bool, rows_a_group: int, tmp_path: Path
) -> None:
    found = verified(recorded(tmp_path, case, rows_a_group=rows_a_group)).cases[0]

    back, again = found.findings
    assert [one.kind for one in (back, again)] == [FindingKind.NONMONOTONIC_POLL, FindingKind.REDELIVERED]
    assert [one.allowed_by is not None for one in (back, again)] == [is_allowed] * 2
    assert back.count * 3 == again.count
    assert back.examples[0].offset == 7


def test_what_is_found_can_be_read_again_from_the_run_folder(tmp_path: Path) -> None:
    made = clean_log("one", 7)
    made.logs[0, 0].pop(3)
    run = recorded(tmp_path, made.events())

    found = verified(run)

    stored = Verification.model_validate_json(RunDir(run.run.location).read_text(RunDir.verification))
    assert stored == found
    assert stored.cases[0].findings[0].examples[0].topic == "topic-a"


@pytest.mark.parametrize(
    ("own", "is_allowed"),
    [({}, True), ({"enable.idempotence": True}, False)],
    ids=["by librdkafka's default", "asked for"],
)
def test_duplicates_are_judged_by_the_idempotence_that_a_kafka_producer_told(
    own: dict[str, bool], is_allowed: bool, tmp_path: Path
) -> None:
    made = clean_log("one", 3)
    log = made.logs[0, 0]
    log.append(dict(log[2], offset=log[-1]["offset"] + 1))
    run = recorded(tmp_path, made.events())
    told = ClientSettings("librdkafka", "producer", {}, own).untold()
    run.run.write_json(run.run.environment, {"clients": {"t": {"producer": told}}})

    [finding] = verified(run).cases[0].findings

    assert finding.kind is FindingKind.DUPLICATE
    assert (finding.allowed_by is not None) == is_allowed


def test_what_is_beyond_what_can_be_kept_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = clean_log("one", 3)
    duplicate(made)
    log = made.logs[0, 0]
    acked = [record for record in log if record["send"]["offset"] is not None]
    for number, record in enumerate(acked[:2]):
        record["send"]["offset"] = 1_000_000 + number
    monkeypatch.setattr(fates, "MOST_REPEATED", 0)
    monkeypatch.setattr(log_places, "MOST_KEPT", 1)

    [case] = verified(recorded(tmp_path, made.events())).cases

    copies, places = (one for one in case.not_checked if "beyond the first" in one)
    assert copies.endswith("beyond the first 0 that came more than once")
    assert places == "messages that are not where they were acknowledged, beyond the first 1"
    assert case.unanswered == (Question.COPIES, Question.OFFSETS)
    assert not case.is_decided


def test_a_transport_without_a_log_promises_no_offsets(tmp_path: Path) -> None:
    run = recorded(tmp_path, clean_log("one", 3).events())
    run.run.write_json(run.run.environment, {"systems": {"t": {"capabilities": {"replayable": False}}}})

    [case] = verified(run).cases

    assert case.unanswered == (Question.OFFSETS,)
    assert case.is_decided


def test_a_case_that_was_not_run_as_planned_does_not_spoil_the_others() -> None:
    skipped = CaseStatus("ok", "not run: an earlier case did not hold", is_skipped=True)

    assert list(undecided(CaseStatus("ok"), acked=1, received=0)) == []
    assert [one.partition(":")[0] for one in undecided(skipped, acked=0, received=0)] == ["everything"]
