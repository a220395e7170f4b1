"""What every Kafka driver needs beside sending and receiving: is it there, topics, offsets."""

from __future__ import annotations

import logging
import time
from collections.abc import Container, Mapping
from concurrent.futures import Future
from contextlib import suppress
from functools import cached_property
from typing import Any, NamedTuple

from confluent_kafka import KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec

from streamgauge.core.errors import BadInput, Refused, StreamgaugeError, Unreachable
from streamgauge.drivers.contract import Need, PartitionState
from streamgauge.drivers.kafka.admission import Admission
from streamgauge.drivers.kafka.rights import check_rights, is_denied, lacking
from streamgauge.spec.topics import Topics

LOGGER = logging.getLogger("streamgauge.librdkafka")

_TOPIC_DEADLINE_S = 30.0
_DELETE_DEADLINE_S = 10.0
_LEADER_LOOK_S = 0.05
_ANSWER_LOOK_S = 0.5
_SILENT_S = 3.0
"""Then another client is asked, which has no connections yet."""
_ENDS_LOOK_S = 3.0
"""What librdkafka knows of a topic's leaders may be stale for as long as it waits: so it waits shortly."""


class TopicFound(NamedTuple):
    partitions: int
    replicas: int


class KafkaTopics:
    """Administration of one cluster, through librdkafka; one client for all of it."""

    def __init__(self, client: Mapping[str, Any]) -> None:
        self._client = dict(client)
        self._address = str(client["bootstrap.servers"])
        self._admission = Admission(self._client)

    def check_reachable(self, deadline_s: float) -> dict[str, Any]:
        cluster = self._cluster(deadline_s)
        return {"cluster_id": cluster.cluster_id, "brokers": len(cluster.brokers), "bootstrap": self._address}

    def broker_places(self, deadline_s: float) -> list[tuple[str, int]]:
        """Host and port of every broker, as the cluster itself names them."""
        brokers = self._cluster(deadline_s).brokers
        return [(broker.host, broker.port) for _, broker in sorted(brokers.items())]

    def found(self, deadline_s: float = _TOPIC_DEADLINE_S) -> dict[str, TopicFound]:
        """Topics that are there, by name; those that Kafka keeps for itself too."""
        return {
            name: TopicFound(
                len(topic.partitions), max((len(p.replicas) for p in topic.partitions.values()), default=0)
            )
            for name, topic in sorted(self._cluster(deadline_s).topics.items())
            if topic.error is None
        }

    def prepare(self, topics: Topics, names: tuple[str, ...]) -> list[str]:
        """Make the missing ones; a topic that is there must have the partitions asked for."""
        cluster = self._cluster(_TOPIC_DEADLINE_S)
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
            self._make(new, topics.partitions)
        return missing

    def check_rights(self, names: tuple[str, ...], need: Need) -> None:
        check_rights(self._admin, names, need)

    def remove(self, names: list[str]) -> None:
        """A topic that somebody else has deleted is gone as well."""
        if names:
            futures = self._admin.delete_topics(names, operation_timeout=_DELETE_DEADLINE_S)
            _settle(futures, "deleted", also_fine=(KafkaError.UNKNOWN_TOPIC_OR_PART,))

    def end_offsets(self, topics: tuple[str, ...], partitions: int) -> dict[tuple[int, int], int]:
        """One request a broker, however many partitions there are."""
        numbers = {name: number for number, name in enumerate(topics)}
        wanted = {TopicPartition(name, p): OffsetSpec.latest() for name in topics for p in range(partitions)}
        ends: dict[tuple[int, int], int] = {}
        deadline = time.monotonic() + _TOPIC_DEADLINE_S
        admin = self._admin
        while True:
            futures = admin.list_offsets(wanted, request_timeout=_ENDS_LOOK_S)
            again, last_error = {}, ""
            for place, future in futures.items():
                try:
                    ends[numbers[place.topic], place.partition] = int(future.result().offset)
                except KafkaException as error:
                    again[place], last_error = OffsetSpec.latest(), error.args[0].str()
            if not again:
                return ends
            # A leader that was just elected may not know it yet: ask again, for a while, and as somebody
            # who has heard nothing of these topics before.
            if time.monotonic() > deadline:
                place = next(iter(again))
                raise Unreachable(
                    f"Kafka at {self._address} does not tell where {place.topic}/{place.partition} ends: "
                    f"{last_error}"
                )
            wanted, admin = again, self._new_admin()
            time.sleep(_LEADER_LOOK_S)

    def partition_state(self, topic: str, partition: int) -> PartitionState:
        """Waits while there is no leader, or no answer: somebody is elected just now, and whom we asked may
        be the broker that has gone."""
        deadline = time.monotonic() + _TOPIC_DEADLINE_S
        silence: Unreachable | None = None
        while (left_s := deadline - time.monotonic()) > 0:
            try:
                known = self._cluster(left_s).topics.get(topic)
            except Unreachable as error:
                silence = error
                time.sleep(_LEADER_LOOK_S)
                continue
            found = None if known is None else known.partitions.get(partition)
            if found is not None and found.leader >= 0:
                names = (tuple(f"broker-{n}" for n in ids) for ids in (found.replicas, found.isrs))
                return PartitionState(f"broker-{found.leader}", *names)
            time.sleep(_LEADER_LOOK_S)
        raise silence or Unreachable(
            f"Kafka at {self._address}: {topic}/{partition} has no leader after {_TOPIC_DEADLINE_S:g} s"
        )

    def _make(self, new: list[NewTopic], partitions: int) -> None:
        """All of them, or none: nobody else would delete the rest."""
        made: list[str] = []
        try:
            _settle(self._admin.create_topics(new, operation_timeout=_TOPIC_DEADLINE_S), "made", made)
            self._wait_for_leaders(made, partitions)
        except StreamgaugeError:
            with suppress(StreamgaugeError):
                self.remove(made)
            raise

    @cached_property
    def _admin(self) -> AdminClient:
        return self._new_admin()

    def _new_admin(self) -> AdminClient:
        try:
            settings = {**self._client, "error_cb": self._admission.error_cb}
            return AdminClient(settings, logger=LOGGER)
        except KafkaException as error:
            raise bad_setting(error) from None

    def _cluster(self, deadline_s: float) -> Any:
        """The cluster as it says it is now."""
        until = time.monotonic() + deadline_s
        silent_until = time.monotonic() + _SILENT_S
        while True:
            left_s = max(until - time.monotonic(), 0.001)
            if time.monotonic() > silent_until:
                # librdkafka goes on asking one whose connection is up: a broker that stands still, say.
                self._admin = self._new_admin()
                silent_until += _SILENT_S
            try:
                return self._admin.list_topics(timeout=min(left_s, _ANSWER_LOOK_S))
            except KafkaException as error:
                self._admin.poll(0)
                if (why := self._admission.refusal()) is not None:
                    raise Refused(
                        f"Kafka at {self._address} does not let us in: {why}; "
                        "check the target's security settings"
                    ) from None
                if left_s > _ANSWER_LOOK_S:
                    continue
                why = self._admission.last_words(error.args[0].str())
            raise Unreachable(
                f"Kafka at {self._address} did not answer within {deadline_s:g} s: {why}; "
                "check the address and that the broker is up"
            )

    def _wait_for_leaders(self, names: list[str], partitions: int) -> None:
        """A new topic can be used only when each partition has a leader."""
        deadline = time.monotonic() + _TOPIC_DEADLINE_S
        while time.monotonic() < deadline:
            known = self._cluster(_TOPIC_DEADLINE_S).topics
            if all(
                name in known
                and len(known[name].partitions) == partitions
                and all(p.leader >= 0 for p in known[name].partitions.values())
                for name in names
            ):
                return
            time.sleep(0.02)
        raise Unreachable(
            f"Kafka at {self._address}: new topics have no leaders after {_TOPIC_DEADLINE_S:g} s"
        )


def bad_setting(error: KafkaException) -> BadInput:
    """librdkafka's word on a setting it does not take."""
    return BadInput(f"target: client: {error.args[0].str()}")


def _settle(
    futures: dict[str, Future[None]],
    what: str,
    done: list[str] | None = None,
    *,
    also_fine: Container[int] = (),
) -> None:
    """Wait for all; the first failure is raised, and `done` has those that did not fail."""
    failure: BadInput | None = None
    for name, future in futures.items():
        try:
            future.result(timeout=_TOPIC_DEADLINE_S + 5)
            if done is not None:
                done.append(name)
        except (KafkaException, TimeoutError) as error:
            if isinstance(error, KafkaException) and error.args[0].code() in also_fine:
                continue
            why = error.args[0].str() if isinstance(error, KafkaException) else "no answer"
            if isinstance(error, KafkaException) and is_denied(error):
                failure = failure or lacking(f"topic {name}", "Create" if what == "made" else "Delete")
            failure = failure or BadInput(f"load.topics: topic {name} could not be {what}: {why}")
    if failure is not None:
        raise failure
