"""Settings → evaluators, schemas loaded."""

from __future__ import annotations

from streamgauge.core.errors import BadInput
from streamgauge.gateway.connector.evaluator_settings import EvaluatorSettings
from streamgauge.gateway.connector.evaluators.avro_records import AvroEvaluator, load_avro_schema
from streamgauge.gateway.connector.evaluators.contract import Evaluator
from streamgauge.gateway.connector.evaluators.json_records import JsonEvaluator, load_json_schema
from streamgauge.gateway.connector.evaluators.kvp_records import KvpEvaluator
from streamgauge.gateway.connector.evaluators.protobuf_records import (
    ProtobufEvaluator,
    load_message_type,
)
from streamgauge.gateway.connector.evaluators.scalars import ScalarEvaluator
from streamgauge.gateway.connector.keystores import tls_context
from streamgauge.gateway.connector.parameters import BadParameter
from streamgauge.gateway.connector.schema_registry import SchemaRegistry
from streamgauge.gateway.connector.security_settings import RegistrySettings


def make_evaluator(settings: EvaluatorSettings, registry: SchemaRegistry | None, prefix: str) -> Evaluator:
    """Raises BadParameter for a schema that cannot be read or does not fit; `prefix` is the parameters'."""
    try:
        return _made(settings, registry)
    except BadInput as error:
        raise BadParameter(f"{prefix}.schema.path", str(error)) from None


def make_registry(settings: RegistrySettings) -> SchemaRegistry | None:
    if settings.url is None:
        return None
    user = settings.basic_username if settings.basic_enable else None
    password = settings.basic_password.get_secret_value() if settings.basic_password is not None else None
    try:
        tls = tls_context(settings.encryption) if settings.url.startswith("https://") else None
    except BadParameter as error:
        raise BadParameter(f"schema.registry.confluent.encryption.{error.parameter}", error.words) from None
    return SchemaRegistry(settings.url, user=user, password=password, tls=tls)


def _made(settings: EvaluatorSettings, registry: SchemaRegistry | None) -> Evaluator:
    from_registry = registry if settings.schema_registry else None
    if settings.type == "JSON":
        check = load_json_schema(settings.schema_path) if settings.schema_path is not None else None
        return JsonEvaluator(check=check, from_registry=settings.schema_registry)
    if settings.type == "AVRO":
        schema = load_avro_schema(settings.schema_path) if settings.schema_path is not None else None
        return AvroEvaluator(schema=schema, registry=from_registry)
    if settings.type == "PROTOBUF":
        if settings.schema_path is None:
            return ProtobufEvaluator(registry=from_registry)
        assert settings.message_type is not None
        return ProtobufEvaluator(message_type=load_message_type(settings.schema_path, settings.message_type))
    if settings.type == "KVP":
        return KvpEvaluator(settings.pairs_separator, settings.key_value_separator)
    if settings.schema_path is not None:
        raise BadInput(f"{settings.schema_path}: {settings.type} has no schema; leave schema.path out")
    return ScalarEvaluator(settings.type)
