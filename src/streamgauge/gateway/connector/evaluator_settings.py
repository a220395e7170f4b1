"""How keys and values are decoded: the parameters `record.key.evaluator.*` and `record.value.evaluator.*`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator

from streamgauge.gateway.connector.parameters import Character, Flag, Text
from streamgauge.spec.model import SpecModel

STRUCTURED_TYPES = ("JSON", "AVRO", "PROTOBUF", "KVP")
EvaluatorType = Literal[
    "STRING",
    "JSON",
    "AVRO",
    "PROTOBUF",
    "KVP",
    "INTEGER",
    "LONG",
    "SHORT",
    "DOUBLE",
    "FLOAT",
    "BOOLEAN",
    "UUID",
    "BYTE_ARRAY",
    "BYTE_BUFFER",
    "BYTES",
]


class EvaluatorSettings(SpecModel):
    """How keys, or values, are decoded."""

    type: EvaluatorType = Field(default="STRING", description="Format.")
    schema_path: Path | None = Field(
        default=None,
        alias="schema.path",
        description="AVRO: schema; JSON: JSON Schema to check with; PROTOBUF: descriptor file.",
    )
    schema_registry: Flag = Field(
        default=False,
        alias="schema.registry.enable",
        description="Whether records carry the id of a registered schema.",
    )
    message_type: Text | None = Field(
        default=None,
        alias="protobuf.message.type",
        description="PROTOBUF with a descriptor file: the message type.",
    )
    pairs_separator: Character = Field(
        default=",", alias="kvp.pairs.separator", description="KVP: between pairs."
    )
    key_value_separator: Character = Field(
        default="=", alias="kvp.key-value.separator", description="KVP: inside a pair."
    )

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.type in ("AVRO", "PROTOBUF") and self.schema_path is None and not self.schema_registry:
            raise ValueError(f"type: {self.type} needs schema.path or schema.registry.enable")
        if self.schema_path is not None and self.schema_registry:
            raise ValueError("schema.path: excludes schema.registry.enable; give one of them")
        if self.type == "PROTOBUF" and self.schema_path is not None and self.message_type is None:
            raise ValueError("protobuf.message.type: is required for PROTOBUF with schema.path")
        if self.schema_registry and self.type not in ("AVRO", "PROTOBUF", "JSON"):
            raise ValueError(f"schema.registry.enable: is for AVRO, PROTOBUF and JSON, not for {self.type}")
        return self
