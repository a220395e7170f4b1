"""Where reading goes on, by partition: what was handed over, and what has been published."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from confluent_kafka import OFFSET_BEGINNING, OFFSET_STORED, KafkaException, TopicPartition

LOGGER = logging.getLogger("streamgauge.gateway")

_ASK_S = 5.0
_DEADLINE_S = 20.0
_PAUSE_S = 0.1


class Place(NamedTuple):
    topic: str
    partition: int


class Positions:
    """Kept from one consumption to the next, so that nothing is read twice and nothing is missed.

    The consuming thread notes what it hands over. The loop notes what has been published: only that is
    committed, and only from there the next consumption goes on.
    """

    def __init__(self, *, from_earliest: bool) -> None:
        self._from_earliest = from_earliest
        self._known: Mapping[str, int] = {}
        self._begun = False
        self._handed: dict[Place, int] = {}
        self._published: dict[Place, int] = {}
        self._committed: dict[Place, int] = {}

    def begin(self, partitions_by_topic: Mapping[str, int]) -> None:
        """A consumption begins; these partitions exist. Others that come up later are new, and read whole."""
        self._handed = dict(self._published)
        if not self._begun:
            self._known, self._begun = dict(partitions_by_topic), True

    def handed_over(self, messages: Sequence[Any]) -> None:
        handed = self._handed
        for message in messages:
            handed[Place(message.topic(), message.partition())] = message.offset() + 1

    def published(self, message: Any) -> None:
        """All up to and including this message of its partition."""
        self._published[Place(message.topic(), message.partition())] = message.offset() + 1

    def to_commit(self) -> dict[Place, int]:
        """What has been published since the last call."""
        published = dict(self._published)
        new = {place: offset for place, offset in published.items() if self._committed.get(place) != offset}
        self._committed = published
        return new

    def starts(self, consumer: Any, places: Sequence[Place]) -> dict[Place, int]:
        """Where to read from: our own memory, else what the group committed, else as configured.

        Several members of one group may take turns: whoever is further knows better.
        """
        committed = self._ask(lambda: _committed(consumer, places), "committed offsets") or {}
        found: dict[Place, int] = {}
        for place in places:
            known = max(self._handed.get(place, -1), committed.get(place, -1))
            found[place] = known if known >= 0 else self._first(consumer, place)
            if found[place] >= 0:
                self._handed[place] = found[place]
                self._published.setdefault(place, found[place])
        return found

    def _first(self, consumer: Any, place: Place) -> int:
        """The end as it is now, as a number: asked for later, after an outage, it would be another one."""
        if self._from_earliest or place.partition >= self._known.get(place.topic, 0):
            return OFFSET_BEGINNING  # type: ignore[no-any-return]
        end = self._ask(lambda: _end(consumer, place), f"the end of {place.topic}/{place.partition}")
        return int(OFFSET_STORED if end is None else end)

    def _ask(self, question: Any, what: str) -> Any:
        until = time.monotonic() + _DEADLINE_S
        while True:
            try:
                return question()
            except KafkaException as error:
                if time.monotonic() > until:
                    LOGGER.warning("Kafka does not tell %s: %s", what, error.args[0].str())
                    return None
                time.sleep(_PAUSE_S)


def _committed(consumer: Any, places: Sequence[Place]) -> dict[Place, int]:
    answers = consumer.committed([TopicPartition(p.topic, p.partition) for p in places], timeout=_ASK_S)
    return {Place(a.topic, a.partition): a.offset for a in answers if a.error is None and a.offset >= 0}


def _end(consumer: Any, place: Place) -> int:
    return int(
        consumer.get_watermark_offsets(TopicPartition(place.topic, place.partition), timeout=_ASK_S)[1]
    )
