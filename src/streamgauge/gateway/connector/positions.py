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

    def __init__(self, *, from_earliest: bool, reads_unwatched: bool = True) -> None:
        """`reads_unwatched`: a further consumption goes on where the last one ended; else it begins at the
        end, and passes over what came between them."""
        self._from_earliest, self._reads_unwatched = from_earliest, reads_unwatched
        self._known: Mapping[str, int] = {}
        self._begun = self._passes_over = False
        self._ends: dict[Place, int] = {}
        """Where partitions ended when this consumption began, of those whose end matters."""
        self._handed: dict[Place, int] = {}
        self._published: dict[Place, int] = {}
        self._committed: dict[Place, int] = {}

    @property
    def needs_ends(self) -> bool:
        """Whether the next consumption begins where partitions end, which only Kafka knows."""
        return not self._reads_unwatched if self._begun else not self._from_earliest

    def begin(self, partitions_by_topic: Mapping[str, int]) -> None:
        """A consumption begins; these partitions exist. Others that come up later are new, and read whole."""
        self._ends = {}
        if self._begun and not self._reads_unwatched:
            self._known, self._passes_over = dict(partitions_by_topic), True
            self._handed, self._published = {}, {}
            return
        self._handed = dict(self._published)
        if not self._begun:
            self._known, self._begun = dict(partitions_by_topic), True

    def note_ends(self, consumer: Any, topics: Sequence[str]) -> None:
        """Where partitions end now, asked before the group is joined, which takes seconds: what comes
        meanwhile has come after the subscription. Who does not tell is asked again when it is ours."""
        if self._from_earliest and not self._passes_over:
            return
        places = [Place(topic, number) for topic in topics for number in range(self._known.get(topic, 0))]
        for place in places:
            if place not in self._handed:
                try:
                    self._ends[place] = _end(consumer, place)
                except KafkaException as error:
                    LOGGER.debug("the end of %s is asked for later: %s", place, error.args[0].str())
                    return

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
            if known < 0:
                known = self._first(consumer, place)
            elif self._passes_over and place not in self._handed:
                # What the group has committed is where we were; an end that is not told is below any offset.
                known = max(known, self._first(consumer, place))
            found[place] = known
            if found[place] >= 0:
                self._handed[place] = found[place]
                self._published.setdefault(place, found[place])
        return found

    def _first(self, consumer: Any, place: Place) -> int:
        """The end as it is now, as a number: asked for later, after an outage, it would be another one."""
        is_new = place.partition >= self._known.get(place.topic, 0)
        if is_new or (self._from_earliest and not self._passes_over):
            return OFFSET_BEGINNING  # type: ignore[no-any-return]
        if place in self._ends:
            return self._ends[place]
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
