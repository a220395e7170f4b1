"""COMMAND mode: how fields of a record become changes of a list, and what a snapshot is."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from streamgauge.gateway.connector.expressions import Expression
from streamgauge.gateway.connector.fields import FieldMapping, Fields
from streamgauge.gateway.connector.records import NODES, Compiler, Record
from streamgauge.gateway.server.contract import MODES, Listener

KEY, COMMAND = "key", "command"
_CHANGES = frozenset({"ADD", "UPDATE", "DELETE"})
_SNAPSHOT_KEY = "snapshot"
Refuse = Callable[[str], None]


class PlainUpdates:
    """No command mode: every record is an update of its items."""

    modes = MODES
    has_snapshot = False

    def __init__(self, mapping: FieldMapping) -> None:
        self._mapping = mapping

    def subscribed(self, item: str) -> None:
        return

    def unsubscribed(self, item: str) -> None:
        return

    def publish(self, record: Record, items: Sequence[str], listener: Listener, refuse: Refuse) -> None:
        """Raises ExtractionFailed; `refuse` is told of records that say nothing that can be published."""
        fields = self._mapping(record)
        for item in items:
            listener.publish(item, fields)


class AutomaticCommands(PlainUpdates):
    """Only `key` is mapped: a null value deletes it, everything else adds it.

    The server knows which keys are there and turns an ADD into an UPDATE.
    """

    def __init__(self, mapping: FieldMapping, key: Expression, compiler: Compiler) -> None:
        super().__init__(mapping)
        self._key_node, self._read_key = NODES[key.root], compiler.reader(key)

    def publish(self, record: Record, items: Sequence[str], listener: Listener, refuse: Refuse) -> None:
        fields: Fields
        if record.message.value() is None:
            # The other fields would be taken from a value that there is not.
            fields = {KEY: self._read_key(self._key_node(record)), COMMAND: "DELETE"}
        else:
            fields = {**self._mapping(record), COMMAND: "ADD"}
        if fields.get(KEY) is None:
            refuse("field `key` is null")
            return
        for item in items:
            listener.publish(item, fields)


class EvaluatedCommands(PlainUpdates):
    """Records say in `command` what becomes of `key`; the key `snapshot` is about the list itself."""

    modes = frozenset({"COMMAND"})
    has_snapshot = True

    def __init__(self, mapping: FieldMapping) -> None:
        super().__init__(mapping)
        self._in_snapshot: dict[str, bool] = {}

    def subscribed(self, item: str) -> None:
        self._in_snapshot[item] = True

    def unsubscribed(self, item: str) -> None:
        self._in_snapshot.pop(item, None)

    def publish(self, record: Record, items: Sequence[str], listener: Listener, refuse: Refuse) -> None:
        fields = self._mapping(record)
        key, command = fields.get(KEY), fields.get(COMMAND)
        if key == _SNAPSHOT_KEY and command in ("CS", "EOS"):
            for item in items:
                self._mark(item, command, listener)
        elif key is not None and key != _SNAPSHOT_KEY and command in _CHANGES:
            for item in items:
                listener.publish(item, fields, snapshot=self._in_snapshot.get(item, False))
        elif key == _SNAPSHOT_KEY:
            refuse(f"command {command!r} is not allowed for key 'snapshot'; allowed: CS, EOS")
        elif key is None:
            refuse("field `key` is null")
        else:
            refuse(f"command {command!r} is not allowed; allowed: {', '.join(sorted(_CHANGES))}")

    def _mark(self, item: str, command: str, listener: Listener) -> None:
        self._in_snapshot[item] = command == "CS"
        if command == "CS":
            listener.clear_snapshot(item)
        else:
            listener.end_of_snapshot(item)
