"""The server apart from sockets: its sessions, its items, and what may be done with them."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable, Mapping

from streamgauge.core.clock import NS_PER_S
from streamgauge.gateway.protocol import notifications
from streamgauge.gateway.protocol.codes import SessionCode
from streamgauge.gateway.protocol.commands import Diff
from streamgauge.gateway.protocol.feeds import Feed
from streamgauge.gateway.protocol.subscriptions import Plan
from streamgauge.gateway.server.budget import Budget, Reason
from streamgauge.gateway.server.contract import AdapterSet
from streamgauge.gateway.server.delivery import Delivery
from streamgauge.gateway.server.holdings import Holdings
from streamgauge.gateway.server.items import Items
from streamgauge.gateway.server.links import Link
from streamgauge.gateway.server.metrics import Counters, exposition
from streamgauge.gateway.server.neighbours import session_name
from streamgauge.gateway.server.sending import LOOP
from streamgauge.gateway.server.sessions import Session
from streamgauge.gateway.server.settings import DiffFormat, ServerSettings

_DIFFS: dict[DiffFormat, Diff] = {"jsonpatch": "P", "diff_match_patch": "T"}
_NS_PER_MS = 1_000_000


class Gateway:
    """One process's. Made on the event loop that it is going to live on."""

    def __init__(
        self, settings: ServerSettings, adapter_sets: Iterable[AdapterSet], process: int = 0
    ) -> None:
        self.settings, self.process = settings, process
        self.counters = Counters()
        self.budget = Budget(settings.limits, self.counters)
        self.delivery = Delivery(
            settings, self.counters, self.budget.turns, ended=self.prune, turn_over=self.turn_over
        )
        self.sessions: dict[str, Session] = {}
        self.holdings = Holdings()
        self.unbound: dict[Session, None] = {}
        self.diff_order = tuple(_DIFFS[name] for name in settings.default_diff_order)
        minimum = settings.jsonpatch_min_length
        self.json_min_length = 0 if minimum == "none" else minimum
        self.adapter_sets: Mapping[str, AdapterSet] = {each.name: each for each in adapter_sets}
        self._items = {
            (each.name, name): Items(
                source,
                self.counters,
                remembered=settings.distinct_snapshot_length,
                published=self.delivery.schedule,
                failed=self._unsubscribe_feeds,
            )
            for each in self.adapter_sets.values()
            for name, source in each.sources.items()
        }

    def start(self) -> None:
        for each in self.adapter_sets.values():
            for name, source in each.sources.items():
                source.start(self._items[each.name, name])

    def stop(self) -> None:
        """Let clients look for another server, then let sources go."""
        for session in list(self.sessions.values()):
            if session.link is not None:
                self.turn_over(session, close=True)
        for each in self.adapter_sets.values():
            for source in each.sources.values():
                source.close()

    def items(self, session: Session, data_adapter: str | None) -> Items | None:
        adapter_set = session.adapter_set
        return self._items.get((adapter_set.name, data_adapter or adapter_set.default_source))

    def open(self, link: Link, adapter_set: AdapterSet) -> Session:
        """A new session, not bound yet."""
        session_id = session_name(self.process, secrets.token_hex(12))
        session = Session(session_id, self.delivery.cohorts.new(), link.version, adapter_set, link.address)
        self.sessions[session.id] = session
        self.holdings.opened(session.address)
        self.counters.sessions_created += 1
        return session

    def bind(self, session: Session, link: Link) -> None:
        """Let a link carry a session from now on; it must be free, the session must be unbound."""
        now_ns = time.monotonic_ns()
        session.link, link.session = link, session
        self.budget.crowd.settled(link.account)
        session.bound_ns = session.last_request_ns = now_ns
        self.unbound.pop(session, None)
        self.delivery.bound(session)

    def unbind(self, session: Session, kept_s: float) -> None:
        """Its link carries it no more; it is kept that long for the next."""
        if session.link is not None:
            session.link.session = None
            self.budget.crowd.unsettled(session.link.account)
        self.delivery.unbound(session)
        session.link = None
        session.deadline_ns = time.monotonic_ns() + int(kept_s * NS_PER_S)
        self.unbound[session] = None

    def turn_over(self, session: Session, delay_ms: int | None = None, *, close: bool = False) -> None:
        """End the connection's turn: the client has to bind the session anew."""
        link, polling = session.link, session.binding.polling if session.binding is not None else None
        assert link is not None
        if delay_ms is None:
            delay_ms = polling.interval_ms if polling is not None else 0
        self.delivery.catch_up(session)
        link.send(notifications.loop(delay_ms))
        self.unbind(session, self.settings.session_timeout + delay_ms / 1000)
        link.end(close=close)

    def broken(self, link: Link) -> None:
        """A link's connection is gone."""
        if link.session is not None:
            self.unbind(link.session, self.settings.session_recovery)

    def end(self, session: Session, code: int, message: str, *, close: bool = False) -> None:
        """A session is over; its client is told if there is a connection."""
        link = session.link
        if link is not None:
            self.delivery.catch_up(session)
            link.send(notifications.end(code, message))
        self.drop(session)
        if link is not None:
            link.end(close=close)

    def drop(self, session: Session) -> None:
        if self.sessions.pop(session.id, None) is None:
            return
        self.holdings.closed(session.address, session.cohort.subscriptions.item_count)
        self.delivery.cohorts.leave(session)
        link, session.link = session.link, None
        if link is not None:
            link.session = None
            self.budget.crowd.unsettled(link.account)
        self.unbound.pop(session, None)

    def kill(self, session: Session, why: str) -> None:
        self.end(session, SessionCode.CLOSED_BY_SERVER, why, close=True)

    def metrics(self) -> bytes:
        bound = len(self.sessions) - len(self.unbound)
        cohorts = self.delivery.cohorts.all()
        room = self.delivery.recovery_room
        self.counters.recoveries_cut = room.cuts
        gauges = [
            ("sessions", "open sessions", len(self.sessions)),
            ("sessions_bound", "sessions with a connection", bound),
            (
                "sessions_behind",
                "sessions whose socket is full",
                sum(c.behind_since_ns is not None for c in cohorts),
            ),
            ("cohorts", "groups of sessions that are sent the same", len(cohorts)),
            ("native_send_loop", "1 where frames are sent by the compiled loop", int(LOOP == "native")),
            ("items", "items subscribed at their sources", sum(len(items) for items in self._items.values())),
            ("recovery_bytes", "bytes kept of what was sent, for sessions that break", room.held_bytes),
            *self.holdings.gauges(),
            *self.budget.gauges(),
        ]
        drops = {reason.value: self.budget.dropped[reason] for reason in Reason}
        sources = {
            (each.name, name): source.counters
            for each in self.adapter_sets.values()
            for name, source in each.sources.items()
        }
        return exposition(self.counters, gauges, drops, self.process, sources)

    def prune(self, plans: Iterable[Plan]) -> None:
        for plan in plans:
            for feed in plan.feeds:
                for items in self._items.values():
                    if feed in items:
                        items.prune(feed)

    def _unsubscribe_feeds(self, feeds: set[Feed]) -> None:
        """A source has failed: take its subscriptions from everybody."""
        for cohort in self.delivery.cohorts.all():
            gone = [
                sub_id
                for sub_id, subscription in cohort.subscriptions.items()
                if not feeds.isdisjoint(subscription.plan.feeds)
            ]
            if gone:
                count = sum(len(cohort.subscriptions[sub_id].positions) for sub_id in gone)
                for session in cohort.members:
                    self.holdings.followed(session.address, -count)
                self.delivery.unsubscribe_all(cohort, gone)
