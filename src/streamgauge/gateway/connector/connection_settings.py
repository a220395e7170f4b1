"""A connection to Kafka: every parameter of a data provider, under the connector's own names."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, field_validator, model_validator

from streamgauge.gateway.connector.evaluator_settings import (
    STRUCTURED_TYPES,
    EvaluatorSettings,
)
from streamgauge.gateway.connector.expressions import Expression, Root, parse_wrapped
from streamgauge.gateway.connector.items import PREFIX, Template, parse_template
from streamgauge.gateway.connector.parameters import Addresses, Flag, Names, Text
from streamgauge.gateway.connector.security_settings import (
    AuthenticationSettings,
    EncryptionSettings,
    RegistrySettings,
)
from streamgauge.spec.model import SpecModel

WILDCARD = "*"
_TEMPLATE_REFERENCE = "item-template."


def _template(text: Any) -> Any:
    return parse_template(text.strip()) if isinstance(text, str) else text


def _expression(text: Any) -> Any:
    if not isinstance(text, str):
        return text
    written = text.strip()
    return parse_wrapped(written, wildcard=written.endswith(".*}"))


def _targets(names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if not name.startswith(_TEMPLATE_REFERENCE) and not PREFIX.fullmatch(name):
            raise ValueError(
                f"{name!r} is neither an item (letters, digits, '_', '-') nor item-template.<NAME>"
            )
    return names


ItemTemplate = Annotated[Template, BeforeValidator(_template)]
Targets = Annotated[Names, AfterValidator(_targets)]
FieldExpression = Annotated[Expression, BeforeValidator(_expression)]


class ConnectionSettings(SpecModel):
    """One data provider."""

    enable: Flag = Field(default=True, description="`false`: every subscription is refused (code -1).")
    bootstrap_servers: Addresses = Field(
        alias="bootstrap.servers", description="Kafka: `host:port[,host:port …]`."
    )
    group_id: Text | None = Field(
        default=None,
        alias="group.id",
        description="Consumer group; by default `ADAPTER_SET-CONNECTION-random`, a new one at each start.",
    )
    encryption: EncryptionSettings = EncryptionSettings()
    authentication: AuthenticationSettings = AuthenticationSettings()
    registry: RegistrySettings = Field(default=RegistrySettings(), alias="schema.registry")

    consume_from: Literal["LATEST", "EARLIEST"] = Field(
        default="LATEST",
        alias="record.consume.from",
        description="Where a group without committed offsets begins.",
    )
    reads_unwatched: Flag = Field(
        default=True,
        alias="record.consume.unwatched.enable",
        description="Whether records that came while nobody was subscribed are read at the next "
        "subscription; `false`: it begins at the end.",
    )
    max_poll_records: Annotated[int, Field(ge=1, le=100_000)] = Field(
        default=500,
        alias="record.consume.with.max.poll.records",
        description="The most records handed over at once.",
    )
    session_timeout_ms: Annotated[int, Field(ge=1, le=3_600_000)] = Field(
        default=45_000,
        alias="record.consume.with.session.timeout.ms",
        description="Kafka's session.timeout.ms.",
    )
    max_poll_interval_ms: Annotated[int, Field(ge=1, le=86_400_000)] = Field(
        default=30_000,
        alias="record.consume.with.max.poll.interval.ms",
        description="Kafka's max.poll.interval.ms; raised to the session timeout if lower, because "
        "librdkafka requires it.",
    )
    num_threads: Annotated[int, Field(ge=-1)] = Field(
        default=1,
        alias="record.consume.with.num.threads",
        description="Accepted, but has no effect: one thread maps records, in partition order.",
    )
    order_strategy: Literal["ORDER_BY_PARTITION", "ORDER_BY_KEY", "UNORDERED"] = Field(
        default="ORDER_BY_PARTITION",
        alias="record.consume.with.order.strategy",
        description="Accepted, but has no effect: the order is always that of the partition, which satisfies "
        "all three.",
    )
    key: EvaluatorSettings = Field(default=EvaluatorSettings(), alias="record.key.evaluator")
    value: EvaluatorSettings = Field(default=EvaluatorSettings(), alias="record.value.evaluator")
    error_strategy: Literal["IGNORE_AND_CONTINUE", "FORCE_UNSUBSCRIPTION"] = Field(
        default="IGNORE_AND_CONTINUE",
        alias="record.extraction.error.strategy",
        description="Whether a record that cannot be mapped is skipped, or ends all subscriptions.",
    )

    templates: dict[str, ItemTemplate] = Field(
        default={},
        alias="item-template",
        description="`prefix-#{name=EXPRESSION,…}`: the items that records are matched to.",
    )
    targets: dict[str, Targets] = Field(
        default={},
        alias="map",
        description="The items and `item-template.NAME`s that the topic's records go to; at least one topic "
        "is required.",
    )
    topics_are_patterns: Flag = Field(
        default=False, alias="map.regex.enable", description="Whether TOPIC is a regular expression."
    )
    fields: dict[str, FieldExpression] = Field(
        default={},
        alias="field",
        description="`#{EXPRESSION}`; for `field.*`: `#{EXPRESSION.*}`; at least one field is required.",
    )
    skip_failed: Flag = Field(
        default=False,
        alias="fields.skip.failed.mapping.enable",
        description="Whether a field that cannot be mapped is left out, rather than the whole record.",
    )
    non_scalars: Flag = Field(
        default=False,
        alias="fields.map.non.scalar.values.enable",
        description="Whether objects and lists become JSON text, rather than an error.",
    )
    evaluate_as_command: Flag = Field(
        default=False,
        alias="fields.evaluate.as.command.enable",
        description="Whether records say ADD, UPDATE or DELETE in the field `command`, for the row in the "
        "field `key`.",
    )
    auto_command: Flag = Field(
        default=False,
        alias="fields.auto.command.mode.enable",
        description="Whether to fill in `command`: DELETE for null values, otherwise ADD or UPDATE.",
    )

    @field_validator("num_threads")
    @classmethod
    def _some_threads(cls, threads: int) -> int:
        if threads == 0:
            raise ValueError("must be 1 or more, or -1 for as many as there are cores, not 0")
        return threads

    @field_validator("fields")
    @classmethod
    def _wildcards(cls, fields: dict[str, Expression]) -> dict[str, Expression]:
        for name, expression in fields.items():
            if expression.wildcard != (name == WILDCARD):
                what = "must" if name == WILDCARD else "must not"
                raise ValueError(f"{name}: #{{{expression.text}}} {what} end in .*")
        return fields

    @model_validator(mode="after")
    def _whole(self) -> Self:
        """A message that begins with a parameter's name is told with that parameter's line."""
        self._check_expressions()
        self._check_registry()
        self._check_topics()
        self._check_commands()
        return self

    @property
    def routes(self) -> dict[str, tuple[Template, ...]]:
        """Topic (or pattern) → templates; a plain item is one without parameters."""
        return {
            topic: tuple(
                self.templates[name.removeprefix(_TEMPLATE_REFERENCE)]
                if name.startswith(_TEMPLATE_REFERENCE)
                else Template(name, ())
                for name in names
            )
            for topic, names in self.targets.items()
        }

    @property
    def plain_fields(self) -> dict[str, Expression]:
        return {name: expression for name, expression in self.fields.items() if name != WILDCARD}

    @property
    def wildcard(self) -> Expression | None:
        return self.fields.get(WILDCARD)

    def expressions(self) -> list[Expression]:
        """All that are ever read."""
        of_templates = [e for templates in self.routes.values() for t in templates for e in t.expressions]
        return [*self.fields.values(), *of_templates]

    def _check_expressions(self) -> None:
        """Plain values have no parts."""
        given: dict[str, tuple[Expression, ...]] = {f"field.{name}": (e,) for name, e in self.fields.items()}
        given |= {f"item-template.{name}": template.expressions for name, template in self.templates.items()}
        for parameter, expressions in given.items():
            for e in expressions:
                kind = {Root.KEY: self.key.type, Root.VALUE: self.value.type}.get(e.root, "JSON")
                if kind not in STRUCTURED_TYPES and (e.steps or e.wildcard):
                    raise ValueError(
                        f"{parameter}: {e.text}: nothing can follow {e.root}, which is of type {kind}; "
                        f"set record.{e.root.lower()}.evaluator.type to one of {', '.join(STRUCTURED_TYPES)}"
                    )

    def _check_registry(self) -> None:
        if (self.key.schema_registry or self.value.schema_registry) and self.registry.url is None:
            raise ValueError("schema.registry.url: is required when an evaluator has schema.registry.enable")

    def _check_topics(self) -> None:
        if not self.targets:
            raise ValueError("map.<TOPIC>.to: at least one is required")
        for topic, names in self.targets.items():
            for name in names:
                known = name.removeprefix(_TEMPLATE_REFERENCE)
                if name.startswith(_TEMPLATE_REFERENCE) and known not in self.templates:
                    allowed = ", ".join(sorted(self.templates)) or "none is defined"
                    raise ValueError(f"map.{topic}.to: there is no item-template.{known} ({allowed})")
            if self.topics_are_patterns:
                try:
                    re.compile(topic)
                except re.error as error:
                    raise ValueError(f"map.{topic}.to: {topic!r} is no regular expression: {error}") from None

    def _check_commands(self) -> None:
        if not self.fields:
            raise ValueError("field.<NAME>: at least one is required")
        if (self.auto_command or self.evaluate_as_command) and "key" not in self.fields:
            raise ValueError("field.key: is required by the command modes")
        # The automatic mode makes the other one ineffective.
        if self.evaluate_as_command and not self.auto_command:
            if "command" not in self.fields:
                raise ValueError("fields.evaluate.as.command.enable: needs field.command")
            if self.num_threads != 1:
                raise ValueError(
                    "record.consume.with.num.threads: must be 1 with fields.evaluate.as.command.enable: "
                    "commands have an order"
                )
