"""A certificate authority for one cluster, and what it signs: made here, trusted nowhere else."""

from __future__ import annotations

import datetime
import ipaddress
from dataclasses import dataclass
from typing import Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

_VALID = datetime.timedelta(days=30)
_BEFORE = datetime.timedelta(days=1)
"""A clock that was set back since must not lock anybody out."""
_PEM = serialization.Encoding.PEM


@dataclass(frozen=True)
class Signed:
    """A certificate and its key. The key is not to be shown."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @property
    def certificate_pem(self) -> str:
        return self.certificate.public_bytes(_PEM).decode()

    @property
    def pem(self) -> str:
        """Key and certificate in one file, as Java and OpenSSL both take it."""
        private = self.key.private_bytes(
            _PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        ).decode()
        return private + self.certificate_pem

    def __repr__(self) -> str:
        return "Signed(…)"


class Authority:
    def __init__(self, own: Signed) -> None:
        self.own = own

    @classmethod
    def new(cls, name: str) -> Self:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(name, name, key, key, datetime.timedelta(0))
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        builder = builder.add_extension(_usage(signs_certificates=True), critical=True)
        return cls(Signed(builder.sign(key, hashes.SHA256()), key))

    @property
    def certificate_pem(self) -> str:
        return self.own.certificate_pem

    def sign(
        self, name: str, address: str | None = None, *, ended_ago: datetime.timedelta | None = None
    ) -> Signed:
        """For a common name; of a server, for the address where clients find it. `ended_ago`: it is no longer
        valid since then, for whoever wants to see what comes of that."""
        key = ec.generate_private_key(ec.SECP256R1())
        issuer = self.own.certificate.subject.rfc4514_string().removeprefix("CN=")
        shift = datetime.timedelta(0) if ended_ago is None else -_VALID - ended_ago
        builder = _builder(name, issuer, key, self.own.key, shift)
        builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        builder = builder.add_extension(_usage(signs_certificates=False), critical=True)
        if address is not None:
            found = x509.IPAddress(ipaddress.ip_address(address))
            builder = builder.add_extension(x509.SubjectAlternativeName([found]), critical=False)
        return Signed(builder.sign(self.own.key, hashes.SHA256()), key)


def _builder(
    name: str,
    issuer: str,
    key: ec.EllipticCurvePrivateKey,
    issuer_key: ec.EllipticCurvePrivateKey,
    shift: datetime.timedelta,
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC) + shift
    identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key())
    return (
        x509.CertificateBuilder()
        .subject_name(_common_name(name))
        .issuer_name(_common_name(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _BEFORE)
        .not_valid_after(now + _VALID)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(identifier, critical=False)
    )


def _common_name(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
