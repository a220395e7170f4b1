"""A connection's parameters under the names that librdkafka has for them."""

from __future__ import annotations

import logging
from typing import Any

import confluent_kafka
from confluent_kafka import KafkaException

from streamgauge.gateway.connector.cipher_suites import for_tls_1_3, openssl_name
from streamgauge.gateway.connector.connection_settings import ConnectionSettings
from streamgauge.gateway.connector.keystores import own_identity, trusted_certificates
from streamgauge.gateway.connector.parameters import BadParameter
from streamgauge.gateway.connector.security_settings import (
    PROTOCOLS,
    SCRAM_AND_PLAIN,
    AuthenticationSettings,
    EncryptionSettings,
)

_SILENT = logging.getLogger("streamgauge.librdkafka")
# Which parameter a refusal of librdkafka's is about, by a word in it.
_ABOUT = {
    "sasl": "authentication.mechanism",
    "ssl": "encryption.enable",
    "cipher": "encryption.cipher.suites",
}
_OTHERWISE = "record.consume.with.session.timeout.ms"
_FETCH: dict[str, Any] = {
    # Records are pushed on as they come: the broker answers at once, and nothing waits for company.
    "fetch.min.bytes": 1,
    "fetch.wait.max.ms": 100,
    "fetch.queue.backoff.ms": 2,
    # Read-ahead is memory; the loop that publishes is the slower side.
    "queued.max.messages.kbytes": 16_384,
    # New partitions and topics are noticed within seconds, and so is a broker that is back.
    "topic.metadata.refresh.interval.ms": 2_000,
    "reconnect.backoff.max.ms": 2_000,
    "allow.auto.create.topics": False,
    "log.connection.close": False,
}


def consumer_settings(connection: ConnectionSettings, group_id: str) -> dict[str, Any]:
    """Raises BadParameter for stores that cannot be read. Holds secrets: not to be shown."""
    session_ms = connection.session_timeout_ms
    return {
        **_FETCH,
        "bootstrap.servers": connection.bootstrap_servers,
        "group.id": group_id,
        "enable.auto.commit": False,
        "auto.offset.reset": connection.consume_from.lower(),
        "session.timeout.ms": session_ms,
        "heartbeat.interval.ms": max(1, min(3_000, session_ms // 3)),
        "max.poll.interval.ms": max(connection.max_poll_interval_ms, session_ms),
        **_security(connection.encryption, connection.authentication),
    }


def check_client(connection: ConnectionSettings) -> None:
    """Raises BadParameter where librdkafka does not take the settings; connects to nothing."""
    settings = {**consumer_settings(connection, "check"), "bootstrap.servers": ""}
    try:
        confluent_kafka.Consumer(settings, logger=_SILENT).close()
    except KafkaException as error:
        words = error.args[0].str()
        about = next((parameter for word, parameter in _ABOUT.items() if word in words.lower()), _OTHERWISE)
        raise BadParameter(about, f"Kafka's client does not take it: {words}") from None


def what_is_not_done(connection: ConnectionSettings) -> list[str]:
    """Parameters that are taken but cannot be followed here: one line each, to warn of."""
    lines = []
    encryption = connection.encryption
    if encryption.enable and set(encryption.enabled_protocols) != set(PROTOCOLS):
        lines.append(
            "encryption.enabled.protocols: librdkafka cannot be kept to some versions of TLS; "
            f"it takes the highest that Kafka offers, of {' and '.join(PROTOCOLS)}"
        )
    if connection.num_threads != 1:
        lines.append("record.consume.with.num.threads: records are mapped in one thread all the same")
    return lines


def _security(encryption: EncryptionSettings, authentication: AuthenticationSettings) -> dict[str, Any]:
    kinds = {(False, False): "PLAINTEXT", (True, False): "SSL", (False, True): "SASL_PLAINTEXT"}
    protocol = kinds.get((encryption.enable, authentication.enable), "SASL_SSL")
    found: dict[str, Any] = {"security.protocol": protocol}
    if encryption.enable:
        try:
            found |= _tls(encryption)
        except BadParameter as error:
            raise BadParameter(f"encryption.{error.parameter}", error.words) from None
    if authentication.enable:
        found |= _sasl(authentication)
    return found


def _tls(encryption: EncryptionSettings) -> dict[str, Any]:
    found: dict[str, Any] = {
        "ssl.endpoint.identification.algorithm": "https" if encryption.hostname_verification else "none"
    }
    if encryption.cipher_suites is not None:
        # librdkafka sets the suites of TLS 1.2; those of 1.3 are all allowed, whatever is given.
        suites = [openssl_name(name) for name in encryption.cipher_suites if not for_tls_1_3(name)]
        if suites:
            found["ssl.cipher.suites"] = ":".join(suites)
    if (trusted := trusted_certificates(encryption)) is not None:
        found["ssl.ca.pem"] = trusted
    if (identity := own_identity(encryption)) is not None:
        found["ssl.certificate.pem"], found["ssl.key.pem"] = identity.certificates, identity.key
    return found


def _sasl(authentication: AuthenticationSettings) -> dict[str, Any]:
    found: dict[str, Any] = {"sasl.mechanism": authentication.mechanism}
    if authentication.mechanism in SCRAM_AND_PLAIN:
        assert authentication.password is not None
        found["sasl.username"] = authentication.username
        found["sasl.password"] = authentication.password.get_secret_value()
        return found
    found["sasl.kerberos.service.name"] = authentication.service_name
    if authentication.principal is not None:
        found["sasl.kerberos.principal"] = authentication.principal
    if authentication.ticket_cache_enable:
        # With nothing to run, librdkafka takes the tickets that are there.
        found["sasl.kerberos.kinit.cmd"] = ""
    elif authentication.key_tab_enable:
        if authentication.key_tab_path is None or not authentication.key_tab_path.exists():
            raise BadParameter(
                "authentication.gssapi.key.tab.path", f"{authentication.key_tab_path}: there is no such file"
            )
        found["sasl.kerberos.keytab"] = str(authentication.key_tab_path)
    return found
