"""A Kafka cluster with locks: who gets in, and by what; certificates and secrets are made for it alone.

Each way in is a listener of its own. Brokers among each other, and we ourselves, come by another one with the
brokers' certificate: their principal may do everything. What clients need is written as Java's client
properties, one file a way in, which Kafka's own tools take too. All of it is in one folder for its owner;
no secret is in a broker's properties or on a command line.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, get_args

from streamgauge.core.java_properties import render
from streamgauge.systems.kafka_properties import Node
from streamgauge.systems.ports import HOST
from streamgauge.systems.token_terms import AUDIENCE, CLIENTS_FILE, ISSUER, KEYS_PATH, TOKEN_PATH

SecurityKind = Literal["scram", "oauth", "mtls"]
SECURITY_KINDS: tuple[SecurityKind, ...] = get_args(SecurityKind)
CLIENT = "streamgauge"
"""The principal of whoever measures."""
BROKER = "broker"
FOLDER = "security"
ALLOWED_URLS = "org.apache.kafka.sasl.oauthbearer.allowed.urls"
"""A property of Java's: Kafka asks no others for tokens and keys."""

_PROTOCOLS = {"scram": "SASL_SSL", "oauth": "SASL_SSL", "mtls": "SSL"}
_OURS_ALONE = 0o600
_SCRAM = "SCRAM-SHA-512"
_SCRAM_LOGIN = "org.apache.kafka.common.security.scram.ScramLoginModule required"
_OAUTH = "org.apache.kafka.common.security.oauthbearer."
_CLIENT_AUTH = "ssl.client.auth"


class KafkaSecurity:
    """Made before the brokers' properties are; the ways in are in the order that was asked for."""

    def __init__(self, folder: Path, kinds: Sequence[SecurityKind], *, acls: bool) -> None:
        # Here and not at the top: cryptography is a lot to load for clusters without locks, which most are.
        from streamgauge.systems.certificates import Authority

        self.folder, self.kinds, self.acls = folder, tuple(kinds), acls
        folder.mkdir(mode=0o700)
        authority = Authority.new("streamgauge rehearsal")
        self._write("ca.pem", authority.certificate_pem)
        self._write("broker.pem", authority.sign(BROKER, HOST).pem)
        self._secret = secrets.token_hex(24)
        if "mtls" in self.kinds:
            self._write("client.pem", authority.sign(CLIENT).pem)
        if "scram" in self.kinds:
            # An argument a line: the format tool reads them from a file, where nobody else can.
            self._write("format.args", f"--add-scram\n{_SCRAM}=[name={CLIENT},password={self._secret}]\n")
        if "oauth" in self.kinds:
            self._write(CLIENTS_FILE, json.dumps({CLIENT: self._secret}))
        self.authority = authority
        self.tokens_url = ""
        """Where tokens are to be had; to be set as soon as that is known."""

    def format_arguments(self) -> list[str]:
        """For Kafka's StorageTool: users have to be there before the first start."""
        return [f"@{self.folder / 'format.args'}"] if "scram" in self.kinds else []

    def java_options(self) -> list[str]:
        return [f"-D{ALLOWED_URLS}={self.tokens_url}{KEYS_PATH}"] if "oauth" in self.kinds else []

    def lock(self, node: Node, properties: dict[str, str]) -> None:
        """Put listeners with locks in the place of those without."""
        doors = list(zip(self.kinds, node.door_ports, strict=True))
        places = [f"{kind.upper()}://{HOST}:{port}" for kind, port in doors]
        places.append(f"INTERNAL://{HOST}:{node.client_port}")
        protocols = [f"{kind.upper()}:{_PROTOCOLS[kind]}" for kind in self.kinds]
        properties |= {
            "listeners": ",".join([*places, f"CONTROLLER://{HOST}:{node.controller_port}"]),
            "advertised.listeners": ",".join(places),
            "listener.security.protocol.map": ",".join([*protocols, "INTERNAL:SSL", "CONTROLLER:SSL"]),
            "inter.broker.listener.name": "INTERNAL",
            **self._tls("broker.pem"),
            "ssl.principal.mapping.rules": "RULE:^CN=([^,]+)$/$1/,DEFAULT",
        }
        for name in ("internal", "controller", "mtls"):
            properties[f"listener.name.{name}.{_CLIENT_AUTH}"] = "required"
        if "scram" in self.kinds:
            properties |= _sasl("scram", _SCRAM, f"{_SCRAM_LOGIN};")
        if "oauth" in self.kinds:
            properties |= _sasl("oauth", "OAUTHBEARER", f"{_OAUTH}OAuthBearerLoginModule required;")
            properties |= {
                # A signature is looked for, and by whom it was made: an unsecured token opens nothing.
                "listener.name.oauth.oauthbearer.sasl.server.callback.handler.class": (
                    f"{_OAUTH}OAuthBearerValidatorCallbackHandler"
                ),
                "sasl.oauthbearer.jwks.endpoint.url": f"{self.tokens_url}{KEYS_PATH}",
                "sasl.oauthbearer.expected.audience": AUDIENCE,
                "sasl.oauthbearer.expected.issuer": ISSUER,
            }
        if self.acls:
            properties |= {
                "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
                "super.users": f"User:{BROKER}",
            }

    def write_client_files(self, nodes: Sequence[Node]) -> None:
        """What clients need for each way in; `admin.properties`: for whoever may do everything."""
        for number, kind in enumerate(self.kinds):
            at = ",".join(f"{HOST}:{node.door_ports[number]}" for node in nodes)
            self._write(
                self.client_file(kind).name, render({"bootstrap.servers": at, **self._client_of(kind)})
            )
        inside = {"security.protocol": "SSL", **self._tls("broker.pem")}
        self._write("admin.properties", render({"bootstrap.servers": _internal(nodes), **inside}))

    def client_file(self, kind: str) -> Path:
        return self.folder / f"{kind}.properties"

    def admin_connection(self, nodes: Sequence[Node]) -> dict[str, str]:
        """In librdkafka's words, for ourselves."""
        own = str(self.folder / "broker.pem")
        return {
            "bootstrap.servers": _internal(nodes),
            "security.protocol": "SSL",
            "ssl.ca.location": str(self.folder / "ca.pem"),
            "ssl.certificate.location": own,
            "ssl.key.location": own,
        }

    def _client_of(self, kind: SecurityKind) -> Mapping[str, str]:
        protocol = {"security.protocol": _PROTOCOLS[kind]}
        if kind == "mtls":
            return {**protocol, **self._tls("client.pem")}
        if kind == "scram":
            login = f'{_SCRAM_LOGIN} username="{CLIENT}" password="{self._secret}";'
            return {**protocol, **self._tls(), "sasl.mechanism": _SCRAM, "sasl.jaas.config": login}
        login = f'clientId="{CLIENT}" clientSecret="{self._secret}"'
        return {
            **protocol,
            **self._tls(),
            "sasl.mechanism": "OAUTHBEARER",
            "sasl.jaas.config": f"{_OAUTH}OAuthBearerLoginModule required {login};",
            "sasl.login.callback.handler.class": f"{_OAUTH}OAuthBearerLoginCallbackHandler",
            "sasl.oauthbearer.token.endpoint.url": f"{self.tokens_url}{TOKEN_PATH}",
        }

    def _tls(self, own: str | None = None) -> dict[str, str]:
        found = {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(self.folder / "ca.pem")}
        if own is not None:
            found |= {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(self.folder / own)}
        return found

    def _write(self, name: str, content: str) -> None:
        """Nobody else can read it at any moment."""
        descriptor = os.open(self.folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _OURS_ALONE)
        with os.fdopen(descriptor, "w") as file:
            file.write(content)


def _sasl(listener: str, mechanism: str, login: str) -> dict[str, str]:
    return {
        f"listener.name.{listener}.sasl.enabled.mechanisms": mechanism,
        f"listener.name.{listener}.{mechanism.lower()}.sasl.jaas.config": login,
    }


def _internal(nodes: Sequence[Node]) -> str:
    return ",".join(f"{HOST}:{node.client_port}" for node in nodes)
