"""How to get into a cluster that asks who we are: read once, said to every library in its own words.

It is written as Java's client properties, the way in which Kafka's own tools take it (--command-config), in a
target's `client:` or in a file of its own (`settings.security_file`), which keeps secrets out of targets.
Certificates are PEM: all four libraries read them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from streamgauge.core.errors import BadInput
from streamgauge.core.java_properties import parse
from streamgauge.drivers.kafka.settings import Library

ENDPOINT_SUFFIX = "_security"
"""Behind the name of a system's endpoint: the file that opens it."""
TOKEN_URL = "sasl.oauthbearer.token.endpoint.url"
_ADDRESS = "bootstrap.servers"
_NO_CHECK = ("", "none")
_OPTION = re.compile(r"""([A-Za-z.]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;]+))""")
_OAUTH = "org.apache.kafka.common.security.oauthbearer."
_PLAIN_LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
_SCRAM_LOGIN = "org.apache.kafka.common.security.scram.ScramLoginModule"
_KNOWN = frozenset(
    {
        _ADDRESS,
        "security.protocol",
        "sasl.mechanism",
        "sasl.jaas.config",
        "sasl.login.callback.handler.class",
        TOKEN_URL,
        "sasl.oauthbearer.scope",
        "sasl.oauthbearer.client.credentials.client.id",
        "sasl.oauthbearer.client.credentials.client.secret",
        "ssl.truststore.type",
        "ssl.truststore.location",
        "ssl.keystore.type",
        "ssl.keystore.location",
        "ssl.key.password",
        "ssl.endpoint.identification.algorithm",
    }
)


@dataclass(frozen=True)
class TokenSource:
    """Where OAUTHBEARER's tokens come from: client credentials at an endpoint."""

    url: str
    client_id: str
    client_secret: str = field(repr=False)
    scope: str | None = None


@dataclass(frozen=True)
class Security:
    """None: nothing is said of it."""

    protocol: str | None = None
    mechanism: str | None = None
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    authority: str | None = None
    """File with the certificates to trust; None: the system's."""
    identity: str | None = None
    """File with our own certificate and its key."""
    key_password: str | None = field(default=None, repr=False)
    tokens: TokenSource | None = None
    checks_host: bool = True

    @classmethod
    def of(cls, properties: Mapping[str, Any], source: str) -> Security:
        """Of what a Java client is told, as far as it is about security. `source`: where it says so."""
        for store in ("truststore", "keystore"):
            kind = str(properties.get(f"ssl.{store}.type"))
            if f"ssl.{store}.location" in properties and kind.upper() != "PEM":
                raise BadInput(
                    f"{source}.ssl.{store}.type: topics are made through librdkafka, which "
                    "reads PEM files only; allowed: PEM"
                )
        login = _login_of(str(properties.get("sasl.jaas.config", "")))
        named = {name: _text(properties, of) for name, of in _NAMES.items()}
        checks = str(properties.get("ssl.endpoint.identification.algorithm", "https")).lower()
        return cls(
            **named,
            user=login.get("username"),
            password=login.get("password"),
            tokens=_tokens_of(properties, login),
            checks_host=checks not in _NO_CHECK,
        )

    def words(self, library: Library) -> dict[str, Any]:
        """Client settings of that library. Tokens of libraries that do not fetch them are no setting but an
        object: see `tokens`."""
        if library == "kafka-clients":
            return _without_nothing(self._java())
        return {
            ours: value for name, value in self._plain(library).items() if (ours := _WORDS[library](name))
        }

    def _plain(self, library: Library) -> dict[str, Any]:
        """In librdkafka's words."""
        found: dict[str, Any] = {
            "security.protocol": self.protocol,
            "sasl.mechanism": self.mechanism,
            "sasl.username": self.user,
            "sasl.password": self.password,
            "ssl.ca.location": self.authority,
            "ssl.certificate.location": self.identity,
            "ssl.key.location": self.identity,
            "ssl.key.password": self.key_password,
        }
        if not self.checks_host:
            found["ssl.endpoint.identification.algorithm"] = "none" if library == "librdkafka" else False
        if library == "librdkafka" and self.tokens is not None:
            found |= {
                "sasl.oauthbearer.method": "oidc",
                "sasl.oauthbearer.token.endpoint.url": self.tokens.url,
                "sasl.oauthbearer.client.id": self.tokens.client_id,
                "sasl.oauthbearer.client.secret": self.tokens.client_secret,
                "sasl.oauthbearer.scope": self.tokens.scope,
            }
        return _without_nothing(found)

    def _java(self) -> dict[str, Any]:
        found: dict[str, Any] = {of: getattr(self, name) for name, of in _NAMES.items()}
        found["ssl.truststore.type"] = "PEM" if self.authority else None
        found["ssl.keystore.type"] = "PEM" if self.identity else None
        if not self.checks_host:
            found["ssl.endpoint.identification.algorithm"] = ""
        if self.user is not None:
            module = _PLAIN_LOGIN if self.mechanism == "PLAIN" else _SCRAM_LOGIN
            found["sasl.jaas.config"] = (
                f'{module} required username="{self.user}" password="{self.password}";'
            )
        if self.tokens is not None:
            scope = f' scope="{self.tokens.scope}"' if self.tokens.scope else ""
            found |= {
                "sasl.jaas.config": f"{_OAUTH}OAuthBearerLoginModule required "
                f'clientId="{self.tokens.client_id}" clientSecret="{self.tokens.client_secret}"{scope};',
                "sasl.login.callback.handler.class": f"{_OAUTH}OAuthBearerLoginCallbackHandler",
                TOKEN_URL: self.tokens.url,
            }
        return found


_NAMES = {
    "protocol": "security.protocol",
    "mechanism": "sasl.mechanism",
    "authority": "ssl.truststore.location",
    "identity": "ssl.keystore.location",
    "key_password": "ssl.key.password",
}
PYTHON_NAMES = {
    "security_protocol": "security.protocol",
    "sasl_mechanism": "sasl.mechanism",
    "sasl_plain_username": "sasl.username",
    "sasl_plain_password": "sasl.password",
    "ssl_cafile": "ssl.ca.location",
    "ssl_certfile": "ssl.certificate.location",
    "ssl_keyfile": "ssl.key.location",
    "ssl_password": "ssl.key.password",
    "ssl_check_hostname": "ssl.endpoint.identification.algorithm",
}
_PYTHON = {new: old for old, new in PYTHON_NAMES.items()}
_WORDS: Mapping[Library, Callable[[str], str | None]] = {
    "librdkafka": lambda name: name,
    "kafka-python": _PYTHON.get,
    "aiokafka": _PYTHON.get,
}


def read_security_file(path: Path) -> tuple[Security, str | None]:
    """What a file says, and the address in it, if any."""
    try:
        properties = parse(path.read_text("latin-1"))
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror or error}") from None
    if unknown := sorted(properties.keys() - _KNOWN):
        raise BadInput(
            f"{path}: {unknown[0]}: is not about getting in, or not known here; allowed: "
            f"{', '.join(sorted(_KNOWN))}"
        )
    security = Security.of(properties, str(path))
    for of in (security.authority, security.identity):
        if of is not None and not Path(of).is_file():
            raise BadInput(f"{path}: there is no file {of}")
    return security, properties.get(_ADDRESS)


def _login_of(config: str) -> dict[str, str]:
    return {option: "".join(values) for option, *values in _OPTION.findall(config)}


def _tokens_of(properties: Mapping[str, Any], login: Mapping[str, str]) -> TokenSource | None:
    url = _text(properties, TOKEN_URL)
    credentials = "sasl.oauthbearer.client.credentials.client"
    who = login.get("clientId") or _text(properties, f"{credentials}.id")
    secret = login.get("clientSecret") or _text(properties, f"{credentials}.secret")
    if url is None or who is None or secret is None:
        return None
    return TokenSource(url, who, secret, login.get("scope") or _text(properties, "sasl.oauthbearer.scope"))


def _text(properties: Mapping[str, Any], name: str) -> str | None:
    return None if properties.get(name) is None else str(properties[name])


def _without_nothing(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if value is not None}
