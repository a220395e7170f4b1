"""An event of an item, and its lines on the wire, made once for all who are to get the same."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Final
from weakref import WeakValueDictionary

from streamgauge.gateway.protocol import notifications
from streamgauge.gateway.protocol.updates import Diffing, Row, encode_delta, encode_full

_serials = count(1)
_NO_BASE: Final = 0
_OVERHEAD_BYTES = 200
_MOST_FORMS = 256
_MOST_FORM_BYTES = 1_048_576
"""Lines of an event that are kept; beyond it somebody asks for ever new ones."""


class View:
    """What is seen of an item: which fields, with which differences. Alike ones are the same object."""

    __slots__ = ("__weakref__", "diffing", "fields")

    def __init__(self, fields: tuple[str, ...], diffing: Diffing) -> None:
        self.fields, self.diffing = fields, diffing


_views: WeakValueDictionary[tuple[tuple[str, ...], Diffing], View] = WeakValueDictionary()


def view(fields: tuple[str, ...], diffing: Diffing) -> View:
    found = _views.get((fields, diffing))
    if found is None:
        found = _views[fields, diffing] = View(fields, diffing)
    return found


class Event:
    """The values of an item's fields after something happened. Never changed once made.

    It holds all that a subscriber has to know, not only what changed, so that any event can follow any
    other: what lies between them can be left out.
    """

    __slots__ = ("_bodies", "_kept_bytes", "_lines", "_rows", "_size_bytes", "serial", "values")

    def __init__(self, values: Mapping[str, str | None]) -> None:
        self.serial = next(_serials)
        self.values = values
        self._rows: dict[View, Row] = {}
        self._bodies: dict[tuple[View, int], bytes] = {}
        self._lines: dict[tuple[bytes, View, int], bytes] = {}
        self._size_bytes = self._kept_bytes = 0

    def line(self, prefix: bytes, view: View, base: Event | None) -> bytes:
        """The update line for somebody whose last event of the item was `base`."""
        base_serial = _NO_BASE if base is None else base.serial
        made = self._lines.get((prefix, view, base_serial))
        if made is None:
            body = self._bodies.get((view, base_serial))
            if body is None:
                new = self._row(view)
                body = encode_full(new) if base is None else encode_delta(base._row(view), new, view.diffing)
                self._bodies[view, base_serial] = body
            if len(self._lines) >= _MOST_FORMS or self._kept_bytes > _MOST_FORM_BYTES:
                self._forget()
            made = self._lines[prefix, view, base_serial] = b"%b%b\r\n" % (prefix, body)
            self._kept_bytes += len(made)
        return made

    @property
    def size_bytes(self) -> int:
        """About what it takes to keep it."""
        if not self._size_bytes:
            self._size_bytes = _OVERHEAD_BYTES + sum(len(value) for value in self.values.values() if value)
        return self._size_bytes

    def with_command(self, command: str) -> Event:
        """The same row under another command."""
        return Event({**self.values, "command": command})

    def _forget(self) -> None:
        self._rows.clear()
        self._bodies.clear()
        self._lines.clear()
        self._kept_bytes = 0

    def _row(self, view: View) -> Row:
        row = self._rows.get(view)
        if row is None:
            get = self.values.get
            row = self._rows[view] = Row(tuple([get(field) for field in view.fields]))
        return row


class Mark:
    """What stands between events: it has a line of its own, and no values."""

    __slots__ = ("line",)

    def __init__(self, line: bytes) -> None:
        self.line = line


def end_mark(sub_id: int, item: int) -> Mark:
    return Mark(notifications.end_of_snapshot(sub_id, item))


def clear_mark(sub_id: int, item: int) -> Mark:
    return Mark(notifications.snapshot_cleared(sub_id, item))
