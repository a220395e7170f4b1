"""What all Kafka drivers have in common: where the cluster is, its topics, the shared settings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from streamgauge.core.errors import BadInput
from streamgauge.core.outside import LOGIN, RUN_USER, run_token
from streamgauge.drivers.contract import (
    Capabilities,
    ConsumerOptions,
    Driver,
    Need,
    PartitionState,
    ProducerOptions,
    SharedSetting,
)
from streamgauge.drivers.kafka.connection import for_librdkafka, login
from streamgauge.drivers.kafka.security import ENDPOINT_SUFFIX, Security, read_security_file
from streamgauge.drivers.kafka.settings import KafkaSettings, Library, Role, in_force, promised, translate
from streamgauge.drivers.kafka.topics import KafkaTopics, TopicFound
from streamgauge.spec.target import Target
from streamgauge.spec.topics import Topics

_RESET = {
    "librdkafka": "auto.offset.reset",
    "kafka-clients": "auto.offset.reset",
    "kafka-python": "auto_offset_reset",
    "aiokafka": "auto_offset_reset",
}
"""Where a reader goes on whose place is no more, as after an unclean election, and whose library does not
know where the log diverged. By every library's default at the end: what is still there would not be read, and
count as lost. From the beginning it is read again at worst, and that is told apart."""


class ClientSettings:
    """Settings of one client: what the library is given, and what of it has a name across libraries."""

    def __init__(
        self, library: Library, role: Role, wanted: Mapping[str, Any], native: Mapping[str, Any]
    ) -> None:
        self._library, self._role, self._wanted = library, role, wanted
        self.native = translate(library, role, wanted, native)

    def shared(self, told: Mapping[str, Any] | None = None) -> list[SharedSetting]:
        """`told`: all settings by the library's own account, where it gives one."""
        return in_force(self._library, self._role, self._wanted, self.native if told is None else told)

    def untold(self) -> dict[str, Any]:
        """Of a library that tells nothing of itself: what it was given, and what it promises by default."""
        return {**self.native, **promised(self.shared())}


class KafkaDriver(Driver):
    """A driver of one Kafka client library; topics are administered through librdkafka."""

    capabilities = Capabilities(durable=True, ordered=True, acked=True, record_headers=True)
    library: ClassVar[Library]
    settings_model: ClassVar[type[KafkaSettings]] = KafkaSettings
    bootstrap_name: ClassVar[str]
    """The library's own name for the address."""

    def __init__(self, target: Target, endpoints: Mapping[str, str]) -> None:
        self.settings = self.settings_model.model_validate(target.settings)
        self.security, place = self._security(endpoints)
        bootstrap = (
            self.settings.bootstrap
            or endpoints.get("bootstrap")
            or target.client.get(self.bootstrap_name)
            or place
        )
        if not bootstrap:
            raise BadInput(
                f"target {target.name}: settings.bootstrap: no Kafka address, and no system to start"
            )
        self.target = target
        self._client = {
            **self.security.words(self.library),
            **target.client,
            self.bootstrap_name: bootstrap,
        }
        connection = {**self.security.words("librdkafka"), **for_librdkafka(self.library, target)}
        if not self.settings.bootstrap and f"bootstrap{LOGIN}" in endpoints:
            token = run_token()
            self._client |= login(self.library, RUN_USER, token)
            connection |= login("librdkafka", RUN_USER, token)
        self._topics = KafkaTopics({**connection, "bootstrap.servers": str(bootstrap)})

    def _security(self, endpoints: Mapping[str, str]) -> tuple[Security, str | None]:
        """Of the file that was given; else of the system's, where it is that which is meant."""
        file: Path | str | None = self.settings.security_file
        if file is None and not self.settings.bootstrap:
            file = endpoints.get(f"bootstrap{ENDPOINT_SUFFIX}")
        return (Security(), None) if file is None else read_security_file(Path(file).expanduser())

    def check_reachable(self, deadline_s: float) -> dict[str, Any]:
        return {**self.library_version(), **self._topics.check_reachable(deadline_s)}

    def broker_places(self, deadline_s: float) -> list[tuple[str, int]]:
        return self._topics.broker_places(deadline_s)

    def found_topics(self, deadline_s: float) -> dict[str, TopicFound]:
        return self._topics.found(deadline_s)

    def prepare_topics(self, topics: Topics, names: tuple[str, ...]) -> list[str]:
        return self._topics.prepare(topics, names)

    def check_rights(self, topics: tuple[str, ...], need: Need) -> None:
        self._topics.check_rights(topics, need)

    def remove_topics(self, names: list[str]) -> None:
        self._topics.remove(names)

    def end_offsets(self, topics: tuple[str, ...], partitions: int) -> dict[tuple[int, int], int]:
        return self._topics.end_offsets(topics, partitions)

    def partition_state(self, topic: str, partition: int) -> PartitionState:
        return self._topics.partition_state(topic, partition)

    def producer_settings(self, options: ProducerOptions, own: Mapping[str, Any]) -> ClientSettings:
        """`own`: what the driver itself needs, unless the target says otherwise."""
        wanted = {**self.settings.model_dump(), "acks": options.acks, "compression": options.compression}
        native = {**own, **self._client, **self.target.producer_client}
        return ClientSettings(self.library, "producer", wanted, native)

    def consumer_settings(self, options: ConsumerOptions | None, own: Mapping[str, Any]) -> ClientSettings:
        reset = {_RESET[self.library]: "earliest"}
        native = {**reset, **own, **self._client, **self.target.consumer_client}
        return ClientSettings(self.library, "consumer", self.settings.model_dump(), native)
