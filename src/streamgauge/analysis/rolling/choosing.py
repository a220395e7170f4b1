"""Which event files are looked at next: the oldest sends, and whatever was read up to the last of them.

Of what a consumer read, files are taken from its first to the last one that may hold one of these sends: what
it read is judged in its order.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from streamgauge.analysis.feeding.slices import RowGroup
from streamgauge.tables.events import SENDS

_NAME = re.compile(r"(?P<agent>.+)-(?P<part>\d{5})(?:r(?P<roll_up>\d{5}))?\.parquet")
"""As agents name them, and with the number of the roll-up what one left to be looked at again."""


@dataclass(frozen=True)
class EventFile:
    table: str
    path: str
    agent: str
    order: tuple[int, int]
    """Among the files of its agent."""
    groups: tuple[RowGroup, ...]

    @property
    def is_rest(self) -> bool:
        return self.order[1] > 0

    @property
    def rows(self) -> int:
        return sum(group.rows for group in self.groups)

    @property
    def last_due_ns(self) -> int | None:
        """None when the file does not say."""
        ends = [group.intended_ns for group in self.groups]
        return max((end[1] for end in ends if end is not None), default=None) if all(ends) else None

    @property
    def last_sequence(self) -> int:
        return max((group.sequences[1] for group in self.groups if group.sequences), default=-1)

    def may_share(self, other: EventFile) -> bool:
        """Whether some message may be in both."""
        return any(
            _meet(own.producers, its.producers) and _meet(own.sequences, its.sequences)
            for own in self.groups
            for its in other.groups
        )


@dataclass(frozen=True)
class Chosen:
    sends: tuple[EventFile, ...]
    receives: tuple[EventFile, ...]

    @property
    def rows(self) -> int:
        return sum(file.rows for file in (*self.sends, *self.receives))


def event_files(groups: Iterable[RowGroup]) -> list[EventFile]:
    """Those that a roll-up may look at: others have been judged, or are of an agent that is gone."""
    by_path: dict[str, list[RowGroup]] = defaultdict(list)
    for group in groups:
        by_path[group.file].append(group)
    found = []
    for path, own in by_path.items():
        name = _NAME.fullmatch(path.rpartition("/")[2])
        if name is not None:
            order = (int(name["part"]), int(name["roll_up"] or 0))
            found.append(EventFile(own[0].table, path, name["agent"], order, tuple(own)))
    return found


def choose(files: Sequence[EventFile], until_ns: int, most_sends: int, most_rows: int) -> Chosen | None:
    """`until_ns`: what was due later stays; None: there is nothing new, or it is in no order at all."""
    receives = [file for file in files if file.table != SENDS.name]
    reached = max((file.last_sequence for file in receives), default=None)
    sends = sorted(
        (
            (due_ns, file)
            for file in files
            if file.table == SENDS.name
            and (due_ns := file.last_due_ns) is not None
            and due_ns <= until_ns
            and (reached is None or file.last_sequence <= reached)
        ),
        key=lambda found: (not found[1].is_rest, found[0]),
    )
    taken: list[EventFile] = []
    for _, file in sends:
        if taken and not file.is_rest and sum(own.rows for own in taken) + file.rows > most_sends:
            break
        taken.append(file)
    while any(not file.is_rest for file in taken):
        in_order = sorted(taken, key=lambda file: (file.agent, file.order))
        chosen = Chosen(tuple(in_order), tuple(_read_with(taken, receives)))
        if chosen.rows <= most_rows:
            return chosen
        taken.pop()
    return None


def _read_with(sends: Sequence[EventFile], receives: Iterable[EventFile]) -> Iterable[EventFile]:
    by_agent: dict[str, list[EventFile]] = defaultdict(list)
    for file in receives:
        by_agent[file.agent].append(file)
    for own in by_agent.values():
        own.sort(key=lambda file: file.order)
        last = max((n for n, file in enumerate(own) if any(file.may_share(one) for one in sends)), default=-1)
        yield from own[: last + 1]


def _meet(one: tuple[int, int] | None, other: tuple[int, int] | None) -> bool:
    """Unknown ends may be anywhere."""
    return one is None or other is None or (one[0] <= other[1] and other[0] <= one[1])
