"""Settings that are allowed and that leave a door open: found before anybody walks through it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from streamgauge.core.errors import StreamgaugeError
from streamgauge.gateway.connector.configuration import GatewayConfiguration, GatewaySettings
from streamgauge.gateway.connector.connection_settings import ConnectionSettings
from streamgauge.gateway.server.origins import is_loopback

_OTHERS_READ, _OTHERS_WRITE = 0o044, 0o022
_PASSWORD_IS_SENT = "PLAIN"


class Unsafe(StrEnum):
    NO_USERS = "no_users"
    NO_TLS = "no_tls"
    NO_SESSION_LIMIT = "no_session_limit"
    ANY_ORIGIN = "any_origin"
    OPEN_MONITORING = "open_monitoring"
    READABLE_KEY = "readable_key"
    WRITABLE_USERS = "writable_users"
    KAFKA_PASSWORD_IN_CLEAR = "kafka_password_in_clear"
    KAFKA_NAME_UNCHECKED = "kafka_name_unchecked"
    REGISTRY_PASSWORD_IN_CLEAR = "registry_password_in_clear"


_WORDS = {
    Unsafe.NO_USERS: "whoever reaches the port may open sessions: name a file of users",
    Unsafe.NO_TLS: "what is pushed, and passwords, can be read on the way: "
    "give tls_certificate and tls_key, or put a TLS proxy in front and listen on 127.0.0.1",
    Unsafe.NO_SESSION_LIMIT: "one address may take all sessions there are: set a lower limit, or none",
    Unsafe.ANY_ORIGIN: "every web page may use the server from its reader's browser: name the pages",
    Unsafe.OPEN_MONITORING: "metrics are to be read from outside this machine: use 127.0.0.1",
    Unsafe.READABLE_KEY: "others on this machine can read the private key: chmod 600",
    Unsafe.WRITABLE_USERS: "others on this machine can make themselves users: chmod 600",
    Unsafe.KAFKA_PASSWORD_IN_CLEAR: "the password goes to Kafka unencrypted: set encryption.enable",
    Unsafe.KAFKA_NAME_UNCHECKED: "whoever has a trusted certificate can pretend to be Kafka: set it to true",
    Unsafe.REGISTRY_PASSWORD_IN_CLEAR: "the password goes to the registry unencrypted: use https://",
}
assert set(_WORDS) == set(Unsafe)


@dataclass(frozen=True)
class Finding:
    unsafe: Unsafe
    setting: str
    value: str

    def __str__(self) -> str:
        return f"unsafe ({self.unsafe}): {self.setting} = {self.value or 'not set'}: {_WORDS[self.unsafe]}"


class UnsafeSettings(StreamgaugeError):
    """What `gateway --check` ends with, a line for each finding."""

    exit_code = 4

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__("\n".join(map(str, self.findings)))


def unsafe_settings(configuration: GatewayConfiguration) -> list[Finding]:
    found = list(_of_server(configuration.server))
    for name, connection in configuration.connections.items():
        found += _of_connection(f"connection {name}: ", connection)
    return found


def _of_server(server: GatewaySettings) -> Iterator[Finding]:
    if not is_loopback(server.host):
        if server.users is None:
            yield Finding(Unsafe.NO_USERS, "users", "")
        if server.tls_certificate is None:
            yield Finding(Unsafe.NO_TLS, "tls_certificate", "")
        most = server.limits.sessions_per_address
        if most is not None and most >= server.limits.sessions:
            yield Finding(Unsafe.NO_SESSION_LIMIT, "limits.sessions_per_address", str(most))
    if "*" in server.allowed_origins:
        yield Finding(Unsafe.ANY_ORIGIN, "allowed_origins", "*")
    if not is_loopback(server.monitoring_host):
        yield Finding(Unsafe.OPEN_MONITORING, "monitoring_host", server.monitoring_host)
    if server.tls_key is not None and _is_open(server.tls_key, _OTHERS_READ):
        yield Finding(Unsafe.READABLE_KEY, "tls_key", str(server.tls_key))
    if server.users is not None and _is_open(server.users, _OTHERS_WRITE):
        yield Finding(Unsafe.WRITABLE_USERS, "users", str(server.users))


def _of_connection(where: str, connection: ConnectionSettings) -> Iterator[Finding]:
    login, encryption, registry = connection.authentication, connection.encryption, connection.registry
    if login.enable and login.mechanism == _PASSWORD_IS_SENT and not encryption.enable:
        yield Finding(Unsafe.KAFKA_PASSWORD_IN_CLEAR, f"{where}encryption.enable", "false")
    if encryption.enable and not encryption.hostname_verification:
        setting = f"{where}encryption.hostname.verification.enable"
        yield Finding(Unsafe.KAFKA_NAME_UNCHECKED, setting, "false")
    if registry.basic_enable and (registry.url or "").startswith("http://"):
        yield Finding(Unsafe.REGISTRY_PASSWORD_IN_CLEAR, f"{where}schema.registry.url", "http://…")


def _is_open(path: Path, to_others: int) -> bool:
    """What cannot be looked at is told by who has to read it."""
    try:
        return bool(path.stat().st_mode & to_others)
    except OSError:
        return False
