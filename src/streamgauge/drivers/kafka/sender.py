"""Single messages into Kafka through librdkafka, each told of when its fate is known."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import confluent_kafka
from confluent_kafka import KafkaError, KafkaException, Message

from streamgauge.core.errors import BadInput, Unreachable
from streamgauge.drivers.kafka.topics import LOGGER, bad_setting

_ANSWER_DEADLINE_S = 15.0
_TOPIC_DEADLINE_S = 3.0
_TOPIC_POLL_S = 0.2

Told = Callable[[int, str | None], None]
"""Of a message by its number: why it was not delivered, None when it was."""


class KafkaSender:
    """For few messages a second; `told` is called inside `poll` and `flush`."""

    def __init__(self, settings: Mapping[str, Any], topic: str, told: Told) -> None:
        self._topic, self._told = topic, told
        try:
            self._producer = confluent_kafka.Producer(dict(settings), logger=LOGGER)
            self._check_topic()
        except KafkaException as error:
            if error.args[0].code() == KafkaError._INVALID_ARG:
                raise bad_setting(error) from None
            raise Unreachable(f"the generator: {error.args[0].str()}") from None

    def _check_topic(self) -> None:
        """A broker that makes topics when they are asked for needs a moment."""
        until = time.monotonic() + _TOPIC_DEADLINE_S
        while self._producer.list_topics(self._topic, timeout=_ANSWER_DEADLINE_S).topics[self._topic].error:
            if time.monotonic() > until:
                raise BadInput(
                    f"there is no topic {self._topic}, and the broker makes none by itself; create it"
                )
            time.sleep(_TOPIC_POLL_S)

    def send(self, number: int, key: bytes | None, value: bytes) -> None:
        try:
            self._producer.produce(
                self._topic, value=value, key=key, on_delivery=partial(self._delivered, number)
            )
        except (BufferError, KafkaException) as error:
            self._told(number, str(error))

    def poll(self) -> None:
        self._producer.poll(0)

    def flush(self, deadline_s: float) -> int:
        """How many messages were not delivered by then."""
        return int(self._producer.flush(deadline_s))

    def close(self) -> None:
        self._producer.purge()
        self._producer.close()

    def _delivered(self, number: int, error: KafkaError | None, message: Message) -> None:
        self._told(number, None if error is None else error.str())
