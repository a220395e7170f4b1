"""What a log is judged by: the settings in force, as clients told them or as the plan gave them."""

from __future__ import annotations

from typing import Any

import pytest

from streamgauge.analysis.verifying.promises import Promises, promises_of
from streamgauge.core.findings import FindingKind
from streamgauge.core.status import CaseStatus
from streamgauge.drivers.kafka.driver import ClientSettings
from streamgauge.plan.cases import Case
from streamgauge.spec.target import Target
from tests.analysis.recorded import CaseEvents

ENDED = CaseStatus("ok")
MAY_BE_ALLOWED = {
    FindingKind.DUPLICATE,
    FindingKind.REORDERED,
    FindingKind.REDELIVERED,
    FindingKind.NONMONOTONIC_POLL,
    FindingKind.ABORTED_READ,
    FindingKind.UNSEEN,
    FindingKind.UNEXPECTED,
}


def planned(load: dict[str, Any] | None = None, **target: Any) -> Case:
    case = CaseEvents("one", load=load or {}).planned("001")
    return case.model_copy(update={"target": Target(name="t", driver="kafka_confluent", **target)})


def noted(**clients: dict[str, Any]) -> dict[str, Any]:
    return {"clients": {"t": clients}}


def of_librdkafka(wanted: dict[str, Any], native: dict[str, Any]) -> dict[str, Any]:
    return ClientSettings("librdkafka", "producer", wanted, native).untold()


def test_what_nobody_promised_is_counted_but_no_broken_promise() -> None:
    loose = Promises(is_idempotent=False, in_group=True, reads_uncommitted=True, is_whole=False)
    for kind in FindingKind:
        assert (loose.allowed_by(kind) is not None) == (kind in MAY_BE_ALLOWED)
        assert Promises().allowed_by(kind) is None
    for kind in (FindingKind.REDELIVERED, FindingKind.NONMONOTONIC_POLL):
        assert loose.allowed_by(kind, went_back_unasked=True) is None
    for kind in (FindingKind.DUPLICATE, FindingKind.REORDERED):
        assert "not known" in str(Promises(is_idempotent=None).allowed_by(kind))


@pytest.mark.parametrize(
    ("settings", "is_idempotent"),
    [
        ({"enable.idempotence": False}, False),
        ({"enable.idempotence": "true"}, True),
        ({"enable_idempotence": True}, True),
        ({"enable.idempotence": False, "transactional.id": "t"}, True),
        (of_librdkafka({}, {}), False),  # its default
        (of_librdkafka({"idempotence": True}, {}), True),
        (of_librdkafka({"idempotence": True}, {"enable.idempotence": "false"}), False),
        (of_librdkafka({}, {"transactional.id": "t"}), True),
        ({"a library": "without the word"}, True),
    ],
)
def test_idempotence_is_what_clients_told(settings: dict[str, Any], is_idempotent: bool) -> None:
    assert promises_of(noted(producer=settings), planned(), ENDED).is_idempotent is is_idempotent


@pytest.mark.parametrize(
    ("target", "is_idempotent"),
    [
        ({"producer_client": {"enable.idempotence": True}}, True),
        ({"client": {"enable.idempotence": "false"}}, False),
        ({"settings": {"idempotence": True}}, True),
        ({"settings": {"idempotence": True}, "producer_client": {"enable.idempotence": False}}, False),
        ({}, None),
    ],
)
@pytest.mark.parametrize("environment", [{}, noted(consumer={"group.id": "g"})])
def test_of_a_run_that_was_killed_it_is_what_was_planned(
    target: dict[str, Any], is_idempotent: bool | None, environment: dict[str, Any]
) -> None:
    assert promises_of(environment, planned(**target), ENDED).is_idempotent is is_idempotent


def test_a_driver_that_has_no_settings_to_tell_is_expected_to_keep_every_promise() -> None:
    assert promises_of(noted(), planned(), ENDED).is_idempotent is True


def test_transactions_are_idempotent() -> None:
    assert promises_of({}, planned({"transactions": {}, "acks": "all"}), ENDED).is_idempotent is True


@pytest.mark.parametrize(
    ("consumer", "target", "is_uncommitted"),
    [
        ({"isolation.level": "read_uncommitted"}, {}, True),
        ({"isolation.level": "read_committed"}, {"client": {"isolation.level": "read_uncommitted"}}, False),
        ({}, {"consumer_client": {"isolation.level": "read_uncommitted"}}, True),
        ({}, {}, False),
    ],
)
def test_who_reads_what_was_aborted_by_its_own_settings_breaks_no_promise(
    consumer: dict[str, Any], target: dict[str, Any], is_uncommitted: bool
) -> None:
    assert promises_of(noted(consumer=consumer), planned(**target), ENDED).reads_uncommitted is is_uncommitted


@pytest.mark.parametrize(
    ("ended", "is_whole"),
    [
        (CaseStatus("ok"), True),
        (CaseStatus("partial", "not done in time"), True),
        (CaseStatus("partial", "consumer-0 died", is_broken_off=True), False),
        (CaseStatus("partial", "cut off", is_cut_off=True), False),
        (CaseStatus("failed"), False),
        (CaseStatus("running"), False),
        (None, False),
    ],
)
def test_the_end_of_a_log_is_judged_only_where_everybody_came_to_it(
    ended: CaseStatus | None, is_whole: bool
) -> None:
    assert promises_of({}, planned(), ended).is_whole is is_whole
