"""Control requests, carried out on a session."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from streamgauge.gateway.protocol import notifications
from streamgauge.gateway.protocol.bounds import MOST_KEPT
from streamgauge.gateway.protocol.codes import ControlCode, SessionCode
from streamgauge.gateway.protocol.commands import (
    Constrain,
    ControlCommand,
    Destroy,
    ForceRebind,
    Reconfigure,
    SendMessage,
    Subscribe,
    Unsubscribe,
)
from streamgauge.gateway.protocol.events import view
from streamgauge.gateway.protocol.feeds import Feed
from streamgauge.gateway.protocol.subscriptions import Plan, interned
from streamgauge.gateway.server.contract import UnknownItem
from streamgauge.gateway.server.gateway import Gateway
from streamgauge.gateway.server.items import Items
from streamgauge.gateway.server.sessions import Budget, Cohort, Session
from streamgauge.gateway.server.settings import Limits

_NO_MESSAGES = 0
# What a request costs, in plain requests, beside the one that it is. Measured: to subscribe an item, and to
# copy twenty items of a session that goes its own way, each take about as long as a request without items.
_FIELDS_PER_COST = 100
_COPIED_ITEMS_PER_COST = 20


@dataclass(eq=False)
class Refused(Exception):
    code: int
    message: str


@dataclass(frozen=True)
class Outcome:
    """What to answer, and what to do once that is on its way."""

    lines: list[bytes]
    then: Callable[[], None] | None = None


class Control:
    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self.cost = 0
        """Of what was done so far beyond one a request; whoever collects it sets it to 0."""

    def alive(self, session_id: str | None) -> None:
        session = self._gateway.sessions.get(session_id or "")
        if session is not None:
            session.last_request_ns = time.monotonic_ns()

    def is_prepared(self, wanted: Subscribe, session_id: str | None, ready: Callable[[], None]) -> bool:
        """Whether it may be carried out at once; else `ready` is called when it may."""
        session = self._gateway.sessions.get(session_id or "")
        items = None if session is None else self._gateway.items(session, wanted.data_adapter)
        return items is None or items.prepare(wanted.items, ready)

    def carry_out(self, wanted: ControlCommand, session_id: str | None, *, by_websocket: bool) -> Outcome:
        """Raises Refused."""
        session = self._gateway.sessions.get(session_id or "")
        if session is None:
            raise Refused(ControlCode.NO_SESSION, "there is no such session")
        session.last_request_ns = time.monotonic_ns()
        then = self._act(session, wanted)
        cohort, limits = session.cohort, self._gateway.settings.limits
        if cohort.is_blocked and cohort.announced_bytes > limits.recovery_bytes:
            # It asks and does not read, or is not even there.
            self._gateway.kill(session, "too much is waiting to be read")
            then = None
        # By HTTP every request is answered, whether its client cares or not.
        unwanted = (
            by_websocket
            and isinstance(wanted, Subscribe | Unsubscribe | SendMessage)
            and not wanted.acknowledged
        )
        return Outcome([] if unwanted else [notifications.request_ok(wanted.request_id)], then)

    def _act(self, session: Session, wanted: ControlCommand) -> Callable[[], None] | None:
        match wanted:
            case Subscribe():
                self._subscribe(session, wanted)
            case Unsubscribe():
                self._known(session, wanted.sub_id)
                plan = self._alone(session).unsubscribe(wanted.sub_id)
                self._gateway.holdings.followed(session.address, -len(plan.feeds))
                self._gateway.prune([plan])
            case Reconfigure():
                self._reconfigure(session, wanted)
            case Constrain():
                self._constrain(session, wanted)
            case SendMessage():
                self._take_message(session, wanted)
            case ForceRebind(polling_ms=delay_ms, closes_socket=close):
                return lambda: self._rebind(session, delay_ms, close)
            case Destroy():
                return lambda: self._destroy(session, wanted)
        return None

    def _subscribe(self, session: Session, wanted: Subscribe) -> None:
        gateway, limits = self._gateway, self._gateway.settings.limits
        subscriptions = session.cohort.subscriptions
        if wanted.sub_id in subscriptions:
            raise Refused(ControlCode.BAD_ARGUMENT, f"there is a subscription {wanted.sub_id} already")
        if len(subscriptions) >= limits.subscriptions_per_session:
            raise Refused(ControlCode.BAD_ARGUMENT, f"a session may have {len(subscriptions)} subscriptions")
        _check_size(wanted, limits)
        self._check_room(session, len(wanted.items))
        items = gateway.items(session, wanted.data_adapter)
        if items is None:
            raise Refused(ControlCode.NO_DATA_ADAPTER, "there is no such data adapter")
        self.cost += len(wanted.items) * (1 + len(wanted.fields) // _FIELDS_PER_COST)
        feeds = _feeds(items, wanted)
        most = limits.subscriptions_per_item
        if any(times > most for times in session.cohort.subscriptions.times_followed(feeds)):
            _prune(items, feeds)
            raise Refused(ControlCode.BAD_GROUP, f"a session may subscribe to an item {most} times")
        diffing = session.diffing(gateway.diff_order, gateway.json_min_length)
        plan = interned(
            Plan(
                sub_id=wanted.sub_id,
                mode=wanted.mode,
                feeds=feeds,
                view=view(wanted.fields, diffing),
                frequency=wanted.frequency,
                buffer_size=wanted.buffer_size,
                most_kept=MOST_KEPT,
            )
        )
        self._alone(session).subscribe(plan, snapshot=wanted.snapshot, length=wanted.snapshot_length)
        gateway.holdings.followed(session.address, len(feeds))

    def _check_room(self, session: Session, more: int) -> None:
        holdings, limits = self._gateway.holdings, self._gateway.settings.limits
        if session.cohort.subscriptions.item_count + more > limits.items_per_session:
            raise Refused(ControlCode.BAD_GROUP, f"a session may have {limits.items_per_session} items")
        if holdings.items_of(session.address) + more > limits.items_of_address:
            raise Refused(
                ControlCode.BAD_GROUP, "sessions of your address have as many items together as they may"
            )
        if holdings.items + more > limits.items_of_all:
            raise Refused(ControlCode.BAD_GROUP, "sessions have as many items together as they may")

    def _reconfigure(self, session: Session, wanted: Reconfigure) -> None:
        plan = self._known(session, wanted.sub_id)
        if not plan.frequency.filtered:
            raise Refused(ControlCode.UNFILTERED, "an unfiltered subscription has no frequency")
        self._alone(session).reconfigure(wanted.sub_id, wanted.frequency)

    def _constrain(self, session: Session, wanted: Constrain) -> None:
        if wanted.changes:
            kbps = wanted.bandwidth_kbps
            self._alone(session)
            session.budget = None if kbps is None else Budget(kbps, time.monotonic_ns())
            if session.link is not None:
                self._gateway.delivery.bound(session)
        if session.link is not None and not session.silent:
            session.link.send(
                notifications.constraints(None if session.budget is None else session.budget.kbps)
            )

    def _rebind(self, session: Session, delay_ms: int, close: bool) -> None:
        if session.link is not None:
            self._gateway.turn_over(session, delay_ms, close=close)

    def _destroy(self, session: Session, wanted: Destroy) -> None:
        if wanted.cause_code is None:
            code, message = SessionCode.DESTROYED_BY_CLIENT, "the client has ended the session"
        else:
            code, message = wanted.cause_code, wanted.cause_message or ""
        self._gateway.end(session, code, message, close=wanted.closes_socket)

    def _take_message(self, session: Session, wanted: SendMessage) -> None:
        # Where all messages are refused there is nothing to remember of them.
        if wanted.number is not None and session.adapter_set.message_handler is not None:
            self._take_number(session, wanted.sequence, wanted.number)
        line = self._told(session, wanted)
        if line is not None and wanted.wants_outcome:
            self._alone(session).announce(line)

    def _take_number(self, session: Session, sequence: str | None, number: int) -> None:
        taken, most = session.message_numbers, self._gateway.settings.limits.sequences_per_session
        if number <= taken.get(sequence, 0):
            raise Refused(ControlCode.MESSAGE_NUMBER_USED, "a message with this number has come already")
        if sequence not in taken and len(taken) >= most:
            raise Refused(ControlCode.BAD_ARGUMENT, f"a session may have {most} sequences of messages")
        taken[sequence] = number

    def _alone(self, session: Session) -> Cohort:
        """Its cohort, which it does not share any more; to be split off takes as long as it has items."""
        if len(session.cohort.members) > 1:
            self.cost += session.cohort.subscriptions.item_count // _COPIED_ITEMS_PER_COST
        return self._gateway.delivery.split(session)

    def _told(self, session: Session, wanted: SendMessage) -> bytes | None:
        """Hand a message on; the line that says what became of it."""
        handler, number = session.adapter_set.message_handler, wanted.number or 0
        if handler is None:
            return notifications.message_failed(
                wanted.sequence, number, _NO_MESSAGES, "nobody takes messages here"
            )
        try:
            response = handler(session.user, wanted.text)
        except Exception as error:
            return notifications.message_failed(
                wanted.sequence, number, ControlCode.MESSAGE_FAILED, str(error)
            )
        return notifications.message_done(session.version, wanted.sequence, number, response)

    @staticmethod
    def _known(session: Session, sub_id: int) -> Plan:
        subscription = session.cohort.subscriptions.get(sub_id)
        if subscription is None:
            raise Refused(ControlCode.NO_SUBSCRIPTION, f"there is no subscription {sub_id}")
        return subscription.plan


def _check_size(wanted: Subscribe, limits: Limits) -> None:
    if len(wanted.items) > limits.items_per_subscription:
        raise Refused(ControlCode.BAD_GROUP, f"a subscription may have {limits.items_per_subscription} items")
    if len(wanted.fields) > limits.fields_per_subscription:
        raise Refused(
            ControlCode.BAD_SCHEMA, f"a subscription may have {limits.fields_per_subscription} fields"
        )


def _feeds(items: Items, wanted: Subscribe) -> tuple[Feed, ...]:
    """All items, or none and the reason."""
    feeds: list[Feed] = []
    try:
        for item in wanted.items:
            items.check(item, wanted.mode, wanted.fields)
            feeds.append(items.feed(item, wanted.mode))
    except Exception as error:
        _prune(items, feeds)
        if isinstance(error, UnknownItem):
            raise Refused(error.code, error.message) from None
        raise Refused(ControlCode.ADAPTER_FAILED, f"the data adapter failed: {error}") from error
    return tuple(feeds)


def _prune(items: Items, feeds: Iterable[Feed]) -> None:
    for feed in feeds:
        items.prune(feed)
