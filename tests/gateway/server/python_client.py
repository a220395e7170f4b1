"""Lightstreamer's own Python client, and listeners that write down what they are told."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from lightstreamer.client import ClientListener, LightstreamerClient, Subscription, SubscriptionListener

from .running import ADAPTER_SET, DEADLINE_S

Row = tuple[str | None, ...]


class Server(Protocol):
    """Whatever has an address, be it only a wire to a server."""

    @property
    def address(self) -> str: ...


class Notes:
    """A list that can be waited for."""

    def __init__(self) -> None:
        self._told: list[object] = []
        self._changed = threading.Condition()

    def add(self, what: object) -> None:
        with self._changed:
            self._told.append(what)
            self._changed.notify_all()

    def wait(self, holds: Callable[[list[object]], object]) -> list[object]:
        """All notes, as soon as something holds for them."""
        with self._changed:
            if not self._changed.wait_for(lambda: holds(self._told), DEADLINE_S):
                raise AssertionError(f"not in time; noted so far: {self._told[-50:]}")
            return list(self._told)

    def all(self) -> list[object]:
        with self._changed:
            return list(self._told)


class Followed(SubscriptionListener):
    """A subscription and what came of it: ("update", item, snapshot?, row) and other events by name."""

    def __init__(self, mode: str, items: list[str], fields: list[str], **options: str) -> None:
        self.notes, self._fields = Notes(), fields
        self.subscription = Subscription(mode, items, fields)
        self.subscription.addListener(self)
        for name, value in options.items():
            getattr(self.subscription, f"setRequested{name}")(value)

    def updates(self, item: str | None = None) -> list[Row]:
        return [note[3] for note in self.notes.all() if note[0] == "update" and item in (None, note[1])]  # type: ignore[index]

    def wait_for(self, *event: object) -> None:
        self.notes.wait(lambda told: event in told)

    def wait_for_value(self, value: str, field: int = 0) -> list[Row]:
        """All rows, as soon as one has this value."""
        self.notes.wait(lambda told: any(note[0] == "update" and note[3][field] == value for note in told))  # type: ignore[index]
        return self.updates()

    def wait_for_updates(self, count: int) -> list[Row]:
        self.notes.wait(lambda told: sum(note[0] == "update" for note in told) >= count)  # type: ignore[index]
        return self.updates()

    def onItemUpdate(self, update):
        row = tuple(update.getValue(field) for field in self._fields)
        self.notes.add(("update", update.getItemName(), update.isSnapshot(), row))

    def onSubscription(self) -> None:
        self.notes.add(("subscribed",))

    def onUnsubscription(self) -> None:
        self.notes.add(("unsubscribed",))

    def onSubscriptionError(self, code: int, message: str) -> None:
        self.notes.add(("refused", code, message))

    def onEndOfSnapshot(self, item: str, position: int) -> None:
        self.notes.add(("end of snapshot", item))

    def onClearSnapshot(self, item: str, position: int) -> None:
        self.notes.add(("cleared", item))

    def onItemLostUpdates(self, item: str, position: int, lost: int) -> None:
        self.notes.add(("lost", item, lost))

    def onRealMaxFrequency(self, frequency: str) -> None:
        self.notes.add(("frequency", frequency))


class Client(ClientListener):
    """One client; its states and errors in `notes`."""

    def __init__(self, server: Server, adapter_set: str) -> None:
        self.notes = Notes()
        self.lightstreamer = LightstreamerClient(server.address, adapter_set)
        self.lightstreamer.addListener(self)

    def follow(self, followed: Followed) -> Followed:
        self.lightstreamer.subscribe(followed.subscription)
        return followed

    def connect(self) -> None:
        self.lightstreamer.connect()
        self.wait_for_state("CONNECTED")

    def wait_for_state(self, begins_with: str, times: int = 1) -> None:
        self.notes.wait(lambda told: sum(str(note).startswith(begins_with) for note in told) >= times)

    def onStatusChange(self, status: str) -> None:
        self.notes.add(status)

    def wait_for_property(self, name: str) -> None:
        self.notes.wait(lambda told: ("property", name) in told)

    def onPropertyChange(self, name: str) -> None:
        self.notes.add(("property", name))

    def onServerError(self, code: int, message: str) -> None:
        self.notes.add(("server error", code, message))


def hasty(client: LightstreamerClient) -> None:
    """This client notices a dead connection only when signs of life are overdue: let that be soon."""
    client.connectionOptions.setKeepaliveInterval(1000)
    client.connectionOptions.setStalledTimeout(300)
    client.connectionOptions.setReconnectTimeout(300)


@contextmanager
def connected(
    server: Server,
    *,
    transport: str | None = None,
    adapter_set: str = ADAPTER_SET,
    prepare: Callable[[LightstreamerClient], None] = lambda client: None,
) -> Iterator[Client]:
    """`transport`: the one to force; `prepare`: what else to set before connecting."""
    client = Client(server, adapter_set)
    if transport is not None:
        client.lightstreamer.connectionOptions.setForcedTransport(transport)
    prepare(client.lightstreamer)
    try:
        client.connect()
        yield client
    finally:
        client.lightstreamer.disconnect()
        client.wait_for_state("DISCONNECTED")
