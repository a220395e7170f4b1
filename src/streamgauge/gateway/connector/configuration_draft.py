"""A configuration file as it was written: names, values and lines, before anybody asks what they mean."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from streamgauge.core.errors import BadInput

_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True)
class Entry:
    """A parameter's value: a text, a number, true or false, or a list of texts."""

    value: Any
    line: int


@dataclass
class Block:
    """Parameters by name, names in full (`a.b.c`); `line` is where the block begins."""

    path: Path
    line: int
    entries: dict[str, Entry] = field(default_factory=dict)

    def add(self, name: str, value: Any, line: int) -> None:
        if name in self.entries:
            raise BadInput(
                f"{self.path}:{line}: {name}: is there twice, first in line {self.entries[name].line}; "
                "leave one of them"
            )
        self.entries[name] = Entry(self._filled_in(name, value, line), line)

    def _filled_in(self, name: str, value: Any, line: int) -> Any:
        """`${NAME}` is replaced from the environment: secrets need not be in the file."""
        if isinstance(value, list):
            return [self._filled_in(name, part, line) for part in value]
        if not isinstance(value, str):
            return value

        def from_environment(match: re.Match[str]) -> str:
            if match[1] not in os.environ:
                raise BadInput(
                    f"{self.path}:{line}: {name}: the environment has no {match[1]}; "
                    f"set it: export {match[1]}=…"
                )
            return os.environ[match[1]]

        return _REFERENCE.sub(from_environment, value)


@dataclass
class Draft:
    """The whole file."""

    path: Path
    adapter_set: Entry
    server: Block
    connections: dict[str, Block] = field(default_factory=dict)

    def add_connection(self, name: str, line: int) -> Block:
        if name in self.connections:
            raise BadInput(
                f"{self.path}:{line}: connection {name!r} is there twice, first in line "
                f"{self.connections[name].line}; names must differ"
            )
        block = self.connections[name] = Block(self.path, line)
        return block
