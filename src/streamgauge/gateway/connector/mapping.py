"""All that happens to a record between Kafka and the clients, compiled from a connection's settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from streamgauge.gateway.connector.commands import (
    COMMAND,
    KEY,
    AutomaticCommands,
    EvaluatedCommands,
    PlainUpdates,
    Refuse,
)
from streamgauge.gateway.connector.connection_settings import ConnectionSettings
from streamgauge.gateway.connector.evaluators.making import make_evaluator, make_registry
from streamgauge.gateway.connector.fields import FieldMapping
from streamgauge.gateway.connector.records import Compiler, Record
from streamgauge.gateway.connector.routing import Routes
from streamgauge.gateway.server.contract import Listener


class RecordMapping:
    """Evaluators, routes and fields of one connection, and which of its items are subscribed."""

    def __init__(self, settings: ConnectionSettings) -> None:
        """Raises BadParameter where a schema or a key store cannot be read."""
        registry = make_registry(settings.registry)
        self._key = make_evaluator(settings.key, registry, "record.key.evaluator")
        self._value = make_evaluator(settings.value, registry, "record.value.evaluator")
        compiler = Compiler(self._key, self._value, non_scalars=settings.non_scalars)
        compiler.focus(settings.expressions())
        self._routes = Routes(settings.routes, compiler, topics_are_patterns=settings.topics_are_patterns)
        self._updates = _updates(settings, compiler)
        self._field_names = _field_names(settings)

    @property
    def subscribed_count(self) -> int:
        return len(self._routes)

    @property
    def field_names(self) -> tuple[str, ...]:
        """None at all: they come with the records."""
        return self._field_names

    @property
    def modes(self) -> frozenset[str]:
        return self._updates.modes

    @property
    def has_snapshot(self) -> bool:
        return self._updates.has_snapshot

    def can_be(self, item: str) -> bool:
        """Whether there can be such an item."""
        return self._routes.can_be(item)

    def subscribe(self, item: str) -> None:
        """Raises ValueError when there can be no such item."""
        self._routes.add(item)
        self._updates.subscribed(item)

    def unsubscribe(self, item: str) -> None:
        self._routes.remove(item)
        self._updates.unsubscribed(item)

    def unsubscribe_all(self) -> None:
        for item in self._routes.items():
            self.unsubscribe(item)

    @property
    def blocking(self) -> bool:
        """Whether batches have to be prepared in a thread that may wait."""
        return self._key.blocking or self._value.blocking

    def prepare(self, messages: Sequence[Any]) -> None:
        """Fetch the schemas that these messages need and that are not there yet."""
        for evaluator, part in ((self._key, "key"), (self._value, "value")):
            if evaluator.blocking:
                for message in messages:
                    data = getattr(message, part)()
                    if data is not None:
                        evaluator.prepare(data)

    def record(self, message: Any) -> Record:
        return Record(message, self._key, self._value)

    def publish(self, record: Record, listener: Listener, refuse: Refuse) -> bool:
        """To every subscribed item it belongs to; whether there was one. Raises ExtractionFailed."""
        items = self._routes.items_of(record)
        if not items:
            return False
        self._updates.publish(record, items, listener, refuse)
        return True


def _updates(settings: ConnectionSettings, compiler: Compiler) -> PlainUpdates:
    mapping = FieldMapping(
        settings.plain_fields, settings.wildcard, compiler, skip_failed=settings.skip_failed
    )
    if settings.auto_command:
        return AutomaticCommands(mapping, settings.fields[KEY], compiler)
    if settings.evaluate_as_command:
        return EvaluatedCommands(mapping)
    return PlainUpdates(mapping)


def _field_names(settings: ConnectionSettings) -> tuple[str, ...]:
    if settings.wildcard is not None:
        return ()
    made_up = (COMMAND,) if settings.auto_command and COMMAND not in settings.fields else ()
    return (*settings.fields, *made_up)
