"""What every Kafka driver needs beside sending and receiving: is it there, topics, offsets."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

from confluent_kafka import Consumer as ConfluentConsumer
from confluent_kafka import KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from streamgauge.core.errors import BadInput, Unreachable
from streamgauge.spec.workload import Topics

LOGGER = logging.getLogger("streamgauge.librdkafka")

_TOPIC_DEADLINE_S = 30.0
_DELETE_DEADLINE_S = 10.0


class KafkaTopics:
    """Administration of one cluster, through librdkafka."""

    def __init__(self, client: Mapping[str, Any]) -> None:
        self._client = dict(client)
        self._address = str(client["bootstrap.servers"])
        self._last_error = ""

    def check_reachable(self, deadline_s: float) -> dict[str, Any]:
        try:
            cluster = self._admin().list_topics(timeout=deadline_s)
        except KafkaException as error:
            why = self._last_error or error.args[0].str()
            raise Unreachable(
                f"Kafka at {self._address} did not answer within {deadline_s:g} s: {why}; "
                "check the address and that the broker is up"
            ) from None
        return {"cluster_id": cluster.cluster_id, "brokers": len(cluster.brokers), "bootstrap": self._address}

    def prepare(self, topics: Topics, names: tuple[str, ...]) -> list[str]:
        """Make the missing ones; a topic that is there must have the partitions asked for."""
        admin = self._admin()
        cluster = admin.list_topics(timeout=_TOPIC_DEADLINE_S)
        if topics.replicas > len(cluster.brokers):
            raise BadInput(
                f"load.topics.replicas: {topics.replicas} replicas need as many brokers; "
                f"the cluster at {self._address} has {len(cluster.brokers)}"
            )
        missing = []
        for name in names:
            there = cluster.topics.get(name)
            if there is None or there.error is not None:
                missing.append(name)
            elif len(there.partitions) != topics.partitions:
                raise BadInput(
                    f"load.topics: topic {name} exists with {len(there.partitions)} partitions, not "
                    f"{topics.partitions}; use its number, another name, or delete it first"
                )
        # Append time is the broker's own word on when a message was stored.
        config = {"message.timestamp.type": "LogAppendTime", **topics.config}
        new = [
            NewTopic(n, num_partitions=topics.partitions, replication_factor=topics.replicas, config=config)
            for n in missing
        ]
        if new:
            _settle(admin.create_topics(new, operation_timeout=_TOPIC_DEADLINE_S), "made")
            self._wait_for_leaders(admin, missing, topics.partitions)
        return missing

    def remove(self, names: list[str]) -> None:
        if names:
            admin = self._admin()  # must outlive the futures: they end when it does
            _settle(admin.delete_topics(names, operation_timeout=_DELETE_DEADLINE_S), "deleted")

    def end_offsets(self, topics: tuple[str, ...], partitions: int) -> dict[tuple[int, int], int]:
        consumer = ConfluentConsumer(
            {**self._client, "group.id": "streamgauge-offsets", "enable.auto.commit": False}, logger=LOGGER
        )
        try:
            return {
                (number, partition): self._end_of(consumer, TopicPartition(name, partition))
                for number, name in enumerate(topics)
                for partition in range(partitions)
            }
        finally:
            consumer.close()

    def _end_of(self, consumer: ConfluentConsumer, place: TopicPartition) -> int:
        """A leader that was just elected may not know it yet: ask again, for a while."""
        deadline = time.monotonic() + _TOPIC_DEADLINE_S
        while True:
            try:
                return int(consumer.get_watermark_offsets(place, timeout=_TOPIC_DEADLINE_S)[1])
            except KafkaException as error:
                if time.monotonic() > deadline:
                    raise Unreachable(
                        f"Kafka at {self._address} does not tell where {place.topic}/{place.partition} ends: "
                        f"{error.args[0].str()}"
                    ) from None
                time.sleep(0.05)

    def _admin(self) -> AdminClient:
        try:
            return AdminClient({**self._client, "error_cb": self._note_error}, logger=LOGGER)
        except KafkaException as error:
            raise bad_setting(error) from None

    def _note_error(self, error: Any) -> None:
        self._last_error = error.str()

    def _wait_for_leaders(self, admin: AdminClient, names: list[str], partitions: int) -> None:
        """A new topic can be used only when each partition has a leader."""
        deadline = time.monotonic() + _TOPIC_DEADLINE_S
        while time.monotonic() < deadline:
            known = admin.list_topics(timeout=_TOPIC_DEADLINE_S).topics
            if all(
                name in known
                and len(known[name].partitions) == partitions
                and all(p.leader >= 0 for p in known[name].partitions.values())
                for name in names
            ):
                return
            time.sleep(0.05)
        raise Unreachable(
            f"Kafka at {self._address}: new topics have no leaders after {_TOPIC_DEADLINE_S:g} s"
        )


def bad_setting(error: KafkaException) -> BadInput:
    """librdkafka's word on a setting it does not take."""
    return BadInput(f"target: client: {error.args[0].str()}")


def _settle(futures: dict[str, Future[None]], what: str) -> None:
    for name, future in futures.items():
        try:
            future.result(timeout=_TOPIC_DEADLINE_S + 5)
        except KafkaException as error:
            raise BadInput(f"load.topics: topic {name} could not be {what}: {error.args[0].str()}") from None
