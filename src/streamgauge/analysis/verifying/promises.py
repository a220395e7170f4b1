"""What may be expected of a case's log, by the settings that were in force."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from streamgauge.core.findings import FindingKind
from streamgauge.core.status import CaseStatus
from streamgauge.plan.cases import Case
from streamgauge.spec.target import Target

_IDEMPOTENCE = ("enable.idempotence", "enable_idempotence")
_TRANSACTIONS = ("transactional.id", "transactional_id")
_ISOLATION = ("isolation.level", "isolation_level")
_UNCOMMITTED = "read_uncommitted"

_OF_ENDS = (FindingKind.UNSEEN, FindingKind.UNEXPECTED)
"""What the end of a log shows when readers were stopped before it, or its last sends are not known."""
_OF_A_REBALANCE = (FindingKind.REDELIVERED, FindingKind.NONMONOTONIC_POLL)
_ONCE_AND_IN_ORDER = (FindingKind.DUPLICATE, FindingKind.REORDERED)


@dataclass(frozen=True)
class Promises:
    """What may be expected of a case."""

    is_idempotent: bool | None = True
    """None: nobody knows."""
    in_group: bool = False
    has_log: bool = True
    """What was sent can be read again, and lies where it lay."""
    reads_uncommitted: bool = False
    is_whole: bool = True
    """The case came to its end."""

    def allowed_by(self, kind: FindingKind, *, went_back_unasked: bool = False) -> str | None:
        """`went_back_unasked`: a member of a group went back though it was given nothing anew."""
        if kind in _ONCE_AND_IN_ORDER and self.is_idempotent is False:
            return "idempotence is off: a message that is sent again may be stored twice, and late"
        if kind in _ONCE_AND_IN_ORDER and self.is_idempotent is None:
            return "whether idempotence was on is not known: the run ended before clients told their settings"
        if kind in _OF_A_REBALANCE and self.in_group and not went_back_unasked:
            return "subscription: group: after a rebalance a member begins where the last commit was"
        if kind is FindingKind.ABORTED_READ and self.reads_uncommitted:
            return f"isolation.level: {_UNCOMMITTED}: consumers read what was aborted, too"
        if kind in _OF_ENDS and not self.is_whole:
            return "the case did not come to its end: it had not been read yet, or not been recorded"
        return None


def promises_of(noted: Mapping[str, Any], case: Case, ended: CaseStatus | None) -> Promises:
    """By what the run noted of clients and system, or what its plan gave them: then the library's default is
    not known. Where clients told their settings and said nothing of it, the most is expected.

    `ended`: None if the case was not begun."""
    clients = noted.get("clients", {}).get(case.target.name)
    producer, consumer = (_settings(clients or {}, case.target, role) for role in ("producer", "consumer"))
    system = noted.get("systems", {}).get(case.target.name, {})
    said = _first(producer, _IDEMPOTENCE)
    if case.load.transactions is not None or _first(producer, _TRANSACTIONS):
        is_idempotent: bool | None = True
    elif said is None:
        is_idempotent = True if _told(clients) else None
    else:
        is_idempotent = str(said).lower() in ("true", "1")
    return Promises(
        is_idempotent=is_idempotent,
        in_group=case.load.subscription == "group",
        has_log=bool(system.get("capabilities", {}).get("replayable", True)),
        is_whole=ended is not None and ended.is_whole,
        reads_uncommitted=str(_first(consumer, _ISOLATION)).lower() == _UNCOMMITTED,
    )


def _told(clients: Mapping[str, Any] | None) -> bool:
    """Some drivers have no settings to tell of."""
    return clients is not None and ("producer" in clients or not clients)


def _settings(clients: Mapping[str, Any], target: Target, role: str) -> Mapping[str, Any]:
    """In force; of a run that was killed, as they were planned."""
    if told := clients.get(role):
        return dict(told)
    own = target.producer_client if role == "producer" else target.consumer_client
    shared = target.settings.get("idempotence")
    return {
        **({} if shared is None else {"enable.idempotence": shared}),
        **target.client,
        **own,
    }


def _first(settings: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((settings[name] for name in names if settings.get(name) is not None), None)
