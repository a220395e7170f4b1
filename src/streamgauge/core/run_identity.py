"""What the hosts of one run know each other by: a key and a certificate made for this run alone.

Launcher and agents hold the same pair and trust no other, in both directions (mutual TLS 1.3). So what they
say is encrypted, cannot be replayed, and a stranger is turned away before a byte of a request is read. The
pair reaches tasks through Spark, and is in no file and on no command line.
"""

from __future__ import annotations

import datetime
import os
import ssl

_VALID = datetime.timedelta(days=30)
_SKEW = datetime.timedelta(days=2)
"""Hosts whose clocks are off are what we measure: they must not be turned away for it."""


def make_identity() -> str:
    """A new pair, as PEM."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "streamgauge run")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _SKEW)
        .not_valid_after(now + _VALID)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return (private + certificate.public_bytes(serialization.Encoding.PEM)).decode()


def launcher_context(identity: str) -> ssl.SSLContext:
    return _context(ssl.PROTOCOL_TLS_SERVER, identity)


def agent_context(identity: str) -> ssl.SSLContext:
    return _context(ssl.PROTOCOL_TLS_CLIENT, identity)


def _context(side: int, identity: str) -> ssl.SSLContext:
    context = ssl.SSLContext(side)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    # The certificate itself is what is trusted, wherever its holder may run.
    context.check_hostname = False
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(cadata=identity[identity.index("-----BEGIN CERTIFICATE") :])
    # Python takes the private key from a path only: one that leads to memory.
    descriptor = os.memfd_create("streamgauge-identity")
    try:
        os.write(descriptor, identity.encode())
        context.load_cert_chain(f"/proc/self/fd/{descriptor}")
    finally:
        os.close(descriptor)
    return context
