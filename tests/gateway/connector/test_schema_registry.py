from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from streamgauge.gateway.connector.evaluators.contract import Undecodable
from streamgauge.gateway.connector.keystores import tls_context
from streamgauge.gateway.connector.schema_registry import (
    RegistryFailed,
    SchemaRegistry,
    schema_id_of,
    without_schema_id,
)
from streamgauge.gateway.connector.security_settings import TlsSettings

from .certificates import authority, signed_by
from .registry_server import Registry, running


def test_a_schema_with_all_it_refers_to_those_needed_first() -> None:
    registry = Registry(
        schemas={7: {"schema": "main", "references": [{"name": "b", "subject": "s b/1", "version": 2}]}},
        subjects={
            ("s b/1", 2): {
                "schema": "B",
                "references": [
                    {"name": "c", "subject": "c", "version": 1},
                    {"name": "c", "subject": "c", "version": 1},
                ],
            },
            ("c", 1): {"schema": "C"},
        },
    )
    registry.subjects["s b", 2] = registry.subjects["s b/1", 2]
    registry.schemas[7]["references"][0]["subject"] = "s b"
    with running(registry):
        found = SchemaRegistry(registry.url).fetch(7)
    assert (found.kind, found.text, found.references) == ("AVRO", "main", (("c", "C"), ("b", "B")))
    assert registry.requests == ["/schemas/ids/7", "/subjects/s%20b/versions/2", "/subjects/c/versions/1"]


def test_descriptors_are_asked_for_in_their_serialized_form() -> None:
    registry = Registry(schemas={1: {"schema": "x", "schemaType": "PROTOBUF"}})
    with running(registry):
        assert SchemaRegistry(registry.url + "/").fetch(1, serialized=True).kind == "PROTOBUF"
    assert registry.requests == ["/schemas/ids/1?format=serialized"]


def test_basic_authentication() -> None:
    registry = Registry(schemas={1: {"schema": "x"}}, credentials="me:secret")
    with running(registry):
        assert SchemaRegistry(registry.url, user="me", password="secret").fetch(1).text == "x"
        with pytest.raises(RegistryFailed, match="401") as failed:
            SchemaRegistry(registry.url, user="me", password="wrong").fetch(1)
    assert failed.value.final
    assert "wrong" not in str(failed.value)


def test_a_registry_that_is_just_starting_is_asked_again() -> None:
    registry = Registry(schemas={1: {"schema": "x"}}, broken=2)
    with running(registry):
        assert SchemaRegistry(registry.url).fetch(1).text == "x"
    assert len(registry.requests) == 3


def test_one_that_is_gone_is_given_up_at_the_deadline() -> None:
    with pytest.raises(RegistryFailed, match="refused") as failed:
        SchemaRegistry("http://127.0.0.1:1", deadline_s=0.6).fetch(1)
    assert not failed.value.final


def test_an_answer_that_drips_is_given_up_at_the_deadline() -> None:
    registry = Registry(schemas={1: {"schema": "x" * 1000}}, drip_s=0.05)
    with running(registry), pytest.raises(RegistryFailed, match=r"too long|no answer"):
        SchemaRegistry(registry.url, deadline_s=0.5).fetch(1)


def test_an_unknown_number_is_final() -> None:
    with running(Registry()) as registry, pytest.raises(RegistryFailed, match="404") as failed:
        SchemaRegistry(registry.url).fetch(99)
    assert failed.value.final


@pytest.mark.parametrize("answer", [b"no json", b"[]", b'{"schema": 1}', b"{}"])
def test_what_is_no_schema_is_refused(answer: bytes) -> None:
    registry = Registry()
    registry.answer = lambda path: (200, answer)  # type: ignore[method-assign]
    with running(registry), pytest.raises(RegistryFailed, match="the answer is no schema"):
        SchemaRegistry(registry.url).fetch(1)


def test_credentials_follow_no_redirect() -> None:
    with running(Registry()) as elsewhere, running(Registry(redirect_to=elsewhere.url)) as registry:
        with pytest.raises(RegistryFailed, match="302"):
            SchemaRegistry(registry.url, user="me", password="secret", deadline_s=0.5).fetch(1)
        assert elsewhere.requests == []


def test_tls_with_a_trust_store(tmp_path: Path) -> None:
    ca = authority()
    server = signed_by(ca, "registry")
    (tmp_path / "server.pem").write_bytes(server.key_pem() + server.pem())
    (tmp_path / "ca.pem").write_bytes(ca.pem())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "server.pem")
    with running(Registry(schemas={1: {"schema": "x"}}), context) as registry:
        settings = TlsSettings.model_validate(
            {"truststore.path": tmp_path / "ca.pem", "hostname.verification.enable": True}
        )
        assert SchemaRegistry(registry.url, tls=tls_context(settings)).fetch(1).text == "x"
        with pytest.raises(RegistryFailed, match="certificate verify failed"):
            SchemaRegistry(registry.url, tls=tls_context(TlsSettings()), deadline_s=0.5).fetch(1)


def test_mutual_tls_with_a_key_store(tmp_path: Path) -> None:
    ca = authority()
    server, client = signed_by(ca, "registry"), signed_by(ca, "gateway")
    (tmp_path / "server.pem").write_bytes(server.key_pem() + server.pem())
    (tmp_path / "ca.pem").write_bytes(ca.pem())
    (tmp_path / "client.pem").write_bytes(client.key_pem(b"sesame") + client.pem())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "server.pem")
    context.load_verify_locations(tmp_path / "ca.pem")
    context.verify_mode = ssl.CERT_REQUIRED
    with running(Registry(schemas={1: {"schema": "x"}}), context) as registry:
        trusting = {"truststore.path": tmp_path / "ca.pem"}
        known = TlsSettings.model_validate(
            {
                **trusting,
                "keystore.enable": "true",
                "keystore.path": tmp_path / "client.pem",
                "keystore.key.password": "sesame",
            }
        )
        assert SchemaRegistry(registry.url, tls=tls_context(known)).fetch(1).text == "x"
        unknown = tls_context(TlsSettings.model_validate(trusting))
        with pytest.raises(RegistryFailed):
            SchemaRegistry(registry.url, tls=unknown, deadline_s=0.5).fetch(1)


def test_numbers_in_front_of_records() -> None:
    assert schema_id_of(b"\0\0\0\1\2rest") == 258
    assert without_schema_id(b"\0\0\0\1\2rest") == b"rest"
    for data in (b"", b"\0\0\0\1", b"\1\0\0\0\1", b'{"a": 1}'):
        with pytest.raises(Undecodable, match="does not begin with a zero byte"):
            schema_id_of(data)
