from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.spec.secrecy import STRUCK_OUT, in_the_clear, is_secret, shown, struck_out

from ..core.properties import untimed

KNOWN_SECRETS = (
    # librdkafka
    "sasl.password",
    "ssl.key.password",
    "ssl.key.pem",
    "ssl.keystore.password",
    "sasl.oauthbearer.client.secret",
    "sasl.oauthbearer.client.credentials.client.secret",
    "sasl.oauthbearer.assertion.private.key.passphrase",
    "sasl.oauthbearer.assertion.private.key.pem",
    # kafka-clients
    "ssl.keystore.key",
    "ssl.truststore.password",
    # registries of schemas, as the serializers of both take them
    "basic.auth.user.info",
    "schema.registry.basic.auth.user.info",
    "bearer.auth.token",
    "bearer.auth.client.secret",
    # kafka-python and aiokafka
    "sasl_plain_password",
    "ssl_password",
    # NATS, Redis, RabbitMQ
    "password",
    "token",
    "nkeys_seed",
    "nkeys_seed_str",
    "requirepass",
    # brokers
    "delegation.token.secret.key",
    "listener.name.sasl_ssl.ssl.keystore.key",
)
NO_SECRETS = (
    ("bootstrap.servers", "kafka-1:9092,kafka-2:9092"),
    ("sasl.username", "bench"),
    ("sasl.mechanism", "SCRAM-SHA-512"),
    ("ssl.key.location", "/etc/keys/client.pem"),
    ("ssl.ca.location", "/etc/keys/ca.pem"),
    ("sasl.oauthbearer.token.endpoint.url", "https://idp.example:8443/oauth2/token?a=b"),
    ("sasl.oauthbearer.client.credentials.client.id", "bench"),
    ("sasl.oauthbearer.assertion.private.key.file", "/etc/keys/assertion.pem"),
    ("key.serializer", "org.apache.kafka.common.serialization.ByteArraySerializer"),
    ("partition.assignment.strategy", "range"),
    ("sasl.jaas.config", "com.sun.security.auth.module.Krb5LoginModule required storeKey=true keyTab='/k';"),
    ("url", "nats://nats-1.example:4222,nats://nats-2.example:4222"),
    ("url", "amqp://guest@rabbit.example"),
    ("url", "redis://127.0.0.1:6379/0"),
    ("enable.idempotence", "True"),
)
# Such that no word around them has one inside by chance.
SECRETS = st.text(string.ascii_letters + string.digits + "+/!~", min_size=8, max_size=30).map(
    lambda s: f"Q7{s}"
)
HOLDING = (
    ("sasl.jaas.config", "o.a.k.c.s.plain.PlainLoginModule required username='me' password='{}';"),
    ("sasl.jaas.config", 'x.OAuthBearerLoginModule required clientId="me" clientSecret="{}" scope="all";'),
    ("sasl.jaas.config", "x.ScramLoginModule required username=me password={};"),
    ("url", "nats://me:{}@nats.example:4222"),
    ("url", "nats://{}@nats.example:4222"),
    ("url", "redis://:{}@redis.example:6379/0"),
    ("servers", "nats://a:${{P}}@one:4222,nats://b:{}@two:4222"),
    ("schema.registry.url", "https://me:{}@registry.example/subjects"),
    ("token.url", "https://idp.example/token?client_secret={}&scope=all"),
    ("authorization", "{{user: me, password: {}}}"),
    ("authorization", '{{"user": "me", "password": "{}"}}'),
)


@pytest.mark.parametrize("name", [*KNOWN_SECRETS, *map(str.upper, KNOWN_SECRETS)])
@given(SECRETS)
@untimed
def test_every_known_secret_is_known_by_its_name(name: str, secret: str) -> None:
    assert is_secret(name)
    assert in_the_clear(name, secret)
    assert in_the_clear(name, "${NAME}" + secret)
    assert not in_the_clear(name, "${NAME}")
    assert shown(name, secret) == STRUCK_OUT
    assert shown(name, "${NAME}") == "${NAME}"


@pytest.mark.parametrize(("name", "text"), HOLDING)
@given(SECRETS)
@untimed
def test_a_secret_inside_a_longer_setting_is_known_by_its_look(name: str, text: str, secret: str) -> None:
    assert in_the_clear(name, text.format(secret))
    assert not in_the_clear(name, text.format("${NAME}"))
    # Whoever gave the whole by reference: its part alone is struck out, too, wherever it turns up.
    assert secret not in struck_out(f"refused {secret} of me", [text.format(secret)])
    if name != "authorization":
        assert secret not in struck_out(f"cannot use {text.format(secret)}")
        assert struck_out(text.format("${NAME}")) == text.format("${NAME}")


@pytest.mark.parametrize(("name", "value"), NO_SECRETS)
def test_other_settings_are_left_as_they_are(name: str, value: str) -> None:
    assert not in_the_clear(name, value)
    assert shown(name, value) == value


def test_of_a_user_with_password_only_the_password_is_one() -> None:
    assert not in_the_clear("basic.auth.user.info", "me:${NAME}")
    assert not in_the_clear("basic.auth.user.info", "${USER}:${NAME}")
    assert in_the_clear("basic.auth.user.info", "${USER}:hunter2")
    assert in_the_clear("basic.auth.user.info", "hunter2")


def test_a_key_is_struck_out_line_by_line() -> None:
    lines = ["MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", "c3RyZWFtZ2F1Z2UgdGVzdCBrZXkgb25seQ"]
    key = "\n".join(["-----BEGIN PRIVATE KEY-----", *lines, "-----END PRIVATE KEY-----"])
    for text in (f"bad key {lines[1]}", f"bad key {key}"):
        assert not [line for line in lines if line in struck_out(text, [key])]


@pytest.mark.parametrize(
    "text",
    [
        "target t: client.sasl.password: the environment has no X_PASSWORD; set it: export X_PASSWORD=…",
        "client.ssl.key.password holds a secret in the clear",
        "Kafka at 127.0.0.1:9092 did not answer within 15 s",
        "see https://example.com:8443/docs for a token",
    ],
)
def test_our_own_words_are_not_struck_out(text: str) -> None:
    assert struck_out(text).replace(STRUCK_OUT, "…") == text


def test_a_password_with_an_at_sign_is_struck_out_as_a_whole() -> None:
    assert struck_out("nats://me:p@ss/w0rd@host:4222") == "nats://me:***@host:4222"
