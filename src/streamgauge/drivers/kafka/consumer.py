"""What the consumers of all Kafka libraries with blocking calls do alike."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any

from streamgauge.core.errors import Unreachable
from streamgauge.drivers.contract import Consumer, ConsumerOptions, Received, all_read

_READY_POLL_S = 0.02


class KafkaConsumer(Consumer):
    """Knows where it began; a library's own class says how to assign, fetch, and where it is."""

    def __init__(self, options: ConsumerOptions) -> None:
        self._options = options
        self._topic_numbers = {name: number for number, name in enumerate(options.topics)}
        self._start = dict(options.start)
        self._early: list[Received] = []
        self._dealt_count = 0

    def begin(self) -> None:
        """As the options say; to be called when the library's client has been made."""
        if self._options.group is not None:
            self._subscribe()
        elif self._options.partitions:
            self.assign(self._options.starts())

    def assign(self, start: Mapping[tuple[int, int], int]) -> None:
        self._start, self._early = dict(start), []
        self._assign(self._start)

    def wait_ready(self, deadline_s: float) -> None:
        """Ready when a fetch of every partition has been answered: then its end is known."""
        deadline = time.monotonic() + deadline_s
        while time.monotonic() < deadline:
            if (early := self._fetch_early(_READY_POLL_S)) is not None:
                self._early.append(early)
            if self._ends_known():
                return
        raise unreadable(self._options, deadline_s)

    def poll(self, timeout_s: float) -> Received | None:
        return self._early.pop(0) if self._early else self._fetch(timeout_s)

    def caught_up(self, ends: Mapping[tuple[int, int], int]) -> bool:
        if self._early:
            return False
        return all_read(dict(self._positions()), ends)

    def dealt_count(self) -> int | None:
        return self._dealt_count if self._options.group is not None else None

    @abstractmethod
    def _subscribe(self) -> None:
        """Join the group; what it deals out is read from `_start`, else from the beginning."""

    @abstractmethod
    def _assign(self, start: Mapping[tuple[int, int], int]) -> None: ...

    @abstractmethod
    def _fetch(self, timeout_s: float) -> Received | None: ...

    def _fetch_early(self, timeout_s: float) -> Received | None:
        """While it is not known yet whether all partitions are read; what comes is told of later."""
        return self._fetch(timeout_s)

    @abstractmethod
    def _ends_known(self) -> bool:
        """Something is assigned, and a fetch of each of it has been answered."""

    @abstractmethod
    def _positions(self) -> Iterable[tuple[tuple[int, int], int]]:
        """(topic, partition) and the next offset, of all that is assigned."""


class SeeksStart:
    """For libraries that are told where to begin once they have their partitions."""

    _consumer: Any
    _topic_numbers: dict[str, int]
    _start: dict[tuple[int, int], int]
    _dealt_count: int

    def _seek_dealt(self, places: Any) -> None:
        """What a group deals out is read from where the case begins."""
        self._dealt_count += 1
        self._seek_start(places)

    def _seek_start(self, places: Any) -> None:
        for place in places:
            self._consumer.seek(place, self._start.get(self._number(place), 0))

    def _number(self, place: Any) -> tuple[int, int]:
        return self._topic_numbers[place.topic], place.partition

    def _all_answered(self) -> bool:
        """Something is assigned, and a fetch of each of it has been answered: then its end is known."""
        places = self._consumer.assignment()
        return bool(places) and all(self._consumer.highwater(place) is not None for place in places)


def unreadable(options: ConsumerOptions, deadline_s: float) -> Unreachable:
    return Unreachable(
        f"consumer {options.number} could not read its partitions within {deadline_s:g} s; "
        "check that the brokers' advertised addresses can be reached"
    )
