"""The field of an update that has its time, and the text of that time in it."""

from __future__ import annotations

from dataclasses import dataclass

import orjson

from streamgauge.core.errors import BadInput
from streamgauge.drivers.swarm import JSON_KINDS, MessageKind
from streamgauge.gateway.protocol.updates import ItemDecoder, run_length


@dataclass(frozen=True)
class TimedField:
    """A field of its own, one with JSON, or one with a text that begins with the time."""

    index: int
    fields: int
    in_json: bool

    @classmethod
    def of(cls, fields: tuple[str, ...], kind: MessageKind) -> TimedField:
        """BadInput where none of them has it."""
        if "timestamp" in fields:
            return cls(fields.index("timestamp"), len(fields), in_json=False)
        if "value" not in fields:
            raise BadInput(f"fields {', '.join(fields)}: timestamp or value is needed: it carries the time")
        return cls(fields.index("value"), len(fields), in_json=kind in JSON_KINDS)

    def stamp_of(self, value: str | None) -> str:
        if self.in_json:
            return str(orjson.loads(value or "{}").get("timestamp", ""))
        return value or ""

    def found_in(self, body: str, *, is_first: bool) -> str:
        """As it stands in an update: nothing where it is as it was. ValueError for what is no update."""
        found, done = "", 0
        for token in body.split("|"):
            if run := run_length(token):
                if is_first or done + run > self.fields:
                    raise ValueError("an update leaves fields unchanged that are not there")
                done += run
            elif done < self.fields:
                if done == self.index:
                    found = token
                done += 1
            else:
                break
        if done != self.fields:
            raise ValueError(f"an update of {self.fields} fields has {done}")
        return found


class TimeReader:
    """Of one session, update by update."""

    __slots__ = ("_decoder", "_field", "_is_first")

    def __init__(self, field: TimedField) -> None:
        self._field, self._decoder, self._is_first = field, ItemDecoder(1), True

    def read(self, body: str) -> str:
        """The text of an update's time; ValueError where there is none."""
        token = self._field.found_in(body, is_first=self._is_first)
        self._is_first = False
        return self.applied(token)

    def applied(self, token: str) -> str:
        """The same, of the one field as it stands in an update."""
        [value] = self._decoder.apply(token)
        return self._field.stamp_of(value)

    def begin_with(self, token: str) -> None:
        """What the field was before."""
        self._decoder.apply(token)
