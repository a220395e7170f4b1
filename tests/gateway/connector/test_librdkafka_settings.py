from __future__ import annotations

from pathlib import Path

import confluent_kafka
import pytest

from streamgauge.core.errors import BadInput
from streamgauge.gateway.connector.librdkafka_settings import (
    consumer_settings,
    what_is_not_done,
)

from .certificates import authority, signed_by, write_pkcs12
from .fakes import connection


def taken(**parameters: str) -> dict[str, object]:
    """The settings, of which librdkafka takes every one."""
    settings = consumer_settings(connection(**parameters), "group")
    confluent_kafka.Consumer({**settings, "bootstrap.servers": ""}).close()
    return settings


def test_a_plain_connection() -> None:
    found = taken()
    assert (found["bootstrap.servers"], found["group.id"]) == ("127.0.0.1:9", "group")
    assert found["security.protocol"] == "PLAINTEXT"
    assert (found["auto.offset.reset"], found["enable.auto.commit"]) == ("latest", False)
    assert (found["session.timeout.ms"], found["max.poll.interval.ms"]) == (45_000, 45_000)
    assert found["allow.auto.create.topics"] is False


def test_consuming() -> None:
    found = taken(
        record__consume__from="EARLIEST",
        record__consume__with__session__timeout__ms="6000",
        record__consume__with__max__poll__interval__ms="60000",
    )
    assert found["auto.offset.reset"] == "earliest"
    assert (found["session.timeout.ms"], found["max.poll.interval.ms"]) == (6_000, 60_000)
    assert found["heartbeat.interval.ms"] == 2_000


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "SCRAM-256"])
def test_logging_in(mechanism: str) -> None:
    found = taken(
        authentication__enable="true",
        authentication__mechanism=mechanism,
        authentication__username="u",
        authentication__password="p",
    )
    assert found["security.protocol"] == "SASL_PLAINTEXT"
    assert found["sasl.mechanism"] == {"SCRAM-256": "SCRAM-SHA-256"}.get(mechanism, mechanism)
    assert (found["sasl.username"], found["sasl.password"]) == ("u", "p")


def test_kerberos(tmp_path: Path) -> None:
    gssapi = {
        "authentication__enable": "true",
        "authentication__mechanism": "GSSAPI",
        "authentication__gssapi__kerberos__service__name": "kafka",
    }
    cached = connection(**gssapi, authentication__gssapi__ticket__cache__enable="true")
    found = consumer_settings(cached, "g")
    assert (found["sasl.mechanism"], found["sasl.kerberos.service.name"]) == ("GSSAPI", "kafka")
    assert found["sasl.kerberos.kinit.cmd"] == ""
    keytab = tmp_path / "k.keytab"
    gssapi |= {
        "authentication__gssapi__principal": "me@REALM",
        "authentication__gssapi__key__tab__enable": "true",
        "authentication__gssapi__key__tab__path": str(keytab),
    }
    with pytest.raises(BadInput, match=r"authentication\.gssapi\.key\.tab\.path: .*there is no such file"):
        consumer_settings(connection(**gssapi), "g")
    keytab.touch()
    found = consumer_settings(connection(**gssapi), "g")
    assert (found["sasl.kerberos.principal"], found["sasl.kerberos.keytab"]) == ("me@REALM", str(keytab))


def test_tls_with_stores(tmp_path: Path) -> None:
    ca = authority()
    trust = write_pkcs12(tmp_path / "trust.p12", None, [ca], b"t")
    key = write_pkcs12(tmp_path / "key.p12", signed_by(ca, "gateway"), [], b"k")
    found = taken(
        encryption__enable="true",
        encryption__cipher__suites="TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,TLS_AES_128_GCM_SHA256",
        encryption__truststore__path=str(trust),
        encryption__truststore__password="t",
        encryption__keystore__enable="true",
        encryption__keystore__path=str(key),
        encryption__keystore__password="k",
        authentication__enable="true",
        authentication__username="u",
        authentication__password="p",
    )
    assert found["security.protocol"] == "SASL_SSL"
    assert found["ssl.cipher.suites"] == "ECDHE-RSA-AES256-GCM-SHA384"
    assert found["ssl.endpoint.identification.algorithm"] == "none"
    assert "BEGIN CERTIFICATE" in str(found["ssl.ca.pem"])
    assert "BEGIN PRIVATE KEY" in str(found["ssl.key.pem"])
    named = taken(encryption__enable="true", encryption__hostname__verification__enable="true")
    assert (named["security.protocol"], named["ssl.endpoint.identification.algorithm"]) == ("SSL", "https")
    with pytest.raises(BadInput, match=r"encryption\.truststore\.path: .*none: cannot be read"):
        taken(encryption__enable="true", encryption__truststore__path="none")


def test_stores_are_not_looked_at_without_encryption() -> None:
    taken(encryption__truststore__path="none")


def test_what_cannot_be_followed_is_said() -> None:
    assert what_is_not_done(connection()) == []
    lines = what_is_not_done(
        connection(
            encryption__enable="true",
            encryption__enabled__protocols="TLSv1.3",
            record__consume__with__num__threads="4",
        )
    )
    assert [line.split(":")[0] for line in lines] == [
        "encryption.enabled.protocols",
        "record.consume.with.num.threads",
    ]
