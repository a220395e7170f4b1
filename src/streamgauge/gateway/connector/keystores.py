"""Certificates and keys out of the stores that Java people have: JKS, PKCS12 or plain PEM files.

librdkafka and Python's ssl take PEM. What a file is shows in its first bytes: a file that calls itself
.jks is often PKCS12, which today's keytool writes by default. A JKS store is checked with its password
where one is given, as Java does; only its keys are enciphered.
"""

from __future__ import annotations

import ssl
import tempfile
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.serialization import pkcs12
from pydantic import SecretStr

from streamgauge.core.guardian import temporary_folder
from streamgauge.gateway.connector.cipher_suites import openssl_name
from streamgauge.gateway.connector.java_keystore import JKS_MAGIC, BadKeystore, read_jks
from streamgauge.gateway.connector.parameters import BadParameter
from streamgauge.gateway.connector.security_settings import TlsSettings

_VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}


@dataclass(frozen=True)
class Identity:
    """Our own certificate with its chain, and its key, both as PEM. The key is not to be shown."""

    certificates: str
    key: str

    def __repr__(self) -> str:
        return "Identity(…)"


def trusted_certificates(settings: TlsSettings) -> str | None:
    """PEM of the trust store; None when there is none, and the system's certificates hold."""
    path = settings.truststore_path
    if path is None:
        return None
    content, password = _read(path, "truststore.path"), _plain(settings.truststore_password)
    if _is_pem(content):
        return content.decode()
    try:
        if content.startswith(JKS_MAGIC):
            store = read_jks(content, password)
            found = [*store.trusted, *(chain[0] for _, chain in store.keys)]
        else:
            p12 = pkcs12.load_pkcs12(content, password.encode() if password is not None else None)
            found = [c.certificate.public_bytes(serialization.Encoding.DER) for c in p12.additional_certs]
    except (BadKeystore, ValueError, TypeError) as error:
        raise BadParameter(
            "truststore.path", f"{path}: cannot be read as a trust store: {error}; check its password"
        ) from None
    if not found:
        raise BadParameter("truststore.path", f"{path}: holds no certificate to trust")
    return "".join(_pem(der) for der in found)


def own_identity(settings: TlsSettings) -> Identity | None:
    """Certificate and key of the key store; None when it is not enabled."""
    path = settings.keystore_path
    if not settings.keystore_enable or path is None:
        return None
    content, password = _read(path, "keystore.path"), _plain(settings.keystore_password)
    key_password = _plain(settings.key_password) or password
    try:
        if _is_pem(content):
            return _identity_of_pem(content, key_password)
        if content.startswith(JKS_MAGIC):
            return _identity_of_jks(content, password, key_password)
        return _identity_of_pkcs12(content, password)
    except (BadKeystore, ValueError, TypeError) as error:
        raise BadParameter(
            "keystore.path", f"{path}: cannot be read as a key store: {error}; check its passwords"
        ) from None


def tls_context(settings: TlsSettings) -> ssl.SSLContext:
    """For our own connections (the schema registry); Kafka's are librdkafka's matter."""
    context = ssl.create_default_context(cadata=trusted_certificates(settings))
    context.check_hostname = settings.hostname_verification
    enabled = sorted(_VERSIONS[name] for name in settings.enabled_protocols)
    context.minimum_version, context.maximum_version = enabled[0], enabled[-1]
    if settings.cipher_suites is not None:
        try:
            context.set_ciphers(":".join(map(openssl_name, settings.cipher_suites)))
        except ssl.SSLError:
            known = ", ".join(settings.cipher_suites)
            raise BadParameter("cipher.suites", f"OpenSSL knows none of {known}") from None
    identity = own_identity(settings)
    if identity is not None:
        with tempfile.NamedTemporaryFile(
            "w", dir=temporary_folder()
        ) as file:  # It can be loaded from a file only.
            file.write(identity.key + identity.certificates)
            file.flush()
            context.load_cert_chain(file.name)
    return context


def _identity_of_pem(content: bytes, key_password: str | None) -> Identity:
    certificates = x509.load_pem_x509_certificates(content)
    encrypted = b"ENCRYPTED" in content
    key = serialization.load_pem_private_key(
        content, key_password.encode() if encrypted and key_password is not None else None
    )
    return Identity("".join(map(_pem_of, certificates)), _pem_key(key))


def _identity_of_jks(content: bytes, password: str | None, key_password: str | None) -> Identity:
    store = read_jks(content, password, key_password)
    if not store.keys:
        raise BadKeystore("it holds no key")
    key, chain = store.keys[0]
    return Identity("".join(map(_pem, chain)), _pem_key(serialization.load_der_private_key(key, None)))


def _identity_of_pkcs12(content: bytes, password: str | None) -> Identity:
    store = pkcs12.load_pkcs12(content, password.encode() if password is not None else None)
    if store.key is None or store.cert is None:
        raise BadKeystore("it holds no key")
    chain = [store.cert.certificate, *(c.certificate for c in store.additional_certs)]
    return Identity("".join(map(_pem_of, chain)), _pem_key(store.key))


def _pem_key(key: object) -> str:
    pem: bytes = key.private_bytes(  # type: ignore[attr-defined]
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return pem.decode()


def _pem_of(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(serialization.Encoding.PEM).decode()


def _pem(der: bytes) -> str:
    return ssl.DER_cert_to_PEM_cert(der)


def _is_pem(content: bytes) -> bool:
    return b"-----BEGIN " in content[:4096]


def _read(path: Path, parameter: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadParameter(parameter, f"{path}: cannot be read: {error.strerror or error}") from None


def _plain(secret: SecretStr | None) -> str | None:
    return secret.get_secret_value() if secret is not None else None
