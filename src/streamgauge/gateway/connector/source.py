"""A connection as the server sees it: items that can be subscribed, and records published to them."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence
from typing import Any

from streamgauge.gateway.connector.complaints import Complaints
from streamgauge.gateway.connector.connection_settings import ConnectionSettings
from streamgauge.gateway.connector.consuming import Consumption, Handlers
from streamgauge.gateway.connector.evaluators.contract import ExtractionFailed
from streamgauge.gateway.connector.librdkafka_settings import consumer_settings
from streamgauge.gateway.connector.mapping import RecordMapping
from streamgauge.gateway.connector.positions import Positions
from streamgauge.gateway.connector.records import Record
from streamgauge.gateway.connector.topics import TopicSelection
from streamgauge.gateway.server.contract import Listener, SourceCounters, UnknownItem

LOGGER = logging.getLogger("streamgauge.gateway")

BAD_ITEM_CODE = 21
DISABLED_CODE = -1
_BATCHES_UNDER_WAY = 4
_WAIT_FOR_ROOM_S = 0.2
_CLOSE_S = 3.0
_PREPARE_S = 2.0
"""A Kafka that does not answer within that time is waited for without the client."""


class KafkaSource:
    """Reads Kafka while somebody is subscribed. All its methods are called on the server's loop.

    The consuming thread hands whole batches to the loop, one call a batch; records are mapped there, where
    the subscriptions are. It waits while a few batches are still under way: Kafka keeps what we cannot take.
    """

    def __init__(self, name: str, settings: ConnectionSettings, group_id: str) -> None:
        """Raises BadParameter: schemas and key stores are read, expressions compiled."""
        self._name, self._settings = name, settings
        self._mapping = RecordMapping(settings)
        self._client = consumer_settings(settings, group_id)
        self._topics = TopicSelection(settings.targets, patterns=settings.topics_are_patterns)
        self._positions = Positions(
            from_earliest=settings.consume_from == "EARLIEST", reads_unwatched=settings.reads_unwatched
        )
        self._complaints = Complaints(LOGGER, f"connection {name}")
        self._consumption: Consumption | None = None
        self._ended: Consumption | None = None
        self._waiting: list[Callable[[], None]] = []
        """Those who are to be told that they may subscribe, when it is known where reading begins."""
        self._overdue: asyncio.TimerHandle | None = None
        self.counters = SourceCounters()

    def start(self, listener: Listener) -> None:
        self._listener = listener
        self._loop = asyncio.get_running_loop()

    def prepare(self, items: Sequence[str], ready: Callable[[], None]) -> bool:
        """A client that is told that it is subscribed gets what comes from then on: so the end of the topics
        is asked for before. One item that there cannot be has all refused: for that, nothing is begun."""
        if not self._settings.enable or not all(map(self._mapping.can_be, items[:1])):
            return True
        current = self._consumption
        is_placed = not self._positions.needs_ends if current is None else current.is_placed
        if is_placed:
            return True
        if not self._waiting:
            self._overdue = self._loop.call_later(_PREPARE_S, self._go_ahead)
        self._waiting.append(ready)
        if current is None:
            self._start_consuming()
        return False

    def subscribe(self, item: str) -> None:
        if not self._settings.enable:
            raise UnknownItem(DISABLED_CODE, f"Connection {self._name} is disabled")
        try:
            self._mapping.subscribe(item)
        except ValueError as error:
            raise UnknownItem(BAD_ITEM_CODE, str(error)) from None
        if self._consumption is None:
            self._start_consuming()

    def unsubscribe(self, item: str) -> None:
        self._mapping.unsubscribe(item)
        if not self._mapping.subscribed_count and not self._waiting:
            self._stop_consuming()

    def schema(self, item: str) -> tuple[str, ...]:
        return self._mapping.field_names

    def modes(self, item: str) -> frozenset[str]:
        return self._mapping.modes

    def snapshot_available(self, item: str) -> bool:
        return self._mapping.has_snapshot

    def close(self) -> None:
        """Waits for the consumer to commit and leave its group, a few seconds at most."""
        self._mapping.unsubscribe_all()
        self._stop_waiting()
        self._stop_consuming()
        last = self._ended
        if last is not None and last.has_joined and not last.join(_CLOSE_S):
            LOGGER.warning("connection %s: Kafka's client did not end within %g s", self._name, _CLOSE_S)

    def _start_consuming(self) -> None:
        room = threading.Semaphore(_BATCHES_UNDER_WAY)

        def hand_over(batch: list[Any]) -> None:
            if self._mapping.blocking:
                self._mapping.prepare(batch)
            while not room.acquire(timeout=_WAIT_FOR_ROOM_S):
                if consumption.stopping:
                    return
            self._on_loop(self._take, consumption, batch, room)

        def placed() -> None:
            self._on_loop(self._placed, consumption)

        def failed(why: str) -> None:
            self._on_loop(self._give_up, consumption, why)

        consumption = self._consumption = Consumption(
            self._name,
            self._client,
            self._topics,
            self._positions,
            Handlers(hand_over, placed, failed),
            batch_records=self._settings.max_poll_records,
            predecessor=self._ended,
        )
        self._ended = None
        consumption.start()

    def _stop_consuming(self) -> None:
        if self._consumption is not None:
            self._consumption.stop()
            self._ended, self._consumption = self._consumption, None

    def _placed(self, consumption: Consumption) -> None:
        if consumption is self._consumption:
            self._go_ahead()

    def _go_ahead(self) -> None:
        """Let those subscribe who have waited; they may have gone meanwhile, or be refused."""
        waiting = self._stop_waiting()
        for ready in waiting:
            ready()
        if waiting and not self._mapping.subscribed_count:
            self._stop_consuming()

    def _stop_waiting(self) -> list[Callable[[], None]]:
        waiting, self._waiting = self._waiting, []
        if self._overdue is not None:
            self._overdue.cancel()
            self._overdue = None
        return waiting

    def _on_loop(self, call: Any, *arguments: Any) -> None:
        try:
            self._loop.call_soon_threadsafe(call, *arguments)
        except RuntimeError:  # The loop has ended before us.
            LOGGER.debug("connection %s: the loop has ended", self._name)

    def _take(self, consumption: Consumption, batch: Sequence[Any], room: threading.Semaphore) -> None:
        room.release()
        done = 0
        for message in batch:
            # Not any more when the last subscriber has left meanwhile, or a record ended it all.
            if consumption is not self._consumption or not self._publish(message):
                break
            done += 1
        last_of = {(message.topic(), message.partition()): message for message in batch[:done]}
        for message in last_of.values():
            self._positions.published(message)

    def _publish(self, message: Any) -> bool:
        """False when the record ends all subscriptions."""
        record = self._mapping.record(message)
        self.counters.records_read += 1
        try:
            if self._mapping.publish(record, self._listener, lambda why: self._refuse(record, why)):
                self.counters.records_mapped += 1
        except ExtractionFailed as error:
            return self._failed(record, str(error))
        except Exception as error:  # A fault of ours must not cost more than this record.
            LOGGER.debug("connection %s: %s", self._name, record, exc_info=True)
            return self._failed(record, f"{type(error).__name__}: {error}")
        return True

    def _failed(self, record: Record, why: str) -> bool:
        self.counters.records_failed += 1
        if self._settings.error_strategy == "FORCE_UNSUBSCRIPTION":
            assert self._consumption is not None
            self._give_up(self._consumption, f"{record} cannot be mapped: {why}")
            return False
        self._complaints.tell("mapping", f"{record} passed over: {why}")
        return True

    def _refuse(self, record: Record, why: str) -> None:
        self.counters.records_failed += 1
        self._complaints.tell("command", f"{record} passed over: {why}")

    def _give_up(self, consumption: Consumption, why: str) -> None:
        if consumption is not self._consumption:
            return
        self._mapping.unsubscribe_all()
        self._stop_consuming()
        self._listener.source_failed(f"connection {self._name}: {why}")
        self._go_ahead()
