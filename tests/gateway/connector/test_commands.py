from __future__ import annotations

import pytest

from streamgauge.gateway.connector.evaluators.contract import ExtractionFailed
from streamgauge.gateway.connector.mapping import RecordMapping

from .fakes import Listening, Message, connection


class Told:
    """A mapping with one subscribed item, what its listener was told, and what was refused."""

    def __init__(self, **parameters: str) -> None:
        self.mapping = RecordMapping(connection(record__value__evaluator__type="JSON", **parameters))
        self.mapping.subscribe("i")
        self.listener, self.refused = Listening(), list[str]()

    def __call__(self, value: bytes | None, key: bytes | None = b"k") -> list[tuple[object, ...]]:
        self.listener.events.clear()
        record = self.mapping.record(Message(value, key))
        self.mapping.publish(record, self.listener, self.refused.append)
        return list(self.listener.events)


def evaluated() -> Told:
    return Told(
        fields__evaluate__as__command__enable="true",
        field__key="#{KEY}",
        field__command="#{VALUE.command}",
        field__qty="#{VALUE.qty}",
    )


def automatic() -> Told:
    return Told(fields__auto__command__mode__enable="true", field__key="#{KEY}", field__qty="#{VALUE.qty}")


def test_records_say_what_becomes_of_a_key_and_the_snapshot_lasts_until_its_end() -> None:
    told = evaluated()
    add = {"key": "k", "command": "ADD", "qty": "1"}
    assert told(b'{"command": "ADD", "qty": 1}') == [("update", "i", add, True)]
    assert told(b'{"command": "EOS", "qty": 0}', b"snapshot") == [("end", "i")]
    [(_, _, fields, snapshot)] = told(b'{"command": "UPDATE", "qty": 2}')
    assert (fields["command"], snapshot) == ("UPDATE", False)  # type: ignore[index]
    assert told(b'{"command": "CS", "qty": 0}', b"snapshot") == [("clear", "i")]
    [(_, _, fields, snapshot)] = told(b'{"command": "DELETE", "qty": 2}')
    assert (fields["command"], snapshot) == ("DELETE", True)  # type: ignore[index]
    told.mapping.unsubscribe("i")
    told.mapping.subscribe("i")
    [(*_, snapshot)] = told(b'{"command": "ADD", "qty": 2}')
    assert snapshot is True


@pytest.mark.parametrize(
    ("value", "key", "says"),
    [
        (b'{"command": "add", "qty": 1}', b"k", "command 'add' is not allowed; allowed: ADD, DELETE, UPDATE"),
        (b'{"command": "CS", "qty": 1}', b"k", "command 'CS' is not allowed"),
        (b'{"command": null, "qty": 1}', b"k", "command None is not allowed"),
        (b'{"command": "ADD", "qty": 1}', b"snapshot", "is not allowed for key 'snapshot'; allowed: CS, EOS"),
        (b'{"command": "ADD", "qty": 1}', None, "field `key` is null"),
    ],
)
def test_what_is_no_command_is_refused_with_words(value: bytes, key: bytes | None, says: str) -> None:
    told = evaluated()
    assert told(value, key) == []
    assert len(told.refused) == 1
    assert says in told.refused[0]


def test_only_command_subscriptions_and_a_snapshot() -> None:
    assert (evaluated().mapping.modes, evaluated().mapping.has_snapshot) == ({"COMMAND"}, True)


def test_commands_are_made_up_from_null_values() -> None:
    told = automatic()
    assert told(b'{"qty": 1}') == [("update", "i", {"key": "k", "qty": "1", "command": "ADD"}, False)]
    assert told(None) == [("update", "i", {"key": "k", "command": "DELETE"}, False)]
    assert told(b'{"qty": 1}', None) == []
    assert told(None, None) == []
    assert told.refused == ["field `key` is null"] * 2
    with pytest.raises(ExtractionFailed):
        told(b"{}")


def test_the_made_up_field_belongs_to_the_schema() -> None:
    assert automatic().mapping.field_names == ("key", "qty", "command")
    assert "MERGE" in automatic().mapping.modes
    assert automatic().mapping.has_snapshot is False


def test_without_a_command_mode_there_is_no_snapshot() -> None:
    told = Told(field__qty="#{VALUE.qty}")
    assert told(b'{"qty": 1}') == [("update", "i", {"qty": "1"}, False)]
    assert (told.mapping.has_snapshot, len(told.mapping.modes)) == (False, 4)
    assert told.mapping.field_names == ("qty",)
