"""A certificate authority made for a test, and stores of every format with what it signed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import pkcs12

from streamgauge.systems import certificates as issued
from streamgauge.systems.certificates import Authority

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
    made = Authority.new("test authority").own
    return Signed(made.certificate, made.key)


def signed_by(issuer: Signed, name: str) -> Signed:
    """For 127.0.0.1."""
    made = Authority(issued.Signed(issuer.certificate, issuer.key)).sign(name, "127.0.0.1")
    return Signed(made.certificate, made.key)


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
