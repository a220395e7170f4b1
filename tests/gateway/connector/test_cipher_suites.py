from __future__ import annotations

import ssl

import pytest

from streamgauge.gateway.connector.cipher_suites import for_tls_1_3, openssl_name


@pytest.mark.parametrize(
    ("java", "openssl"),
    [
        ("TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA", "ECDHE-RSA-AES256-SHA"),
        ("TLS_RSA_WITH_AES_256_CBC_SHA", "AES256-SHA"),
        ("TLS_RSA_WITH_AES_128_GCM_SHA256", "AES128-GCM-SHA256"),
        ("TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256", "ECDHE-ECDSA-AES128-SHA256"),
        ("TLS_DHE_RSA_WITH_AES_256_GCM_SHA384", "DHE-RSA-AES256-GCM-SHA384"),
        ("TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA-CHACHA20-POLY1305"),
    ],
)
def test_java_names_become_names_that_openssl_takes(java: str, openssl: str) -> None:
    assert openssl_name(java) == openssl
    ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).set_ciphers(openssl + ":@SECLEVEL=0")


def test_others_stay_as_they_are() -> None:
    for name in ("TLS_AES_256_GCM_SHA384", "ECDHE-RSA-AES256-SHA", "whatever"):
        assert openssl_name(name) == name
    assert for_tls_1_3("TLS_AES_256_GCM_SHA384")
    assert not for_tls_1_3("TLS_RSA_WITH_AES_256_CBC_SHA")
