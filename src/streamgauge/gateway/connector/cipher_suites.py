"""Java's names of cipher suites → OpenSSL's."""

from __future__ import annotations

import re

_TLS_1_2 = re.compile(r"TLS_(.+)_WITH_(.+)_(SHA\d*|MD5)")
_TLS_1_3 = frozenset({"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"})


def openssl_name(name: str) -> str:
    """TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA → ECDHE-RSA-AES256-SHA. What is no Java name stays as it is."""
    match = _TLS_1_2.fullmatch(name)
    if match is None or name in _TLS_1_3:
        return name
    exchange, cipher, digest = match.groups()
    cipher = re.sub(r"^(AES|CAMELLIA|ARIA)_(\d+)", r"\1\2", cipher)
    # A stream or block mode is named only where it is not the old one, and CHACHA20 has one digest only.
    cipher = cipher.removesuffix("_CBC").replace("_", "-")
    parts = [] if exchange == "RSA" else [exchange.replace("_", "-")]
    parts += [cipher] if cipher.startswith("CHACHA20") else [cipher, digest]
    return "-".join(parts)


def for_tls_1_3(name: str) -> bool:
    return name in _TLS_1_3
