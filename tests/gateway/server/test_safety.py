from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.gateway.connector.configuration import GatewayConfiguration, load_configuration
from streamgauge.gateway.server.safety import Unsafe, UnsafeSettings, unsafe_settings

CONNECTION = 'bootstrap.servers: "127.0.0.1:1", map.t.to: i, field.v: "#{VALUE}"'


def configuration(tmp_path: Path, server: str = "", connection: str = "") -> GatewayConfiguration:
    path = tmp_path / "gateway.yaml"
    path.write_text(f"server: {{{server}}}\nconnections: {{Q: {{{CONNECTION}{connection}}}}}\n")
    return load_configuration(path)


def found(tmp_path: Path, server: str = "", connection: str = "") -> set[Unsafe]:
    return {each.unsafe for each in unsafe_settings(configuration(tmp_path, server, connection))}


def test_nothing_is_unsafe_where_nothing_is_set(tmp_path: Path) -> None:
    assert found(tmp_path) == set()


@pytest.mark.parametrize(
    ("server", "connection", "expected"),
    [
        ("host: 0.0.0.0", "", {Unsafe.NO_USERS, Unsafe.NO_TLS}),
        (
            "host: 0.0.0.0, limits: {sessions: 100, sessions_per_address: 100}",
            "",
            {Unsafe.NO_USERS, Unsafe.NO_TLS, Unsafe.NO_SESSION_LIMIT},
        ),
        (
            "host: 0.0.0.0, limits: {sessions_per_address: 100}, users: users",
            "",
            {Unsafe.NO_TLS, Unsafe.WRITABLE_USERS},
        ),
        ('allowed_origins: ["*"]', "", {Unsafe.ANY_ORIGIN}),
        ('monitoring_host: "::"', "", {Unsafe.OPEN_MONITORING}),
        ("tls_certificate: users, tls_key: users", "", {Unsafe.READABLE_KEY}),
        (
            "",
            ", authentication.enable: true, authentication.username: u, authentication.password: p",
            {Unsafe.KAFKA_PASSWORD_IN_CLEAR},
        ),
        ("", ", encryption.enable: true", {Unsafe.KAFKA_NAME_UNCHECKED}),
        ("", ", encryption.enable: true, encryption.hostname.verification.enable: true", set()),
        (
            "",
            ", schema.registry.url: http://u:secret@r, schema.registry.confluent.basic.authentication"
            ": {enable: true, username: u, password: p}",
            {Unsafe.REGISTRY_PASSWORD_IN_CLEAR},
        ),
    ],
)
def test_what_is_unsafe_is_found(tmp_path: Path, server: str, connection: str, expected: set[Unsafe]) -> None:
    (tmp_path / "users").touch()
    (tmp_path / "users").chmod(0o666)
    assert found(tmp_path, server, connection) == expected
    (tmp_path / "users").chmod(0o600)
    assert found(tmp_path, server, connection) == expected - {Unsafe.READABLE_KEY, Unsafe.WRITABLE_USERS}


def test_a_finding_says_what_where_and_what_to_do_and_no_secret(tmp_path: Path) -> None:
    login = "schema.registry.confluent.basic.authentication: {enable: true, username: u, password: p}"
    findings = unsafe_settings(
        configuration(tmp_path, "host: 0.0.0.0", f", schema.registry.url: http://u:secret@r, {login}")
    )
    error = UnsafeSettings(findings)
    assert error.exit_code == 4
    lines = str(error).splitlines()
    assert lines[0] == (
        "unsafe (no_users): users = not set: whoever reaches the port may open sessions: name a file of users"
    )
    assert len(lines) == len(findings) == 3
    assert "secret" not in str(error)
