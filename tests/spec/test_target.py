from __future__ import annotations

from typing import Any

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.spec.loading import load_target
from streamgauge.spec.target import Target
from streamgauge.systems.embedded_kafka import KafkaClusterSpec

from .conftest import Write
from .samples import TARGET

SECRET = "hunter2"
every_part = pytest.mark.parametrize("part", ["client", "producer_client", "consumer_client"])


@every_part
@pytest.mark.parametrize(
    "key",
    [
        "sasl.password",
        "SASL.PASSWORD",
        "ssl.key.password",
        "sasl.oauthbearer.client.secret",
        "ssl.key.pem",
        "ssl.key.passphrase",
        "auth.token",
        "basic.auth.credentials.source",
        "basic.auth.user.info",
        "ssl.keystore.key",
    ],
)
@pytest.mark.parametrize("value", [SECRET, "${NAME}" + SECRET, "${NAME}\n", "$NAME"])
def test_a_secret_in_the_clear_is_refused_and_not_repeated(
    write: Write, part: str, key: str, value: str
) -> None:
    path = write({**TARGET, part: {key: value}})
    with pytest.raises(BadInput) as caught:
        load_target(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert f"{part}.{key} holds a secret in the clear" in message
    assert SECRET not in message
    assert "\n" not in message


LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule required username='me' {};"


@pytest.mark.parametrize(
    "password",
    [
        f'password="{SECRET}"',
        f"password={SECRET}",
        f"password = '${{NAME}}{SECRET}'",
        f'clientId="me" clientSecret="{SECRET}"',
    ],
)
def test_a_secret_inside_a_java_login_is_refused_too(write: Write, password: str) -> None:
    path = write({**TARGET, "client": {"sasl.jaas.config": LOGIN.format(password)}})
    with pytest.raises(BadInput, match=r"client.sasl.jaas.config holds a secret in the clear") as caught:
        load_target(path)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("password", ['password="${NAME}"', "password=${NAME}", "password = '${NAME}' "])
def test_a_java_login_by_reference_is_taken_as_it_is(write: Write, password: str) -> None:
    client = {"sasl.jaas.config": LOGIN.format(password)}
    assert load_target(write({**TARGET, "client": client})).client == client


@every_part
def test_a_secret_by_reference_is_taken_as_it_is(write: Write, part: str) -> None:
    target = load_target(write({**TARGET, part: {"sasl.password": "${KAFKA_PASSWORD}"}}))
    assert getattr(target, part) == {"sasl.password": "${KAFKA_PASSWORD}"}


def test_settings_keep_their_kind(write: Write) -> None:
    client = {"a": 5, "b": 0.5, "c": True, "d": "5", "e": "true"}
    loaded = load_target(write({**TARGET, "client": client})).client
    assert loaded == client
    assert [type(value) for value in loaded.values()] == [int, float, bool, str, str]


def test_a_system_may_be_all_defaults() -> None:
    target = Target.model_validate({**TARGET, "system": {}})
    assert target.system == KafkaClusterSpec(brokers=1)


@pytest.mark.parametrize("endless", [float("inf"), float("nan")])
def test_a_number_that_no_file_can_keep_is_refused(write: Write, endless: float) -> None:
    with pytest.raises(BadInput, match=r"client\.linger\.ms: must be text, a number"):
        load_target(write({**TARGET, "client": {"linger.ms": endless}}))


@pytest.mark.parametrize(
    ("part", "field"),
    [
        ({"settings": {"url": f"nats://me:{SECRET}@nats:4222"}}, "settings.url"),
        ({"settings": {"servers": ["nats://a:4222", f"nats://{SECRET}@b:4222"]}}, "settings.servers"),
        ({"settings": {"deep": {"token": SECRET}}}, "settings.deep.token"),
        ({"client": {"schema.registry.url": f"https://me:{SECRET}@r"}}, "client.schema.registry.url"),
        (
            {"system": {"kind": "redis_server", "properties": {"requirepass": SECRET}}},
            "system.properties.requirepass",
        ),
        (
            {
                "system": {
                    "kind": "nats_server",
                    "properties": {"authorization": f"{{user: a, password: {SECRET}}}"},
                }
            },
            "system.properties.authorization",
        ),
    ],
)
def test_a_secret_in_the_clear_is_refused_wherever_it_is(write: Write, part: Any, field: str) -> None:
    with pytest.raises(BadInput, match=rf"{field} holds a secret in the clear") as caught:
        load_target(write({**TARGET, **part}))
    assert SECRET not in str(caught.value)
