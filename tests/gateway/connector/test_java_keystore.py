from __future__ import annotations

from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import load_der_private_key

from streamgauge.gateway.connector.java_keystore import BadKeystore, read_jks

# Made by keytool -storetype JKS; passwords: storepass for the stores, keypass1 for the key.
STORES = Path(__file__).parent / "stores"


def test_certificates_to_trust() -> None:
    content = (STORES / "trust.jks").read_bytes()
    for password in ("storepass", None):
        [certificate] = read_jks(content, password).trusted
        assert x509.load_der_x509_certificate(certificate).subject.rfc4514_string() == "CN=gateway test"


def test_a_key_and_its_chain_belong_together() -> None:
    store = read_jks((STORES / "key.jks").read_bytes(), "storepass", "keypass1")
    [(key, [certificate])] = store.keys
    private = load_der_private_key(key, None)
    assert private.public_key() == x509.load_der_x509_certificate(certificate).public_key()


def test_wrong_passwords() -> None:
    content = (STORES / "key.jks").read_bytes()
    with pytest.raises(BadKeystore, match="the password is wrong, or the file was changed"):
        read_jks(content, "nope")
    with pytest.raises(BadKeystore, match="the key's password is wrong"):
        read_jks(content, "storepass", "nope")


def test_files_that_were_cut_or_are_something_else() -> None:
    content = (STORES / "key.jks").read_bytes()
    for length in (4, 10, 30, 200, len(content) // 2):
        with pytest.raises(BadKeystore):
            read_jks(content[:length], None, "keypass1")
    with pytest.raises(BadKeystore, match="version 9"):
        read_jks(content[:7] + b"\x09" + content[8:], None)
