"""Single messages into Kafka through librdkafka, each told of when its fate is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import confluent_kafka
from confluent_kafka import KafkaError, KafkaException, Message

from streamgauge.core.errors import Unreachable
from streamgauge.drivers.kafka_topics import LOGGER, bad_setting

Told = Callable[[int, str | None], None]
"""Of a message by its number: why it was not delivered, None when it was."""


class KafkaSender:
    """For few messages a second; `told` is called inside `poll` and `flush`."""

    def __init__(self, settings: Mapping[str, Any], topic: str, told: Told) -> None:
        self._topic, self._told = topic, told
        try:
            self._producer = confluent_kafka.Producer(dict(settings), logger=LOGGER)
            self._producer.list_topics(topic, timeout=15)
        except KafkaException as error:
            if error.args[0].code() == KafkaError._INVALID_ARG:
                raise bad_setting(error) from None
            raise Unreachable(f"the generator: {error.args[0].str()}") from None

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
