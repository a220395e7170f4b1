"""A client as far as data lines go: it counts them, and knows what its items are."""

from __future__ import annotations

from dataclasses import dataclass, field

from streamgauge.gateway.protocol.notifications import DATA_TAGS, read_line
from streamgauge.gateway.protocol.updates import ItemDecoder


@dataclass
class Client:
    count: int = 0
    items: dict[tuple[int, int], list[list[str | None]]] = field(default_factory=dict)
    """All updates by subscription and item."""
    tables: dict[tuple[int, int], dict[str | None, str | None]] = field(default_factory=dict)
    """Of COMMAND items: the third field by key. A row told of in a way that does not fit is an error."""
    other: list[str] = field(default_factory=list)
    _decoders: dict[tuple[int, int], ItemDecoder] = field(default_factory=dict)
    _fields: dict[int, int] = field(default_factory=dict)
    _by_command: set[int] = field(default_factory=set)

    def read(self, lines: list[bytes]) -> None:
        for raw in lines:
            assert raw.endswith(b"\r\n")
            tag, arguments = read_line(raw.decode().removesuffix("\r\n"))
            assert tag in DATA_TAGS
            self.count += 1
            if tag == "U":
                self._update(int(arguments[0]), int(arguments[1]), arguments[2])
            else:
                if tag in ("SUBOK", "SUBCMD"):
                    self._fields[int(arguments[0])] = int(arguments[2])
                if tag == "SUBCMD":
                    self._by_command.add(int(arguments[0]))
                if tag == "UNSUB":
                    del self._fields[int(arguments[0])]
                if tag == "CS":
                    self.tables.pop((int(arguments[0]), int(arguments[1])), None)
                if tag == "OV":
                    self._by_command.discard(int(arguments[0]))
                self.other.append(raw.decode().strip())

    def updates(self, sub_id: int = 1, item: int = 1) -> list[list[str | None]]:
        return self.items.get((sub_id, item), [])

    def column(self, field: int = 0, sub_id: int = 1, item: int = 1) -> list[str | None]:
        return [row[field] for row in self.updates(sub_id, item)]

    def _update(self, sub_id: int, item: int, body: str) -> None:
        decoder = self._decoders.setdefault((sub_id, item), ItemDecoder(self._fields[sub_id]))
        values = list(decoder.apply(body))
        self.items.setdefault((sub_id, item), []).append(values)
        if sub_id in self._by_command:
            table = self.tables.setdefault((sub_id, item), {})
            assert (values[0] in table) == (values[1] != "ADD")
            if values[1] == "DELETE":
                del table[values[0]]
            else:
                table[values[0]] = values[2]
