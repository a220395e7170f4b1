from __future__ import annotations

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.drivers.kafka.connection import for_librdkafka, login
from streamgauge.drivers.kafka.settings import Library
from streamgauge.spec.model import Setting
from streamgauge.spec.target import Target


@pytest.mark.parametrize("library", ["librdkafka", "kafka-clients", "kafka-python", "aiokafka"])
def test_a_login_says_the_same_to_every_library(library: Library) -> None:
    client: dict[str, Setting] = {**login(library, "me", "${SECRET}")}
    assert for_librdkafka(library, Target(name="t", driver="d", client=client)) == {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": "me",
        "sasl.password": "${SECRET}",
    }


def test_python_names_are_translated_and_other_settings_left_out() -> None:
    client: dict[str, Setting] = {
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "PLAIN",
        "sasl_plain_username": "me",
        "sasl_plain_password": "${SECRET}",
        "ssl_cafile": "ca.pem",
        "metadata_max_age_ms": 5,
    }
    assert for_librdkafka("kafka-python", Target(name="t", driver="kafka_python", client=client)) == {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "sasl.username": "me",
        "sasl.password": "${SECRET}",
        "ssl.ca.location": "ca.pem",
    }


def test_a_java_login_is_taken_apart() -> None:
    client: dict[str, Setting] = {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.jaas.config": "org.apache.kafka.common.security.scram.ScramLoginModule required "
        """username='me' password="${SECRET}";""",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": "ca.pem",
    }
    assert for_librdkafka("kafka-clients", Target(name="t", driver="kafka_java", client=client)) == {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "me",
        "sasl.password": "${SECRET}",
        "ssl.ca.location": "ca.pem",
    }


def test_a_java_key_store_cannot_be_read() -> None:
    target = Target(name="t", driver="kafka_java", client={"ssl.truststore.location": "trust.jks"})
    with pytest.raises(BadInput, match=r"target t: client.ssl.truststore.type: .*allowed: PEM"):
        for_librdkafka("kafka-clients", target)


def test_librdkafka_gets_its_own_settings_untouched() -> None:
    target = Target(name="t", driver="kafka_confluent", client={"client.id": "x"})
    assert for_librdkafka("librdkafka", target) == {"client.id": "x"}
