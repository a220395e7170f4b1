"""Java's own key store format, JKS. Certificates in it are plain; keys are enciphered with a password.

Layout, all big-endian: magic, version, count; then per entry a tag (1 key, 2 certificate), an alias, a time
and its content; at the end the SHA-1 of password, a fixed phrase and all that went before.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
from dataclasses import dataclass, field

JKS_MAGIC = b"\xfe\xed\xfe\xed"
_PHRASE = b"Mighty Aphrodite"
_DIGEST_BYTES = 20
_VERSION = 2
_KEY, _CERTIFICATE = 1, 2
# DER of `SEQUENCE { SEQUENCE { 1.3.6.1.4.1.42.2.17.1.1, NULL }, OCTET STRING`: Sun's key protector.
_PROTECTOR = bytes.fromhex("060a2b060104012a02110101")


class BadKeystore(Exception):
    """One line."""


@dataclass
class JavaKeystore:
    trusted: list[bytes] = field(default_factory=list)
    """Certificates, DER."""
    keys: list[tuple[bytes, list[bytes]]] = field(default_factory=list)
    """Key (PKCS8, DER; still enciphered if no key password was given) and certificate chain, leaf first."""


def read_jks(content: bytes, password: str | None, key_password: str | None = None) -> JavaKeystore:
    """Raises BadKeystore. Without a password the store is read unchecked."""
    if password is not None:
        digest = hashlib.sha1(password.encode("utf-16-be") + _PHRASE + content[:-_DIGEST_BYTES]).digest()
        if not hmac.compare_digest(digest, content[-_DIGEST_BYTES:]):
            raise BadKeystore("the password is wrong, or the file was changed")
    try:
        return _entries(_Bytes(content), key_password)
    except (struct.error, UnicodeDecodeError):
        raise BadKeystore("it ends too early") from None


def _entries(data: _Bytes, key_password: str | None) -> JavaKeystore:
    store = JavaKeystore()
    data.take(4)
    if (version := data.number()) != _VERSION:
        raise BadKeystore(f"version {version} of JKS is not known")
    for _ in range(data.number()):
        tag = data.number()
        data.text()  # alias
        data.take(8)  # time
        if tag == _CERTIFICATE:
            store.trusted.append(data.certificate())
        elif tag == _KEY:
            key = data.take(data.number())
            chain = [data.certificate() for _ in range(data.number())]
            store.keys.append((_deciphered(key, key_password) if key_password is not None else key, chain))
        else:
            raise BadKeystore(f"entry of kind {tag} is not known")
    return store


class _Bytes:
    def __init__(self, content: bytes) -> None:
        self._content, self._position = content, 0

    def take(self, count: int) -> bytes:
        taken = self._content[self._position : self._position + count]
        if len(taken) != count:
            raise struct.error
        self._position += count
        return taken

    def number(self) -> int:
        return int.from_bytes(self.take(4), "big")

    def text(self) -> str:
        return self.take(int.from_bytes(self.take(2), "big")).decode()

    def certificate(self) -> bytes:
        if (kind := self.text()) != "X.509":
            raise BadKeystore(f"certificate of kind {kind!r} is not known")
        return self.take(self.number())


def _deciphered(wrapped: bytes, password: str) -> bytes:
    """Salt, then the key xored with a chain of SHA-1s, then a SHA-1 to check with."""
    at = wrapped.find(_PROTECTOR)
    octets = wrapped.find(b"\x04", at + len(_PROTECTOR)) if at >= 0 else -1
    if octets < 0:
        raise BadKeystore("its key is enciphered in a way that is not known")
    sealed = wrapped[octets + 1 + _length_bytes(wrapped, octets + 1) :]
    salt, body, check = sealed[:_DIGEST_BYTES], sealed[_DIGEST_BYTES:-_DIGEST_BYTES], sealed[-_DIGEST_BYTES:]
    secret, link, stream = password.encode("utf-16-be"), salt, b""
    while len(stream) < len(body):
        link = hashlib.sha1(secret + link).digest()
        stream += link
    key = bytes(a ^ b for a, b in zip(body, stream, strict=False))
    if not hmac.compare_digest(hashlib.sha1(secret + key).digest(), check):
        raise BadKeystore("the key's password is wrong")
    return key


def _length_bytes(der: bytes, at: int) -> int:
    return 1 if der[at] < 0x80 else 1 + (der[at] & 0x7F)
