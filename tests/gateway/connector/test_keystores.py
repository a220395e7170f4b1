from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any

import pytest

from streamgauge.core.errors import BadInput
from streamgauge.gateway.connector.keystores import (
    own_identity,
    tls_context,
    trusted_certificates,
)
from streamgauge.gateway.connector.security_settings import TlsSettings

from .certificates import Signed, authority, signed_by, write_pkcs12
from .test_java_keystore import STORES


@pytest.fixture(scope="module")
def ca() -> Signed:
    return authority()


def tls(**given: Any) -> TlsSettings:
    return TlsSettings.model_validate({name.replace("_", "."): value for name, value in given.items()})


def test_trust_stores_of_every_format(tmp_path: Path, ca: Signed) -> None:
    (tmp_path / "ca.pem").write_bytes(b"# ours\n" + ca.pem())
    assert ca.pem().decode() in str(trusted_certificates(tls(truststore_path=tmp_path / "ca.pem")))
    p12 = write_pkcs12(tmp_path / "called.jks", None, [ca], b"secret")
    found = trusted_certificates(tls(truststore_path=p12, truststore_password="secret"))
    assert ssl.PEM_cert_to_DER_cert(str(found)) == ca.der()
    jks = trusted_certificates(tls(truststore_path=STORES / "trust.jks", truststore_password="storepass"))
    assert str(jks).count("BEGIN CERTIFICATE") == 1
    assert trusted_certificates(tls()) is None


def test_key_stores_of_every_format(tmp_path: Path, ca: Signed) -> None:
    own = signed_by(ca, "gateway")
    (tmp_path / "own.pem").write_bytes(own.key_pem(b"k") + own.pem() + ca.pem())
    write_pkcs12(tmp_path / "own.p12", own, [ca], b"secret")
    for settings in (
        tls(keystore_enable="true", keystore_path=tmp_path / "own.pem", keystore_key_password="k"),
        tls(keystore_enable=True, keystore_path=tmp_path / "own.p12", keystore_password="secret"),
    ):
        identity = own_identity(settings)
        assert identity is not None
        assert identity.key == own.key_pem().decode()
        assert identity.certificates == own.pem().decode() + ca.pem().decode()
        assert "PRIVATE" not in repr(identity)
    jks = tls(
        keystore_enable=True,
        keystore_path=STORES / "key.jks",
        keystore_password="storepass",
        keystore_key_password="keypass1",
    )
    identity = own_identity(jks)
    assert identity is not None
    assert identity.key.startswith("-----BEGIN PRIVATE KEY")
    tls_context(jks)
    assert own_identity(tls(keystore_path=tmp_path / "own.pem")) is None


@pytest.mark.parametrize("content", [b"", b"junk", b"\xfe\xed\xfe\xed", b"-----BEGIN NOTHING-----\n"])
def test_what_is_no_store_is_said_with_its_parameter(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "store"
    path.write_bytes(content)
    with pytest.raises(BadInput, match=r"keystore\.path: .*store: cannot be read as a key store"):
        own_identity(tls(keystore_enable=True, keystore_path=path, keystore_password="x"))
    if not content.startswith(b"-----"):
        with pytest.raises(BadInput, match=r"truststore\.path: .*store: cannot be read as a trust store"):
            trusted_certificates(tls(truststore_path=path, truststore_password="x"))
    with pytest.raises(BadInput, match=r"truststore\.path: .*none: cannot be read: No such file"):
        trusted_certificates(tls(truststore_path=tmp_path / "none"))


def test_wrong_passwords_are_said_and_not_shown(tmp_path: Path, ca: Signed) -> None:
    p12 = write_pkcs12(tmp_path / "own.p12", signed_by(ca, "x"), [ca], b"secret")
    for settings in (
        tls(keystore_enable=True, keystore_path=p12, keystore_password="letmein"),
        tls(keystore_enable=True, keystore_path=STORES / "key.jks", keystore_password="letmein"),
    ):
        with pytest.raises(BadInput, match="check its passwords") as refused:
            own_identity(settings)
        assert "letmein" not in str(refused.value)
        assert "letmein" not in repr(settings)


def test_stores_without_what_is_looked_for(tmp_path: Path, ca: Signed) -> None:
    alone = write_pkcs12(tmp_path / "alone.p12", signed_by(ca, "x"), [], b"p")
    with pytest.raises(BadInput, match="holds no certificate to trust"):
        trusted_certificates(tls(truststore_path=alone, truststore_password="p"))
    with pytest.raises(BadInput, match="it holds no key"):
        own_identity(
            tls(keystore_enable=True, keystore_path=STORES / "trust.jks", keystore_password="storepass")
        )


def test_versions_and_suites_of_our_own_connections() -> None:
    context = tls_context(tls(enabled_protocols="TLSv1.3"))
    assert (context.minimum_version, context.maximum_version) == (
        ssl.TLSVersion.TLSv1_3,
        ssl.TLSVersion.TLSv1_3,
    )
    assert context.check_hostname is False
    context = tls_context(
        tls(cipher_suites="TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", hostname_verification_enable="true")
    )
    assert "ECDHE-RSA-AES256-GCM-SHA384" in {suite["name"] for suite in context.get_ciphers()}
    assert "ECDHE-RSA-AES128-GCM-SHA256" not in {suite["name"] for suite in context.get_ciphers()}
    assert context.check_hostname is True
    with pytest.raises(BadInput, match=r"cipher\.suites: OpenSSL knows none of NOPE"):
        tls_context(tls(cipher_suites="NOPE"))
