"""A certificate authority made for a test, and stores of every format with what it signed."""

from __future__ import annotations

import datetime
import ipaddress
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import pkcs12
from cryptography.x509.oid import NameOID

PEM, DER = serialization.Encoding.PEM, serialization.Encoding.DER


@dataclass(frozen=True)
class Signed:
    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    def key_pem(self, password: bytes | None = None) -> bytes:
        sealed = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
        return self.key.private_bytes(PEM, serialization.PrivateFormat.PKCS8, sealed)

    def key_der(self) -> bytes:
        return self.key.private_bytes(DER, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())

    def pem(self) -> bytes:
        return self.certificate.public_bytes(PEM)

    def der(self) -> bytes:
        return self.certificate.public_bytes(DER)


def authority() -> Signed:
    key = ec.generate_private_key(ec.SECP256R1())
    return Signed(_certificate("test authority", key, "test authority", key, is_authority=True), key)


def signed_by(issuer: Signed, name: str) -> Signed:
    """For 127.0.0.1."""
    key = ec.generate_private_key(ec.SECP256R1())
    return Signed(_certificate(name, key, "test authority", issuer.key, is_authority=False), key)


def write_pkcs12(path: Path, own: Signed | None, trusted: list[Signed], password: bytes) -> Path:
    content = pkcs12.serialize_key_and_certificates(
        b"own",
        own.key if own else None,
        own.certificate if own else None,
        [signed.certificate for signed in trusted],
        serialization.BestAvailableEncryption(password),
    )
    path.write_bytes(content)
    return path


def _certificate(
    name: str,
    key: ec.EllipticCurvePrivateKey,
    issuer: str,
    issuer_key: ec.EllipticCurvePrivateKey,
    is_authority: bool,
) -> x509.Certificate:
    now = datetime.datetime.now(datetime.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False
        )
    )
    if is_authority:
        usage = x509.KeyUsage(
            digital_signature=True,
            key_cert_sign=True,
            crl_sign=True,
            content_commitment=False,
            key_encipherment=False,
            data_encipherment=False,
            key_agreement=False,
            encipher_only=False,
            decipher_only=False,
        )
        builder = builder.add_extension(usage, critical=True)
    else:
        address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
        builder = builder.add_extension(x509.SubjectAlternativeName([address]), critical=False)
    return builder.sign(issuer_key, hashes.SHA256())
