"""A target: which driver, with which settings, against which system."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, field_validator, model_validator

from streamgauge.spec.model import Setting, SpecModel
from streamgauge.spec.secrecy import in_the_clear, texts_of

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")


class KafkaClusterSystem(SpecModel):
    """An embedded Apache Kafka, started for the run and stopped after it."""

    kind: Literal["kafka_cluster"] = "kafka_cluster"
    brokers: int = Field(default=1, ge=1, le=5)
    properties: dict[str, Setting] = {}
    """Broker properties beside or instead of ours."""

    @field_validator("brokers")
    @classmethod
    def _odd(cls, brokers: int) -> int:
        if brokers % 2 == 0:
            raise ValueError(f"{brokers} brokers cannot form a quorum well; allowed: 1, 3 or 5")
        return brokers


class AeronMediaDriverSystem(SpecModel):
    """Aeron's media driver, started for the run and stopped after it."""

    kind: Literal["aeron_media_driver"]
    profile: Literal["auto", "low_latency", "few_cores"] = "auto"
    """auto: low_latency from 5 cores on."""
    properties: dict[str, Setting] = {}
    """Aeron's own, beside or instead of the profile's."""


class NatsServerSystem(SpecModel):
    """A NATS server with JetStream, started for the run and stopped after it."""

    kind: Literal["nats_server"]
    properties: dict[str, Setting] = {}
    """Lines of its configuration file beside or instead of ours."""


class RabbitMqServerSystem(SpecModel):
    """A RabbitMQ node with its stream plugin, started for the run and stopped after it."""

    kind: Literal["rabbitmq_server"]
    properties: dict[str, Setting] = {}
    """Lines of its rabbitmq.conf beside or instead of ours."""


class RedisServerSystem(SpecModel):
    """A Redis or Valkey server, started for the run and stopped after it."""

    kind: Literal["redis_server"]
    properties: dict[str, Setting] = {}
    """Lines of its configuration file beside or instead of ours; `appendfsync` says what an ack is worth."""


_KINDS = ("aeron_media_driver", "nats_server", "rabbitmq_server", "redis_server")


def _system_branch(value: Any) -> str:
    kind = value.get("kind") if isinstance(value, dict) else getattr(value, "kind", None)
    return f"<{kind}>" if kind in _KINDS else "<kafka_cluster>"


# Branches are told apart before validation, so that an error speaks of the branch that was meant.
SystemSpec = Annotated[
    Annotated[KafkaClusterSystem, Tag("<kafka_cluster>")]
    | Annotated[AeronMediaDriverSystem, Tag("<aeron_media_driver>")]
    | Annotated[NatsServerSystem, Tag("<nats_server>")]
    | Annotated[RabbitMqServerSystem, Tag("<rabbitmq_server>")]
    | Annotated[RedisServerSystem, Tag("<redis_server>")],
    Discriminator(_system_branch),
]


class Target(SpecModel):
    """Driver + settings. `client` goes to the client library as it is."""

    name: str
    driver: str
    settings: dict[str, Any] = {}
    """The driver's own settings; the driver checks them."""
    client: dict[str, Setting] = {}
    """Native client settings, for producers and consumers alike."""
    producer_client: dict[str, Setting] = {}
    consumer_client: dict[str, Setting] = {}
    system: SystemSpec | None = None

    @field_validator("name")
    @classmethod
    def _plain_name(cls, name: str) -> str:
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is not a plain name; allowed: letters, digits, '_', '.', '-'")
        return name

    @model_validator(mode="after")
    def _secrets_by_reference(self) -> Target:
        """A secret written out would end up in the run folder, so it is refused."""
        for part, values in self.written_settings().items():
            for field, name, value in texts_of(part, "", values):
                if in_the_clear(name, value):
                    raise ValueError(
                        f"{field} holds a secret in the clear; "
                        "write ${NAME} and set NAME in the environment"
                    )
        return self

    def written_settings(self) -> dict[str, dict[str, Any]]:
        """All that is passed on to somebody else as it was written, by field."""
        parts = {
            "settings": self.settings,
            "client": self.client,
            "producer_client": self.producer_client,
            "consumer_client": self.consumer_client,
        }
        return parts if self.system is None else {**parts, "system.properties": self.system.properties}
