from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.core.java_properties import render
from streamgauge.drivers.kafka.security import Security, TokenSource, read_security_file
from streamgauge.drivers.kafka.settings import Library

OAUTH_LOGIN = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required"
LIBRARIES: tuple[Library, ...] = ("librdkafka", "kafka-clients", "kafka-python", "aiokafka")

SCRAM = Security("SASL_SSL", "SCRAM-SHA-512", "me", "p", authority="ca.pem")
MTLS = Security("SSL", authority="ca.pem", identity="me.pem", key_password="k", checks_host=False)
OAUTH = Security(
    "SASL_SSL", "OAUTHBEARER", authority="ca.pem", tokens=TokenSource("https://t/token", "me", "p", "kafka")
)


@pytest.mark.parametrize("security", [SCRAM, MTLS, OAUTH], ids=["scram", "mtls", "oauth"])
def test_what_java_is_told_is_read_back(security: Security) -> None:
    assert Security.of(security.words("kafka-clients"), "here") == security


def test_librdkafka_fetches_tokens_itself() -> None:
    assert OAUTH.words("librdkafka") == {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "OAUTHBEARER",
        "ssl.ca.location": "ca.pem",
        "sasl.oauthbearer.method": "oidc",
        "sasl.oauthbearer.token.endpoint.url": "https://t/token",
        "sasl.oauthbearer.client.id": "me",
        "sasl.oauthbearer.client.secret": "p",
        "sasl.oauthbearer.scope": "kafka",
    }


@pytest.mark.parametrize("library", ["kafka-python", "aiokafka"])
def test_libraries_of_python_have_names_of_their_own(library: Library) -> None:
    assert MTLS.words(library) == {
        "security_protocol": "SSL",
        "ssl_cafile": "ca.pem",
        "ssl_certfile": "me.pem",
        "ssl_keyfile": "me.pem",
        "ssl_password": "k",
        "ssl_check_hostname": False,
    }
    # Tokens are handed over as an object: no secret is among the settings.
    assert OAUTH.words(library) == {
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "OAUTHBEARER",
        "ssl_cafile": "ca.pem",
    }


def test_a_host_that_need_not_be_the_certificates_is_said_to_all() -> None:
    name = "ssl.endpoint.identification.algorithm"
    assert MTLS.words("librdkafka")[name] == "none"
    assert MTLS.words("kafka-clients")[name] == ""
    assert all(name not in SCRAM.words(library) for library in LIBRARIES)


def test_nothing_said_is_nothing_told() -> None:
    assert all(Security().words(library) == {} for library in LIBRARIES)


def test_secrets_are_not_shown() -> None:
    assert "'p'" not in repr(SCRAM) + repr(OAUTH)
    assert "'k'" not in repr(MTLS)


def test_credentials_of_newer_clients_are_known_too() -> None:
    credentials = "sasl.oauthbearer.client.credentials.client"
    found = Security.of(
        {
            "sasl.jaas.config": f"{OAUTH_LOGIN};",
            "sasl.oauthbearer.token.endpoint.url": "https://t/token",
            f"{credentials}.id": "me",
            f"{credentials}.secret": "p",
        },
        "here",
    )
    assert found.tokens == TokenSource("https://t/token", "me", "p")


def write(path: Path, properties: dict[str, str]) -> Path:
    path.write_text(render(properties))
    return path


def test_a_file_tells_the_address_too(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").touch()
    told = {"bootstrap.servers": "here:1", "security.protocol": "SSL"}
    told |= {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(tmp_path / "ca.pem")}
    security, address = read_security_file(write(tmp_path / "client.properties", told))
    assert address == "here:1"
    assert security == Security("SSL", authority=str(tmp_path / "ca.pem"))


@pytest.mark.parametrize(
    ("properties", "said"),
    [
        ({"acks": "all"}, r"acks: is not about getting in"),
        ({"ssl.truststore.location": "t.jks"}, r"ssl\.truststore\.type: .*allowed: PEM"),
        (
            {"ssl.keystore.type": "PEM", "ssl.keystore.location": "/no/such.pem"},
            r"there is no file /no/such\.pem",
        ),
    ],
)
def test_a_file_that_cannot_be_used_says_why(tmp_path: Path, properties: dict[str, str], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        read_security_file(write(tmp_path / "client.properties", properties))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"none\.properties: cannot be read: No such file"):
        read_security_file(tmp_path / "none.properties")
