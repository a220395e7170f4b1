"""How to reach a secured cluster, in librdkafka's words: topics are made through it for every driver."""

from __future__ import annotations

import re
from typing import Any

from streamgauge.core.errors import BadInput
from streamgauge.drivers.kafka.settings import Library
from streamgauge.spec.target import Target

_PYTHON_NAMES = {
    "security_protocol": "security.protocol",
    "sasl_mechanism": "sasl.mechanism",
    "sasl_plain_username": "sasl.username",
    "sasl_plain_password": "sasl.password",
    "ssl_cafile": "ssl.ca.location",
    "ssl_certfile": "ssl.certificate.location",
    "ssl_keyfile": "ssl.key.location",
    "ssl_password": "ssl.key.password",
}
_JAVA_NAMES = {
    "security.protocol": "security.protocol",
    "sasl.mechanism": "sasl.mechanism",
    "ssl.truststore.location": "ssl.ca.location",
    "ssl.keystore.location": "ssl.certificate.location",
    "ssl.key.password": "ssl.key.password",
}
_JAAS_OPTION = re.compile(r"""(username|password)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;]+))""")


def login(library: Library, user: str, password: str) -> dict[str, str]:
    """Client settings to log in with, in the library's own words."""
    common = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN"}
    if library == "kafka-clients":
        module = "org.apache.kafka.common.security.plain.PlainLoginModule"
        return common | {"sasl.jaas.config": f'{module} required username="{user}" password="{password}";'}
    all_of_them = common | {"sasl.username": user, "sasl.password": password}
    if library == "librdkafka":
        return all_of_them
    return {old: all_of_them[new] for old, new in _PYTHON_NAMES.items() if new in all_of_them}


def for_librdkafka(library: Library, target: Target) -> dict[str, Any]:
    """Of a target's `client:` settings, those that say how to connect."""
    client = dict(target.client)
    if library == "librdkafka":
        return client
    if library != "kafka-clients":
        return {new: client[old] for old, new in _PYTHON_NAMES.items() if old in client}
    for store in ("truststore", "keystore"):
        if f"ssl.{store}.location" in client and str(client.get(f"ssl.{store}.type")).upper() != "PEM":
            raise BadInput(
                f"target {target.name}: client.ssl.{store}.type: topics are made through librdkafka, which "
                "reads PEM files only; allowed: PEM"
            )
    connection = {new: client[old] for old, new in _JAVA_NAMES.items() if old in client}
    if "ssl.keystore.location" in client:
        # Java's PEM key store has the key and the certificate in one file.
        connection["ssl.key.location"] = client["ssl.keystore.location"]
    for option, *values in _JAAS_OPTION.findall(str(client.get("sasl.jaas.config", ""))):
        connection[f"sasl.{option}"] = "".join(values)
    return connection
